"""Evaluates a jaxpr whose sizes are symbols, on arrays that are padded to rounded sizes (`sizes.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from jax import lax
from jax.extend.core import ClosedJaxpr

from ..xla.jaxprs import ELEMENTWISE, bound
from ..xla.jaxprs import evaluate as evaluate_jaxpr
from .rules import RULES
from .sizes import NotPaddableError, Sizes, is_symbolic

_SAME = ELEMENTWISE | {"optimization_barrier"}  # primitives that are computed on padded arrays as on others
_LOOPS = {"while", "scan", "cond"}  # evaluated unchanged if they contain no symbols


def evaluate(known: Sizes, closed: ClosedJaxpr, arguments: Sequence[Any]) -> list[Any]:
    """The padded results of a jaxpr for padded arguments; NotPaddableError for a primitive that has no rule."""
    return evaluate_jaxpr(closed.jaxpr, closed.consts, arguments, partial(_results, known))


def _results(known: Sizes, equation: Any, arguments: Sequence[Any]) -> Sequence[Any]:
    primitive, params = equation.primitive, equation.params
    name = primitive.name
    if name == "dim_as_value":
        return [lax.convert_element_type(known.true(params["dim"]), equation.outvars[0].aval.dtype)]
    symbolic = any(is_symbolic(v.aval) for v in (*equation.invars, *equation.outvars))
    if name in _SAME or (not symbolic and not (name in _LOOPS and _mentions_symbols(params))):
        return bound(primitive, arguments, params)
    rule = RULES.get(name)
    if rule is None:
        raise NotPaddableError(name)
    results = rule(known, equation, *arguments, **params)
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
