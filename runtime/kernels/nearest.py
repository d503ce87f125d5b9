"""Nearest-neighbour interpolation by torch's legacy rule and by the exact one, forward and backward.

There are 1 to 3 spatial axes. `scales*` are the user's own factors, Python floats or None, which override the ratio of
the sizes; 1-d interpolation has only `scales`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tenax.kernels import resample
from tenax.kernels.resample import Scale
from tenax.kernels.taps import read, transposed, weigh
from tenax.words import Array, cast, opmath

# Position of a pixel: its corner for `nearest`, its centre for `nearest-exact`.
CORNER, CENTRE = 0.0, 0.5


def _upsample(
    self: Array,
    output_size: Sequence[int],
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
    *,
    shift: float,
) -> Array:
    """(N, C, *sizes) to `output_size`, any dtype."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    for axis, (size, scale) in enumerate(zip(output_size, factors, strict=True), 2):
        self = read(self, axis, resample.nearest(self.shape[axis], size, scale, shift)[0][:, 0])
    return self


def _upsample_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
    *,
    shift: float,
) -> Array:
    """The gradient of an image of `input_size`: for each pixel, the sum of those of the outputs that read it."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    x = cast(grad_output, opmath(grad_output.dtype))
    for axis, (size, scale) in enumerate(zip(input_size[2:], factors, strict=True), 2):
        table, _ = resample.nearest(size, x.shape[axis], scale, shift)
        x = weigh(x, axis, transposed(table, size)[0])
    return cast(x, grad_output.dtype)


upsample_nearest = partial(_upsample, shift=CORNER)
upsample_nearest_backward = partial(_upsample_backward, shift=CORNER)
upsample_nearest_exact = partial(_upsample, shift=CENTRE)
upsample_nearest_exact_backward = partial(_upsample_backward, shift=CENTRE)
