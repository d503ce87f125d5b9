"""Greatest common divisors and least common multiples of integers, wrapping as torch's loop does (`Math.h`).

`jnp.gcd` and `jnp.lcm` do not terminate for the smallest integer of a dtype, which has no absolute value.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.loops import while_loop
from tenax.words import Array, cast


def _reduced(pair: tuple[Array, Array]) -> tuple[Array, Array]:
    """One step of Euclid's algorithm, for the elements that have not finished."""
    a, b = pair
    left = a != 0
    return jnp.where(left, lax.rem(b, jnp.where(left, a, jnp.ones_like(a))), a), jnp.where(left, a, b)


def gcd(self: Array, other: Array) -> Array:
    pair = (jnp.abs(x) for x in jnp.broadcast_arrays(self, other))
    return while_loop(lambda p: jnp.any(p[0] != 0), _reduced, tuple(pair))[1]


def lcm(self: Array, other: Array) -> Array:
    """|self / gcd * other|, with the absolute value taken in at least 32 bits, as in C."""
    divisor, self, other = jnp.broadcast_arrays(gcd(self, other), self, other)
    wide = self.dtype if self.dtype.itemsize > 2 else np.int32
    quotient = lax.div(self, jnp.where(divisor == 0, jnp.ones_like(divisor), divisor))
    return cast(jnp.abs(cast(quotient, wide) * cast(other, wide)), self.dtype)
