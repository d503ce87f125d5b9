"""Lowerings of the family `amp`.

Generated from ops_spec/amp.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax.typing import ArrayLike

from tenax.kernels import amp as amp_kernels
from tenax.words import Array


def _amp_foreach_non_finite_check_and_unscale_(
    self: Sequence[Array], found_inf: Array, inv_scale: Array
) -> tuple[list[Array], Array]:
    """_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> ()

    Spec: ops_spec/amp.yaml
    """
    return amp_kernels._amp_foreach_non_finite_check_and_unscale_(self=self, found_inf=found_inf, inv_scale=inv_scale)


def _amp_update_scale_(
    self: Array,
    growth_tracker: Array,
    found_inf: Array,
    scale_growth_factor: ArrayLike,
    scale_backoff_factor: ArrayLike,
    growth_interval: int,
) -> tuple[Array, Array]:
    """_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float scale_growth_factor, float
        scale_backoff_factor, int growth_interval) -> Tensor(a!)

    Spec: ops_spec/amp.yaml
    """
    return amp_kernels._amp_update_scale_(
        self=self,
        growth_tracker=growth_tracker,
        found_inf=found_inf,
        scale_growth_factor=scale_growth_factor,
        scale_backoff_factor=scale_backoff_factor,
        growth_interval=growth_interval,
    )
