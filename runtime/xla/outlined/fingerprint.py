"""Texts that are equal for equations that compute the same, in this process and in others.

JAX prints jaxprs for readers: constants are left out and large arrays abbreviated. Here every parameter is in the text.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from ..._jax import PRNGImpl

_PLAIN = (type(None), bool, int, float, complex, str, bytes, enum.Enum, np.dtype, type)
# The parameters that determine what an equation computes, where others are objects made for each trace.
_DECISIVE = {
    "jit": ("jaxpr", "name"),
    "custom_jvp_call": ("call_jaxpr",),
    "custom_vjp_call": ("call_jaxpr",),
}


class Fingerprints:
    """Computes the texts; objects without a text of their own stand for themselves in this process."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Any, str]] = {}  # of jaxprs, by identity
        self._objects: dict[int, Any] = {}

    def of(self, equation: JaxprEqn, inputs: list[Any]) -> str:
        """The text of an equation with other inputs than its own."""
        name = equation.primitive.name
        names = _DECISIVE.get(name) or equation.params
        given = ",".join(f"{k}={self._value(equation.params[k])}" for k in names)
        return f"{name}[{given}]({','.join(map(self._input, inputs))})"

    def _input(self, variable: Any) -> str:
        return (
            self._array(variable.val) + _type(variable.aval) if variable.__class__ is Literal else _type(variable.aval)
        )

    def _value(self, value: Any) -> str:
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, PRNGImpl):
            return f"PRNGImpl({value.name})"
        if isinstance(value, (tuple, list)):
            return f"{type(value).__name__}({','.join(map(self._value, value))})"
        if isinstance(value, dict):
            return f"dict({','.join(f'{self._value(k)}:{self._value(v)}' for k, v in value.items())})"
        if isinstance(value, (ClosedJaxpr, Jaxpr)):
            return self._function(value)
        if isinstance(value, (np.generic, np.ndarray, jax.Array)) and not _is_extended(value):
            return self._array(value)
        if isinstance(value, jax.core.ShapedArray):
            return _type(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return f"{type(value).__name__}{self._value(fields)}"
        self._objects[id(value)] = value
        return f"<object {id(value)}>"

    def _function(self, function: ClosedJaxpr | Jaxpr) -> str:
        known = self._texts.get(id(function))
        if known is None:
            jaxpr = function.jaxpr if isinstance(function, ClosedJaxpr) else function
            constants = function.consts if isinstance(function, ClosedJaxpr) else ()
            numbers: dict[Any, int] = {}

            def name(variables: list[Any]) -> str:
                return ",".join(
                    self._input(v) if v.__class__ is Literal else str(numbers.setdefault(v, len(numbers)))
                    for v in variables
                )

            heads = [f"{name([v])}:{_type(v.aval)}" for v in (*jaxpr.constvars, *jaxpr.invars)]
            lines = [f"{self.of(e, e.invars)} {name(e.invars)}->{name(e.outvars)}" for e in jaxpr.eqns]
            text = "\n".join([*heads, *map(self._value, constants), *lines, name(jaxpr.outvars)])
            digest = hashlib.sha256(text.encode()).hexdigest()
            known = self._texts[id(function)] = function, digest if is_portable(text) else f"<object {digest}>"
        return known[1]

    def _array(self, array: Any) -> str:
        value = np.asarray(array)
        content = value.tobytes()
        return (
            f"{value.dtype}{value.shape}{content.hex() if len(content) <= 64 else hashlib.sha256(content).hexdigest()}"
        )


def _is_extended(array: Any) -> bool:
    """Whether NumPy has no such dtype: random keys."""
    return jax.numpy.issubdtype(array.dtype, jax.dtypes.extended)


def is_portable(text: str) -> bool:
    """Whether a text means the same in other processes."""
    return "<object" not in text


def _type(aval: Any) -> str:
    return f"{aval.dtype}{aval.shape}{'w' if aval.weak_type else ''}" if hasattr(aval, "shape") else repr(aval)
