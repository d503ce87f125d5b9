"""A choice between the form of a computation that XLA's CPU backend runs faster and that of other platforms."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax import lax

from tenax.words import Array


def choose(cpu: Callable[..., Array], elsewhere: Callable[..., Array], *arrays: Array) -> Array:
    """`cpu(*arrays)` on the CPU if all sizes are known and there is no mesh, otherwise `elsewhere(*arrays)`."""
    known = all(isinstance(n, int) for x in arrays for n in x.shape)
    if not known or not jax.sharding.get_abstract_mesh().empty:
        return elsewhere(*arrays)
    return lax.platform_dependent(*arrays, cpu=cpu, default=elsewhere)
