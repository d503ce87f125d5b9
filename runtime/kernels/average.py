"""Average pooling, with fixed and with adaptive windows, forward and backward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.taps import transposed, weigh
from tenax.kernels.window import Sizes, WindowAxis, adaptive, covered, spread, taps, windows
from tenax.words import Array, cast, opmath, window_operand

# Windows of up to this many elements are added slice by slice: XLA's loop over the elements of a window takes up to
# twenty times as long on the CPU.
_UNROLLED = 25


def _sums(x: Array, axes: Sequence[WindowAxis]) -> Array:
    """The sum of every window over the last axes."""
    lead = x.ndim - len(axes)
    if math.prod(axis.kernel for axis in axes) <= _UNROLLED and not any(axis.is_open for axis in axes):
        return reduce(lax.add, taps(x, np.zeros((), x.dtype), axes))
    return lax.reduce_window(
        window_operand(x) if any(axis.pads != (0, 0) for axis in axes) else x,
        np.zeros((), x.dtype),  # with a NumPy constant, JAX recognizes a sum, which has a transpose
        lax.add,
        (1,) * lead + tuple(axis.kernel for axis in axes),
        (1,) * lead + tuple(axis.stride for axis in axes),
        [(0, 0)] * lead + [axis.pads for axis in axes],
    )


def _repeated(x: Array, axes: Sequence[WindowAxis]) -> Array:
    """The transpose of `_sums` for windows that do not overlap: the value of each window in all its elements."""
    for d, axis in enumerate(axes, x.ndim - len(axes)):
        shape = *x.shape[: d + 1], axis.kernel, *x.shape[d + 1 :]
        x = lax.broadcast_in_dim(x, shape, [i for i in range(len(shape)) if i != d + 1])
        zero, whole = np.zeros((), x.dtype), [(0, 0, 0)] * x.ndim
        x = lax.pad(x, zero, [*whole[: d + 1], (0, axis.stride - axis.kernel, 0), *whole[d + 2 :]])
        x = lax.reshape(x, (*x.shape[:d], axis.windows * axis.stride, *x.shape[d + 2 :]))
        end = axis.size + axis.padding - axis.windows * axis.stride
        x = lax.pad(x, zero, [*whole[:d], (-axis.padding, end, 0), *whole[d + 2 :]])
    return x


def _counts(axes: Sequence[WindowAxis], count_include_pad: bool) -> np.ndarray:
    """torch's divisor of each window: nothing beyond the padding counts, and padding only if `count_include_pad`."""
    total = np.ones(())
    for axis in axes:
        padding = axis.padding if count_include_pad else 0
        low = np.maximum(axis.starts, -padding)
        high = np.minimum(axis.starts + axis.kernel, axis.size + padding)
        total = total[..., None] * np.maximum(high - low, 1)
    return total


def _divided(x: Array, axes: Sequence[WindowAxis], count_include_pad: bool, divisor_override: int | None) -> Array:
    """Divide window sums, or gradients of averages, by the window counts; integers round towards zero."""
    if divisor_override is not None:
        counts = np.asarray(divisor_override)
    elif any(axis.is_open for axis in axes) and (count_include_pad or not any(axis.padding for axis in axes)):
        counts = np.asarray(math.prod(axis.kernel for axis in axes))
    else:
        counts = _counts(axes, count_include_pad)
    if counts.size and (counts == counts.flat[0]).all():
        counts = counts.ravel()[:1].reshape(())
    return lax.div(x, jnp.broadcast_to(jnp.asarray(counts, dtype=x.dtype), x.shape))


def _avg_pool(
    self: Array,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    rank: int,
) -> Array:
    """Averages of windows over the last `rank` axes, of float or integer."""
    axes = windows(self.shape[-rank:], kernel_size, stride, padding, 1, ceil_mode)
    total = _sums(cast(self, opmath(self.dtype)), axes)
    return cast(_divided(total, axes, count_include_pad, divisor_override), self.dtype)


def _avg_pool_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    *,
    rank: int,
) -> Array:
    """The gradient of `self`: each window spreads its gradient evenly."""
    axes = windows(self.shape[-rank:], kernel_size, stride, padding, 1, ceil_mode)
    shares = _divided(cast(grad_output, opmath(self.dtype)), axes, count_include_pad, divisor_override)
    if all(axis.stride >= axis.kernel and not axis.is_open for axis in axes):
        return cast(_repeated(shares, axes), self.dtype)
    return cast(jax.linear_transpose(lambda x: _sums(x, axes), cast(self, shares.dtype))(shares)[0], self.dtype)


avg_pool2d = partial(_avg_pool, rank=2)
avg_pool3d = partial(_avg_pool, rank=3)
avg_pool2d_backward = partial(_avg_pool_backward, rank=2)
avg_pool3d_backward = partial(_avg_pool_backward, rank=3)


def _adaptive_table(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The positions of each window along an axis, padded with -1, and the window lengths."""
    starts, ends = adaptive(size, count)
    table = starts[:, None] + np.arange(max((ends - starts).max(initial=0), 1))
    return np.where(table < ends[:, None], table, -1), ends - starts


def _adaptive_avg_pool(self: Array, output_size: Sizes, *, rank: int) -> Array:
    """Averages of `output_size` windows that cover the last `rank` axes."""
    if not all(self.shape[-rank:]):
        size = f"input has sizes {list(self.shape)}"
        wanted = "Expected input to have non-zero size for non-batch dimensions"
        raise RuntimeError(f"adaptive_avg_pool{rank}d(): {wanted}, but {size}")
    x = cast(self, opmath(self.dtype))
    for axis, count in enumerate(spread(output_size, rank), x.ndim - rank):
        if isinstance(x.shape[axis], int):
            table, lengths = _adaptive_table(x.shape[axis], count)
            x = weigh(x, axis, table) / _column(lengths, x, axis)
        else:
            x = _covered_mean(x, axis, count)
    return cast(x, self.dtype)


def _covered_mean(x: Array, axis: int, count: int) -> Array:
    """Average the windows of an axis of symbolic size, by a product with a matrix instead of a table."""
    inside = cast(covered(x.shape[axis], count), x.dtype)
    means = inside / inside.sum(1, keepdims=True)
    return jnp.moveaxis(jnp.tensordot(x, means, ((axis,), (1,)), precision="highest"), -1, axis)


def _adaptive_avg_pool_backward(grad_output: Array, self: Array) -> Array:
    """The gradient of `self`: each window spreads its gradient evenly."""
    x = cast(grad_output, opmath(grad_output.dtype))
    for axis in (d for d, n in enumerate(x.shape) if n != self.shape[d]):  # windows of one element change nothing
        table, lengths = _adaptive_table(self.shape[axis], x.shape[axis])
        x = weigh(x / _column(lengths, x, axis), axis, transposed(table, self.shape[axis])[0])
    return cast(x, grad_output.dtype)


def _column(lengths: np.ndarray, x: Array, axis: int) -> Array:
    """`lengths` shaped to broadcast along one axis of `x`."""
    return jnp.asarray(lengths.reshape(-1, *(1,) * (x.ndim - axis - 1)), dtype=x.dtype)


_adaptive_avg_pool2d = partial(_adaptive_avg_pool, rank=2)
_adaptive_avg_pool3d = partial(_adaptive_avg_pool, rank=3)
