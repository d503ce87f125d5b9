"""Lowerings of the family `histogram`.

Generated from ops_spec/histogram.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.generated import checks
from tenax.kernels import histogram as histogram_kernels
from tenax.words import FLOAT64, Array, cast


def histc__checks(self: Array, bins: int = 100, min: ArrayLike = 0, max: ArrayLike = 0) -> tuple[Array, ...]:
    """The conditions of histc; its row of the table has their errors."""
    return (jnp.any(cast(min, FLOAT64) != cast(max, FLOAT64)) | jnp.all(jnp.isfinite(self)),)


def histogram__bin_ct(
    self: Array,
    bins: int = 100,
    *,
    range: Sequence[ArrayLike] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, Array]:
    """histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) ->
        (Tensor hist, Tensor bin_edges)

    Spec: ops_spec/histogram.yaml
    """
    return histogram_kernels.histogram(
        self,
        histogram_kernels._histogramdd_bin_edges(self.reshape(-1, 1), [bins], range=range)[0],
        weight=weight,
        density=density,
    )


def histogram__bin_ct__checks(
    self: Array,
    bins: int = 100,
    *,
    range: Sequence[ArrayLike] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, ...]:
    """The conditions of histogram.bin_ct; its row of the table has their errors."""
    return (checks.range_is_finite(self, range),)


def _histogramdd_bin_edges__checks(
    self: Array,
    bins: Sequence[int],
    *,
    range: Sequence[ArrayLike] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, ...]:
    """The conditions of _histogramdd_bin_edges; its row of the table has their errors."""
    return (checks.range_is_finite(self, range),)


def _histogramdd_from_bin_cts(
    self: Array,
    bins: Sequence[int],
    *,
    range: Sequence[ArrayLike] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> Array:
    """_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool
        density=False) -> Tensor

    Spec: ops_spec/histogram.yaml
    """
    return histogram_kernels._histogramdd_from_bin_tensors(
        self, histogram_kernels._histogramdd_bin_edges(self, bins, range=range), weight=weight, density=density
    )
