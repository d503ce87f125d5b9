"""Memory operations (views, creation, copies, sizes) as functions of JAX arrays, for graphs evaluated without tensors.

Sizes may be symbolic dimensions of `jax.export`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import Array

from ..dtypes import numpy_dtype, torch_dtype
from ..kernels.bitcast import bitcast
from ..storage import views
from ..storage.avals import contiguous_strides
from ..storage.spec import TensorSpec
from ..words import cast

Size = Sequence[Any]  # ints and symbolic dimensions


def is_number(size: Any) -> bool:
    """Whether a size is concrete, as opposed to a symbolic dimension."""
    return isinstance(size, int)


def expand(x: Array, size: Size, *, implicit: bool = False) -> Array:
    own = (1,) * (len(size) - x.ndim) + x.shape
    return jnp.broadcast_to(x, [m if is_number(n) and n == -1 else n for n, m in zip(size, own, strict=True)])


def permute(x: Array, dims: Sequence[int]) -> Array:
    return x.transpose([d % x.ndim for d in dims]) if x.ndim else x


def squeeze(x: Array, dims: Sequence[int]) -> Array:
    squeezed = {d % x.ndim for d in dims} if x.ndim else set()
    return x.reshape([n for d, n in enumerate(x.shape) if d not in squeezed or not (is_number(n) and n == 1)])


def select(x: Array, dim: int, index: Any) -> Array:
    dim %= x.ndim
    if is_number(index):
        index = index if index >= 0 else x.shape[dim] + index
    return jax.lax.dynamic_index_in_dim(x, index, dim, keepdims=False)


def _end(n: Any, at: Any) -> Any:
    """Clamp a slice bound to an axis of size `n`."""
    if not is_number(at):
        return at
    if at < 0:
        at = n + at
        return max(at, 0) if is_number(at) else at
    return min(at, n) if is_number(n) else n if at > 1 << 62 else jax.core.min_dim(at, n)


def slice_(x: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    dim %= x.ndim
    n = x.shape[dim]
    first = 0 if start is None else _end(n, start)
    last = n if end is None else _end(n, end)
    if is_number(first) and is_number(last):
        last = max(first, last)
    return jax.lax.slice_in_dim(x, first, last, step, dim)


def split(x: Array, size: int, dim: int = 0) -> list[Array]:
    return [slice_(x, dim, i, i + size) for i in range(0, max(x.shape[dim], 1), size or 1)]


def unfold(x: Array, dimension: int, size: int, step: int) -> Array:
    if not x.ndim:
        return x.reshape(1)[:size]
    dim = dimension % x.ndim
    starts = jnp.arange(0, x.shape[dim] - size + 1, step)
    windows = jnp.take(x, starts[:, None] + jnp.arange(size)[None], axis=dim)
    return jnp.moveaxis(windows, dim + 1, -1)


def as_strided(x: Array, size: Size, stride: Size, storage_offset: int | None = None) -> Array:
    if not all(map(is_number, (*size, *stride, *x.shape))):
        raise NotImplementedError("as_strided of symbolic dimensions: its result depends on the memory layout")
    return views.read(x, TensorSpec(tuple(size), tuple(stride), storage_offset or 0, torch_dtype(x.dtype)))


def to_copy(x: Array, *, dtype: torch.dtype | None = None, **options: Any) -> Array:
    return x if dtype is None else cast(x, numpy_dtype(dtype))


def nothing(*args: Any, **options: Any) -> None:
    """Drop an assertion, which torch already evaluated during export."""


def full(size: Size, value: Any = 0, *, dtype: torch.dtype | None = None, **options: Any) -> Array:
    return jnp.full(tuple(size), value, numpy_dtype(dtype or torch.get_default_dtype()))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_assert_scalar": nothing,
    "_assert_tensor_metadata": nothing,
    "_conj": jnp.conj,
    "_neg_view": jnp.negative,
    "_to_copy": to_copy,
    "alias": lambda x: x,
    "as_strided": as_strided,
    "detach": lambda x: x,
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: jnp.diagonal(x, offset, dim1, dim2),
    "empty.memory_format": full,
    "empty_permuted": lambda size, order, **options: full(size, **options),
    "empty_strided": lambda size, stride, **options: full(size, **options),
    "expand": expand,
    "permute": permute,
    "select.int": select,
    "slice.Tensor": slice_,
    "split.Tensor": split,
    "split_with_sizes": lambda x, split_sizes, dim=0: [*jax.lax.split(x, split_sizes, dim % x.ndim)],
    "squeeze.dims": squeeze,
    "sym_constrain_range": nothing,
    "sym_constrain_range_for_size": nothing,
    "sym_size.int": lambda x, dim: x.shape[dim],
    "sym_stride.int": lambda x, dim: contiguous_strides(x.shape)[dim],
    "unfold": unfold,
    "unsqueeze": lambda x, dim: jnp.expand_dims(x, dim),
    "view": lambda x, size: x.reshape(tuple(size)),
    "view.dtype": lambda x, dtype: bitcast(x, numpy_dtype(dtype)),
    "view_as_complex": lambda x: jax.lax.complex(x[..., 0], x[..., 1]),
    "view_as_real": lambda x: jnp.stack([x.real, x.imag], -1),
}


def real(size: Any) -> Any:
    """Convert a size to a float64 number, or to an array if the size is symbolic."""
    return float(size) if isinstance(size, (int, float)) else jnp.asarray(size, np.dtype(np.float64))


def _product(a: Any, b: Any) -> Any:
    """Multiply sizes. An integral float such as `scale_factor=2.0` counts as an integer, so the result is a size."""
    return operator.mul(*(int(x) if isinstance(x, float) and x.is_integer() else x for x in (a, b)))


def _whole(size: Any) -> Any:
    if isinstance(size, jax.Array):
        raise NotImplementedError(
            "a size is a fraction of a symbolic size; expected an integer multiple, or // of sizes"
        )
    return size


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison of sizes that returns an array if the result depends on a symbolic size.

    JAX's own `==` treats two sizes as different if it cannot prove that they are equal.
    """

    def answer(a: Any, b: Any) -> Any:
        if not any(map(jax.export.is_symbolic_dim, (a, b))):
            return compare(a, b)
        try:
            if (a <= b and a >= b) or a < b or a > b:
                return compare(a, b)
        except jax.errors.InconclusiveDimensionOperation:
            pass
        return compare(*(jnp.asarray(x, np.dtype(np.int64)) for x in (a, b)))

    return answer


# torch's functions of sizes and their equivalents for JAX sizes. Functions not listed (operator.add) work for both.
SIZES: dict[Any, Callable[..., Any]] = {
    torch.sym_max: jax.core.max_dim,
    torch.sym_min: jax.core.min_dim,
    torch.sym_sum: sum,
    torch.sym_float: real,
    torch.sym_sqrt: lambda size: real(size) ** 0.5,
    **dict.fromkeys((math.trunc, math.floor, math.ceil, torch.sym_int), _whole),
    operator.mul: _product,
    operator.truediv: lambda a, b: real(a) / real(b),
    operator.pow: lambda a, b: a**b if isinstance(b, int) and b >= 0 else real(a) ** real(b),
    **{f: _compared(f) for f in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)},
    torch.sym_not: lambda answer: ~answer if isinstance(answer, jax.Array) else not answer,
}
