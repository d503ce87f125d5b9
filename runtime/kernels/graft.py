"""A value with the derivative of another, where JAX has no rule for the value's computation, or not torch's rule.

Without differentiation the other is dead code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from tenax.words import Array, not_implemented, with_derivative


@jax.custom_jvp
def graft(value: Array, slope: Array) -> Array:
    """`value`, with the derivative of `slope`; both have the same shape and dtype."""
    return value


@graft.defjvp
def _graft_jvp(primals: Any, tangents: Any) -> Any:
    return primals[0], tangents[1]


def differentiated_as(other: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of arrays, with the derivative that JAX has for `other`, which computes the same."""
    differentiable = jax.custom_jvp(function)
    differentiable.defjvp(lambda primals, tangents: (differentiable(*primals), jax.jvp(other, primals, tangents)[1]))
    return differentiable


def undifferentiable(name: str, *arrays: Array) -> Any:
    """Arrays that must not be differentiated, because torch does not implement the derivative of `name`."""
    named = {f"x{i}": x for i, x in enumerate(arrays)}
    refused = {", ".join(named): lambda: not_implemented(name)}
    return with_derivative(lambda **x: tuple(x.values()), lambda *_, **__: refused, **named)
