"""A choice between the form of a computation that XLA's CPU backend runs faster and that of other platforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax
from jax import lax

from tenax.words import Array

T = TypeVar("T")


def choose(cpu: Callable[..., T], elsewhere: Callable[..., T], *arrays: Array, symbolic: bool = False) -> T:
    """`cpu(*arrays)` on the CPU if there is no mesh, otherwise `elsewhere(*arrays)`, which has the same results.

    Without `symbolic`, `cpu` needs to know all sizes, and `elsewhere` computes on arrays of symbolic ones.
    """
    known = symbolic or all(isinstance(n, int) for x in arrays for n in x.shape)
    if not known or not jax.sharding.get_abstract_mesh().empty:
        return elsewhere(*arrays)
    return lax.platform_dependent(*arrays, cpu=cpu, default=elsewhere)
