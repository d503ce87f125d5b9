"""Lowerings of the family `histogram`.

Generated from ops_spec/histogram.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import histogram as histogram_kernels
from tenax.words import Array


def histc(self: Array, bins: int = 100, min: ArrayLike = 0, max: ArrayLike = 0) -> Array:
    """histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor

    Spec: ops_spec/histogram.yaml
    """
    return histogram_kernels.histc(self=self, bins=bins, min=min, max=max)


def histc__checks(self: Array, bins: int = 100, min: ArrayLike = 0, max: ArrayLike = 0) -> tuple[Array, ...]:
    """What must hold for histc; see its row of the table."""
    return ((min != max) | jnp.all(jnp.isfinite(self)),)


def histogram__bins_tensor(
    self: Array, bins: Array, *, weight: Array | None = None, density: bool = False
) -> tuple[Array, Array]:
    """histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist,
        Tensor bin_edges)

    Spec: ops_spec/histogram.yaml
    """
    return histogram_kernels.histogram(self=self, bins=bins, weight=weight, density=density)


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
    return histogram_kernels.histogram(self=self, bins=bins, range=range, weight=weight, density=density)


def histogram__bin_ct__checks(
    self: Array,
    bins: int = 100,
    *,
    range: Sequence[ArrayLike] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, ...]:
    """What must hold for histogram.bin_ct; see its row of the table."""
    return ((range is not None) | jnp.all(jnp.isfinite(self)),)


def _histogramdd_bin_edges(
    self: Array,
    bins: Sequence[int],
    *,
    range: Sequence[ArrayLike] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> list[Array]:
    """_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False)
        -> Tensor[]

    Spec: ops_spec/histogram.yaml
    """
    return histogram_kernels._histogramdd_bin_edges(self=self, bins=bins, range=range, weight=weight, density=density)


def _histogramdd_bin_edges__checks(
    self: Array,
    bins: Sequence[int],
    *,
    range: Sequence[ArrayLike] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> tuple[Array, ...]:
    """What must hold for _histogramdd_bin_edges; see its row of the table."""
    return ((range is not None) | jnp.all(jnp.isfinite(self)),)


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
    return histogram_kernels._histogramdd_from_bin_cts(
        self=self, bins=bins, range=range, weight=weight, density=density
    )


def _histogramdd_from_bin_tensors(
    self: Array, bins: Sequence[Array], *, weight: Array | None = None, density: bool = False
) -> Array:
    """_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor

    Spec: ops_spec/histogram.yaml
    """
    return histogram_kernels._histogramdd_from_bin_tensors(self=self, bins=bins, weight=weight, density=density)


def bincount(self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor

    Spec: ops_spec/histogram.yaml
    """
    return histogram_kernels.bincount(self=self, weights=weights, minlength=minlength)
