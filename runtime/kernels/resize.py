"""Linear, cubic and antialiased interpolation of 1 to 3 spatial dimensions, forward and backward.

Every filter is separable and applied axis by axis. `scales*` are the user's own factors, Python floats or None (1-d
interpolation has only `scales`); the tables of `resample` depend on them, so each value is compiled, like each size.
`jax.image.resize` supports neither them nor `align_corners`, and its cubic filter has a = -0.5 instead of -0.75.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import jax.numpy as jnp
import numpy as np

from tenax.kernels import resample
from tenax.kernels.resample import Scale
from tenax.kernels.taps import transposed, weigh
from tenax.words import FLOAT64, Array, DType, cast, is_int, opmath

# (input size, output size, align_corners, the user's scale, dtype of the coordinates) -> the table of one axis
Rule = Callable[[int, int, bool, Scale, DType], resample.Table]


def upsample(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
    *,
    rule: Rule,
) -> Array:
    """(N, C, *sizes) to `output_size`. Integers (images) are rounded after each axis, from the last, as in Pillow."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    x = cast(self, np.dtype(np.int32) if is_int(self) else opmath(self.dtype))
    axes = list(range(2, x.ndim))[::-1]
    if not is_int(self):
        axes.sort(key=lambda a: output_size[a - 2] / self.shape[a])  # shrinking axes first: less work
    for axis in axes:
        ends = x.shape[axis], output_size[axis - 2]
        table, weights = rule(*ends, align_corners, factors[axis - 2], FLOAT64 if is_int(self) else x.dtype)
        if not is_int(self):
            x = weigh(x, axis, table, weights)
        elif weights is not None:
            table, weights, bits = resample.fixed(table, weights)
            limits = jnp.iinfo(self.dtype)
            x = jnp.clip((weigh(x, axis, table, weights) + (1 << bits >> 1)) >> bits, limits.min, limits.max)
    return cast(x, self.dtype)


def upsample_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
    *,
    rule: Rule,
) -> Array:
    """The gradient of an image of `input_size`, by the transposed sums of `upsample`."""
    factors = resample.factors(len(output_size), scales_d, scales_h, scales_w, scales)
    x = cast(grad_output, opmath(grad_output.dtype))
    for axis in sorted(range(2, x.ndim), key=lambda a: input_size[a] / grad_output.shape[a]):
        size = input_size[axis]
        table, weights = rule(size, x.shape[axis], align_corners, factors[axis - 2], x.dtype)
        x = weigh(x, axis, *transposed(table, size, weights))
    return cast(x, grad_output.dtype)


# Functions that differ only in the filter; `upsample_linear` also serves `bilinear2d` and `trilinear3d`.
upsample_linear = partial(upsample, rule=resample.linear)
upsample_linear_backward = partial(upsample_backward, rule=resample.linear)
upsample_cubic = partial(upsample, rule=resample.cubic)
upsample_cubic_backward = partial(upsample_backward, rule=resample.cubic)
upsample_linear_aa = partial(upsample, rule=resample.triangle)
upsample_linear_aa_backward = partial(upsample_backward, rule=resample.triangle)
upsample_cubic_aa = partial(upsample, rule=resample.pillow_cubic)
upsample_cubic_aa_backward = partial(upsample_backward, rule=resample.pillow_cubic)
upsample_lanczos_aa = partial(upsample, rule=resample.lanczos)
upsample_lanczos_aa_backward = partial(upsample_backward, rule=resample.lanczos)
