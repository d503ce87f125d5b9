"""Nearest-neighbour interpolation by torch's legacy rule and by the exact one, forward and backward.

There are 1 to 3 spatial axes. `scales*` are the user's own factors, Python floats or None, which override the ratio of
the sizes; 1-d interpolation has only `scales`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenax.kernels import resample
from tenax.kernels.resample import Scale
from tenax.kernels.taps import read, transposed, weigh
from tenax.words import Array, cast, opmath

# Position of a pixel: its corner for `nearest`, its centre for `nearest-exact`.
CORNER, CENTRE = 0.0, 0.5


def _pick(x: Array, sizes: Sequence[int], scales: Sequence[Scale], shift: float) -> Array:
    for axis, (size, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        x = read(x, axis, resample.nearest(x.shape[axis], size, scale, shift)[0][:, 0])
    return x


def _gather(grad: Array, input_size: Sequence[int], scales: Sequence[Scale], shift: float) -> Array:
    """Sum for each input pixel the gradients of the outputs that read it."""
    x = cast(grad, opmath(grad.dtype))
    for axis, (size, scale) in enumerate(zip(input_size[2:], scales, strict=True), 2):
        table, _ = resample.nearest(size, x.shape[axis], scale, shift)
        x = weigh(x, axis, transposed(table, size)[0])
    return cast(x, grad.dtype)


def upsample_nearest(
    self: Array,
    output_size: Sequence[int],
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
) -> Array:
    """(N, C, *sizes) to `output_size`, any dtype."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    return _pick(self, output_size, factors, CORNER)


def upsample_nearest_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
) -> Array:
    """The gradient of an image of `input_size`."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    return _gather(grad_output, input_size, factors, CORNER)


def upsample_nearest_exact(
    self: Array,
    output_size: Sequence[int],
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
) -> Array:
    """(N, C, *sizes) to `output_size`, any dtype."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    return _pick(self, output_size, factors, CENTRE)


def upsample_nearest_exact_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
) -> Array:
    """The gradient of an image of `input_size`."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    return _gather(grad_output, input_size, factors, CENTRE)
