"""What an equation of a jaxpr costs: the jaxprs of its loops and calls, and the multiply-adds of its products."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.extend.core.primitives import conv_general_dilated_p, dot_general_p, scan_p

from ..kernels.convolution.geometry import Geometry


def nested_jaxprs(equation: JaxprEqn) -> Iterator[Jaxpr]:
    """The jaxprs among the parameters of an equation."""
    for value in equation.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(part, ClosedJaxpr):
                yield part.jaxpr
            elif isinstance(part, Jaxpr):
                yield part


def iterations(equation: JaxprEqn) -> int:
    """How often an equation runs its jaxprs; a `while` loop of unknown length counts once."""
    times: int = equation.params["length"] if equation.primitive is scan_p else 1
    return times


def multiplications(equation: JaxprEqn) -> int | None:
    """The multiply-adds of a product of matrices or a convolution; None for any other equation."""
    made = math.prod(shape_of(equation.outvars[0])) if equation.outvars else 0
    if equation.primitive is dot_general_p:
        (left, _), _ = equation.params["dimension_numbers"]
        shape = shape_of(equation.invars[0])
        return made * math.prod(shape[d] for d in left)
    if equation.primitive is conv_general_dilated_p:
        kernel = shape_of(equation.invars[1])
        return made * (math.prod(kernel) // kernel[equation.params["dimension_numbers"].rhs_spec[0]])
    if (geometry := equation.params.get("geometry")).__class__ is Geometry:
        return int(geometry.multiplications(shape_of(v) for v in (*equation.invars, *equation.outvars)))
    return None


def shape_of(variable: Any) -> tuple[int, ...]:
    """The shape of a variable."""
    shape: tuple[int, ...] = getattr(variable.aval, "shape", ())
    return shape
