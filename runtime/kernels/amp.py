"""Loss scaling with dynamic scale (Micikevicius et al. 2018): unscaling gradients, and the next scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tenax.words import Array, cast, opmath


def _amp_foreach_non_finite_check_and_unscale_(
    self: Sequence[Array], found_inf: Array, inv_scale: Array
) -> tuple[list[Array], Array]:
    """(gradients times `inv_scale`, `found_inf` set to 1 where any gradient held inf or NaN)."""
    unscaled = []
    for grad in self:
        found_inf = jnp.where(jnp.all(lax.is_finite(grad)), found_inf, jnp.ones_like(found_inf))
        wide = cast(grad, opmath(grad.dtype))
        unscaled.append(cast(wide * cast(inv_scale, wide.dtype), grad.dtype))
    return unscaled, found_inf


def _amp_update_scale_(
    self: Array,
    growth_tracker: Array,
    found_inf: Array,
    scale_growth_factor: Any,
    scale_backoff_factor: Any,
    growth_interval: int,
) -> tuple[Array, Array]:
    """(scale, steps since its last change): reduced after inf or NaN, grown after `growth_interval` steps without."""
    bad = cast(found_inf, self.dtype) != 0
    steps = growth_tracker + 1
    due = (steps == growth_interval) & ~bad
    grown = self * cast(scale_growth_factor, self.dtype)
    scale = jnp.where(due & lax.is_finite(grown), grown, self)
    scale = jnp.where(bad, self * cast(scale_backoff_factor, self.dtype), scale)
    return scale, jnp.where(bad | due, jnp.zeros_like(steps), steps)
