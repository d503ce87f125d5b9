"""A value with the derivative of another: where JAX has no rule for what computes the value, or not torch's.

The other is dead code where nobody differentiates.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tenax.words import Array


@jax.custom_jvp
def graft(value: Array, slope: Array) -> Array:
    """`value`, of which JAX takes the derivative of `slope`; both of one shape and dtype."""
    return value


@graft.defjvp
def _graft_jvp(primals: Any, tangents: Any) -> Any:
    return primals[0], tangents[1]


def magnitude(x: Array) -> Array:
    """|x| of real numbers, with the derivative 0 at 0."""
    return x * lax.stop_gradient(jnp.sign(x))
