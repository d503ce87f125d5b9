"""Evaluates jaxprs on arrays in any memory order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Jaxpr

from ...kernels.convolution.primitives import method_of
from ..equation_costs import nested_jaxprs
from ..jaxprs import ELEMENTWISE, bound, evaluate
from .rules import RULES, elementwise
from .values import Value, as_value, identity

_NEVER = {"dot_general", "while", "scan"}


def pays(jaxpr: Jaxpr) -> bool:
    """Whether a program that transposes arrays is faster in memory order.

    A product of matrices is not: XLA's CPU backend copies operands that are in another order than it multiplies in, so
    attention took up to twice as long. A loop takes its arguments in the order of their axes anyway. The products of
    convolutions are chosen for images in memory order, and count as convolutions.
    """
    nested = (inner for equation in jaxpr.eqns for inner in nested_jaxprs(equation))
    return not any(e.primitive.name in _NEVER for e in jaxpr.eqns) and all(map(pays, nested))


def in_memory_order(traced: jax.stages.Traced) -> Callable[..., Any]:
    """A function that computes what a traced one does, with as few transpositions as possible."""
    closed, tree = traced.jaxpr, jax.tree.structure(traced.out_info)

    def function(*operands: Any) -> Any:
        with jax.enable_x64(True):
            values = [as_value(x) for x in jax.tree.leaves(operands)]
            results = evaluate(closed.jaxpr, closed.consts, values, _results, as_value)
            return jax.tree.unflatten(tree, [value.at(identity(len(value.axes))) for value in results])

    return function


def _results(equation: Any, values: list[Value]) -> Sequence[Value]:
    name, params = equation.primitive.name, equation.params
    if name in ELEMENTWISE:
        return [elementwise(equation, *values)]
    if (rule := RULES.get(name)) is not None:
        results = rule(equation, *values, **params)
        return [results] if isinstance(results, Value) else results
    if (method := method_of(equation.primitive, params)) is not None:
        closed = jax.make_jaxpr(method)(*(v.aval for v in equation.invars))
        return evaluate(closed.jaxpr, closed.consts, values, _results, as_value)
    arrays = [value.at(identity(len(value.axes))) for value in values]
    return [as_value(x) for x in bound(equation.primitive, arrays, params)]
