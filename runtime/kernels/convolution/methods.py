"""Choice of the method that computes a convolution on the CPU; measured in benchmarks/results/convolutions.md.

XLA's CPU backend uses Eigen for dense convolutions in one and two dimensions. It is slow for grouped convolutions,
whose derivatives take up to six hundred times as long as in CPU torch, for three dimensions, and for single points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from tenax.kernels.convolution import eigen, pieces, shifts
from tenax.kernels.convolution.geometry import Function, Geometry
from tenax.words import Array

# Maximum multiply-adds per element in one loop. Compilation takes a tenth of a second for each twenty.
TERMS = 128
# Maximum number of convolutions compiled for one grouped convolution.
PIECES = 32
# The library's gradient of a longer kernel is slow: it is a convolution whose kernel is the output.
LONG = 32


def _fits(geometry: Geometry, channels: int) -> bool:
    """Whether multiply-adds over `channels` per group beat matrix products: up to four channels, or eight without
    strides."""
    few = 8 if max(geometry.stride) == 1 else 4
    return channels <= few and channels * prod(geometry.kernel) <= TERMS


def _is_point(geometry: Geometry) -> bool:
    return prod(geometry.kernel) == 1


def output(geometry: Geometry, outputs: int, inputs: int) -> Function:
    """The method that computes the output, for `outputs` and `inputs` channels of output and image per group."""
    return _contraction(geometry, inputs, max(outputs, inputs), shifts.output, _OUTPUT)


def image(geometry: Geometry, outputs: int, inputs: int) -> Function:
    """The method that computes the image."""
    return _contraction(geometry, outputs, max(outputs, inputs), shifts.image, _IMAGE)


_OUTPUT: tuple[Function, ...] = (eigen.output, pieces.output_by_plane, pieces.output_by_group)
_IMAGE: tuple[Function, ...] = (eigen.image, pieces.image_by_plane, pieces.image_by_group)


def _contraction(
    geometry: Geometry, summed: int, channels: int, shifted: Callable[..., Array], others: tuple[Function, ...]
) -> Function:
    """The method of a function that sums over `summed` channels of each group."""
    by_library, by_plane, by_group = others
    grouped = geometry.groups > 1
    if grouped and _fits(geometry, summed):
        return shifted
    if _is_point(geometry):
        return partial(shifted, contract=shifts.product)
    if not grouped:
        return by_plane if geometry.rank == 3 else by_library
    if pieces.count(geometry.groups, channels) <= PIECES:
        return by_group
    return by_library if channels == 1 else partial(shifted, contract=shifts.product)


def weight(geometry: Geometry, outputs: int, inputs: int) -> Function:
    """The method that computes the weight."""
    if _is_point(geometry):
        return shifts.weight if outputs * inputs == 1 else shifts.weight_by_products
    if geometry.groups == 1:
        return pieces.weight_by_plane if geometry.rank == 3 else eigen.weight
    if outputs * inputs <= 16:
        return shifts.weight
    if min(outputs, inputs) >= 16 and geometry.groups <= PIECES and prod(geometry.kernel) <= LONG:
        return pieces.weight_by_group
    return shifts.weight_by_products
