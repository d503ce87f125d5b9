"""Nearest-neighbour interpolation, torch's historic rule and the exact one, forward and backward.

The spatial sizes are 1 to 3. `scales*` are the user's own factors, Python floats or None, and win over the ratio of
the sizes; a line has `scales` alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenax.kernels import resample
from tenax.kernels.resample import Scale
from tenax.kernels.taps import read, transposed, weigh
from tenax.words import Array, cast, opmath

# Where in a pixel its position is taken: the corner for `nearest`, the centre for `nearest-exact`.
CORNER, CENTRE = 0.0, 0.5


def _pick(x: Array, sizes: Sequence[int], scales: Sequence[Scale], shift: float) -> Array:
    for axis, (size, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        x = read(x, axis, resample.nearest(x.shape[axis], size, scale, shift)[0][:, 0])
    return x


def _gather(grad: Array, input_size: Sequence[int], scales: Sequence[Scale], shift: float) -> Array:
    """Each input pixel sums the gradients of the outputs that show it."""
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
