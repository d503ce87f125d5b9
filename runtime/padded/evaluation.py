"""Evaluates a jaxpr whose sizes are symbols, on arrays that are padded to rounded sizes (`sizes.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from .rules import ELEMENTWISE, RULES
from .sizes import NotPaddableError, Sizes, is_symbolic

# The jaxprs of these primitives are evaluated in their place, by the name of their parameter.
_CALLS = {
    "jit": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
_LOOPS = {"while", "scan", "cond"}  # evaluated unchanged if they contain no symbols


def evaluate(known: Sizes, closed: ClosedJaxpr, arguments: Sequence[Any]) -> list[Any]:
    """The padded results of a jaxpr for padded arguments; NotPaddableError for a primitive that has no rule."""
    return _evaluate(known, closed.jaxpr, closed.consts, arguments)


def _evaluate(known: Sizes, jaxpr: Jaxpr, consts: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    values |= zip(jaxpr.invars, arguments, strict=True)

    def value(v: Any) -> Any:
        return v.val if isinstance(v, Literal) else values[v]

    for equation in jaxpr.eqns:
        with equation.ctx.manager:
            results = _results(known, equation, [value(v) for v in equation.invars])
        values |= zip(equation.outvars, results, strict=True)
    return [value(v) for v in jaxpr.outvars]


def _results(known: Sizes, equation: Any, arguments: Sequence[Any]) -> Sequence[Any]:
    primitive, params = equation.primitive, equation.params
    name = primitive.name
    if name in _CALLS:
        inner = params[_CALLS[name]]
        if isinstance(inner, ClosedJaxpr):
            return evaluate(known, inner, arguments)
        return _evaluate(known, inner, (), arguments)
    if name == "cond" and params["branches_platforms"]:  # a choice by platform
        return evaluate(known, _of_platform(params), arguments[1:])
    if name == "dim_as_value":
        return [lax.convert_element_type(known.true(params["dim"]), equation.outvars[0].aval.dtype)]
    symbolic = any(is_symbolic(v.aval) for v in (*equation.invars, *equation.outvars))
    if not symbolic and not (name in _LOOPS and _mentions_symbols(params)):
        return _bound(primitive, arguments, params)
    if name in ELEMENTWISE:
        return _bound(primitive, arguments, params)
    rule = RULES.get(name)
    if rule is None:
        raise NotPaddableError(name)
    results = rule(known, equation, *arguments, **params)
    return results if primitive.multiple_results else [results]


def _of_platform(params: Any) -> ClosedJaxpr:
    """The branch of `lax.platform_dependent` for the default backend; the last one is for platforms that none names."""
    named = zip(params["branches_platforms"], params["branches"], strict=True)
    return next(branch for names, branch in named if names is None or jax.default_backend() in names)


def _bound(primitive: Any, arguments: Sequence[Any], params: Any) -> Sequence[Any]:
    results = primitive.bind(*arguments, **primitive.get_bind_params(params))
    return results if primitive.multiple_results else [results]


def _mentions_symbols(params: Any) -> bool:
    for value in params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            jaxpr = getattr(part, "jaxpr", part)
            for equation in getattr(jaxpr, "eqns", ()):
                variables = (*equation.invars, *equation.outvars)
                if any(is_symbolic(v.aval) for v in variables) or _mentions_symbols(equation.params):
                    return True
    return False
