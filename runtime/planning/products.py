"""The number of operations of the matrix products and convolutions in a program."""

from __future__ import annotations

import math
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.extend.core.primitives import cond_p, conv_general_dilated_p, dot_general_p, scan_p

from ..kernels.convolution.geometry import Geometry


def flops_of_products(jaxpr: Jaxpr) -> int:
    """Count two operations per multiply-add, including loops; a `while` loop of unknown length counts once, and of
    several branches, such as those for each platform, the largest.

    XLA's own count includes the body of every loop only once.
    """
    total = 0
    for equation in jaxpr.eqns:
        count = _multiplications(equation)
        if count is None:
            parts: list[Any] = jax.tree.leaves(list(equation.params.values()), is_leaf=_is_jaxpr)
            nested: list[Any] = [getattr(part, "jaxpr", part) for part in parts if _is_jaxpr(part)]
            times: int = equation.params["length"] if equation.primitive is scan_p else 1
            counts = [*map(flops_of_products, nested)]
            total += max(counts) if equation.primitive is cond_p else times * sum(counts)
        else:
            total += 2 * count
    return total


def _is_jaxpr(value: Any) -> bool:
    return isinstance(value, (ClosedJaxpr, Jaxpr))


def _multiplications(equation: JaxprEqn) -> int | None:
    """The multiply-adds of a product of matrices or a convolution; None for any other equation."""
    made = math.prod(_shape(equation.outvars[0])) if equation.outvars else 0
    if equation.primitive is dot_general_p:
        (left, _), _ = equation.params["dimension_numbers"]
        shape = _shape(equation.invars[0])
        return made * math.prod(shape[d] for d in left)
    if equation.primitive is conv_general_dilated_p:
        kernel = _shape(equation.invars[1])
        return made * (math.prod(kernel) // kernel[equation.params["dimension_numbers"].rhs_spec[0]])
    if (geometry := equation.params.get("geometry")).__class__ is Geometry:
        return int(geometry.multiplications(_shape(v) for v in (*equation.invars, *equation.outvars)))
    return None


def _shape(variable: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = getattr(variable.aval, "shape", ())
    return shape
