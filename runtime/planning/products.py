"""The number of operations of the matrix products and convolutions in a program."""

from __future__ import annotations

import math
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.extend.core.primitives import conv_general_dilated_p, dot_general_p, scan_p

from ..kernels.convolution.geometry import Geometry


def flops_of_products(jaxpr: Jaxpr) -> int:
    """Count two operations per multiply-add, including loops; a `while` loop of unknown length counts once.

    XLA's own count includes the body of every loop only once.
    """
    total = 0
    equation: Any
    for equation in jaxpr.eqns:
        if equation.primitive is dot_general_p:
            (left, _), _ = equation.params["dimension_numbers"]
            summed = math.prod(equation.invars[0].aval.shape[d] for d in left)
            total += 2 * summed * math.prod(equation.outvars[0].aval.shape)
        elif equation.primitive is conv_general_dilated_p:
            numbers = equation.params["dimension_numbers"]
            kernel = equation.invars[1].aval.shape
            summed = math.prod(kernel) // kernel[numbers.rhs_spec[0]]
            total += 2 * summed * math.prod(equation.outvars[0].aval.shape)
        elif (geometry := equation.params.get("geometry")).__class__ is Geometry:
            total += 2 * geometry.multiplications(v.aval.shape for v in (*equation.invars, *equation.outvars))
        else:
            times = equation.params["length"] if equation.primitive is scan_p else 1
            total += times * sum(flops_of_products(inner) for inner in _inner(equation.params))
    return total


def _inner(params: dict[str, Any]) -> list[Jaxpr]:
    values = [x for value in params.values() for x in (value if isinstance(value, (list, tuple)) else (value,))]
    return [x.jaxpr if isinstance(x, ClosedJaxpr) else x for x in values if isinstance(x, (ClosedJaxpr, Jaxpr))]
