"""Matrix products. float16 and bfloat16 accumulate in float32, and round once on backends that allow excess precision;
integers wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.arithmetic import add, scaled
from tenax.words import BOOL, FLOAT32, Array, DType, cast, opmath

# `at::blas::ScalingType`: one scale for a matrix, or one for each of its rows.
_SCALINGS = {0: "TensorWise", 1: "RowWise"}


def _contract(a: Array, b: Array, left: Sequence[int], right: Sequence[int], batch: int = 0) -> Array:
    """The product over the axes `left` of `a` and `right` of `b`, in their dtype."""
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}")
    if a.dtype == BOOL:
        raise NotImplementedError('"addmm_impl" not implemented for bool; expected a number dtype')
    axes = tuple(range(batch))
    return lax.dot_general(a, b, ((left, right), (axes, axes)))


def _widened(a: Array, b: Array, left: int, right: int, batch: int, dtype: DType) -> Array:
    """The product in `dtype`, unrounded.

    XLA's CPU backend (jaxlib 0.10) has no bfloat16 product into float32 with a transposed result: the barrier keeps a
    transpose that follows out of it, at the price of a fusion.
    """
    axes = tuple(range(batch))
    contracted = (((left,), (right,)), (axes, axes))
    return lax.optimization_barrier(lax.dot_general(a, b, contracted, preferred_element_type=dtype))


def _plus(self: Array, product: Array, beta: Any, alpha: Any, dtype: DType | None = None) -> Array:
    """`beta * self + alpha * product` in self's dtype or `dtype`; with `beta` 0, a NaN in self does not count."""
    product = scaled(cast(product, opmath(product.dtype)), alpha)
    if beta != 0:
        if product.ndim > 1 and product.shape[-2] == 1:
            # XLA's CPU backend (jaxlib 0.10) would fuse the sum into a product with a vector, and copy a matrix that
            # is transposed for that.
            product = lax.optimization_barrier(product)
        product = add(product, scaled(cast(self, product.dtype), beta))
    else:
        product = jnp.broadcast_to(product, jnp.broadcast_shapes(self.shape, product.shape))
    return cast(product, dtype or self.dtype)


def mm(self: Array, mat2: Array) -> Array:
    """(n, k) @ (k, m)."""
    return _contract(self, mat2, (1,), (0,))


def bmm(self: Array, mat2: Array) -> Array:
    """(b, n, k) @ (b, k, m)."""
    return _contract(self, mat2, (2,), (1,), 1)


def mv(self: Array, vec: Array) -> Array:
    """(n, k) @ (k,)."""
    return _contract(self, vec, (1,), (0,))


def dot(self: Array, tensor: Array) -> Array:
    """The sum of products of two vectors."""
    return _contract(self, tensor, (0,), (0,))


def vdot(self: Array, other: Array) -> Array:
    """`dot` with the first vector conjugated."""
    return dot(jnp.conj(self), other)


def addmm(self: Array, mat1: Array, mat2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`beta * self + alpha * (mat1 @ mat2)`; `self` is broadcast, `beta` and `alpha` are Python numbers."""
    return _plus(self, _contract(mat1, mat2, (1,), (0,)), beta, alpha)


def baddbmm(self: Array, batch1: Array, batch2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`addmm` for each matrix of a batch."""
    return _plus(self, _contract(batch1, batch2, (2,), (1,), 1), beta, alpha)


def addbmm(self: Array, batch1: Array, batch2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`addmm` with the sum of a batch of products."""
    return _plus(self, _contract(batch1, batch2, (0, 2), (0, 1)), beta, alpha)


def addmv(self: Array, mat: Array, vec: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`beta * self + alpha * (mat @ vec)`."""
    return _plus(self, _contract(mat, vec, (1,), (0,)), beta, alpha)


def addr(self: Array, vec1: Array, vec2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`beta * self + alpha * outer(vec1, vec2)` of one dtype; of bools, `or` and `and`."""
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if self.dtype.kind in "iub" and isinstance(factor, (float, complex)):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    return _plus(self, vec1[:, None] * vec2[None, :], beta, alpha)


def mm_to(self: Array, mat2: Array, out_dtype: DType) -> Array:
    """`mm` with the result, unrounded, in `out_dtype`."""
    return _widened(self, mat2, 1, 0, 0, out_dtype)


def bmm_to(self: Array, mat2: Array, out_dtype: DType) -> Array:
    """`bmm` with the result, unrounded, in `out_dtype`."""
    return _widened(self, mat2, 2, 1, 1, out_dtype)


def addmm_to(self: Array, mat1: Array, mat2: Array, out_dtype: DType, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`addmm` with the result, unrounded, in `out_dtype`."""
    return _plus(self, mm_to(mat1, mat2, out_dtype), beta, alpha, out_dtype)


def baddbmm_to(self: Array, batch1: Array, batch2: Array, out_dtype: DType, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`baddbmm` with the result, unrounded, in `out_dtype`; torch 2.13 has no Meta kernel that would refuse others."""
    (b1, _, m1), (b2, m2, _) = batch1.shape, batch2.shape
    if (b1, m1, batch1.dtype) != (b2, m2, batch2.dtype):
        found = f"{batch1.shape} of {batch1.dtype} and {batch2.shape} of {batch2.dtype}"
        raise RuntimeError(f"baddbmm: expected batches (b, n, m) and (b, m, p) of one dtype, got {found}")
    return _plus(self, bmm_to(batch1, batch2, out_dtype), beta, alpha, out_dtype)


def _weight_int8pack_mm(self: Array, mat2: Array, scales: Array) -> Array:
    """(n, k) @ (m, k) of int8, transposed, each column times its scale."""
    product = cast(_contract(self, cast(mat2, self.dtype), (1,), (1,)), opmath(self.dtype))
    return cast(product * cast(scales, product.dtype), self.dtype)


def _trilinear(
    i1: Array,
    i2: Array,
    i3: Array,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Array:
    """The product of three arrays summed over `sumdim`, each array first given axes of size 1 at its `expand`."""
    ndim = i1.ndim + len(expand1)
    inputs: list[Any] = []
    held: set[int] = set()
    for x, expand in ((i1, expand1), (i2, expand2), (i3, expand3)):
        axes = [d for d in range(ndim) if d not in {e % ndim for e in expand}]
        held.update(axes)
        inputs += [cast(x, opmath(x.dtype)), axes]
    kept = [d for d in range(ndim) if d not in {s % ndim for s in sumdim}]
    result = jnp.einsum(*inputs, [d for d in kept if d in held])
    for position, d in enumerate(kept):
        if d not in held:
            result = jnp.expand_dims(result, position)
    return cast(result, i1.dtype)


def _grouped_mm(
    self: Array,
    mat2: Array,
    offs: Array | None = None,
    bias: Array | None = None,
    out_dtype: DType | None = None,
) -> Array:
    """One product for each group; where an operand is 2-D, `offs` (int32) holds the end of each group on its axis.

    (n, k) @ (g, k, m) -> (n, m): groups of rows; (g, n, k) @ (k, m) -> (n, m): of columns; (n, k) @ (k, m) ->
    (g, n, m): of the summed axis; (g, n, k) @ (g, k, m) -> (g, n, m).
    """
    dtype = out_dtype or self.dtype
    if offs is None:
        return cast(_contract(self, mat2, (2,), (1,), 1), dtype)
    sizes = jnp.diff(offs, prepend=jnp.zeros(1, offs.dtype))
    if self.ndim == 2 and mat2.ndim == 2:
        numbers = lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], [])
        product = lax.ragged_dot_general(self, mat2, sizes, numbers)
    elif self.ndim == 2:
        product = lax.ragged_dot(self, mat2, sizes)
    else:
        product = lax.ragged_dot(mat2.T, self.transpose(0, 2, 1), sizes).T
    return cast(product, dtype)


def _scaled(x: Array, scale: Array, column: bool) -> Array:
    """float8 to float32, times one scale or one for each row (of `self`) or column (of `mat2`)."""
    return cast(x, FLOAT32) * scale.reshape((1, -1) if column else (-1, 1))


def _scaled_mm(
    self: Array,
    mat2: Array,
    scale_a: Array,
    scale_b: Array,
    bias: Array | None = None,
    scale_result: Array | None = None,
    out_dtype: DType | None = None,
    use_fast_accum: bool = False,
) -> Array:
    """`(scale_a * self) @ (scale_b * mat2) + bias` of float8 matrices, one scale for each or for each row and column.

    Written as XLA recognises it: scaled operands of one product become a float8 kernel where there is one.
    """
    product = _contract(_scaled(self, scale_a, column=False), _scaled(mat2, scale_b, column=True), (1,), (0,))
    if bias is not None:
        product = product + cast(bias, FLOAT32)
    dtype = out_dtype or self.dtype
    if dtype.itemsize == 1:
        if scale_result is not None:
            product = product * scale_result
        if np.isnan(np.float32(dtype.type(np.inf))):  # a type without infinity saturates; a cast would give a NaN
            largest = float(jnp.finfo(dtype).max)
            product = jnp.clip(product, -largest, largest)
    return cast(product, dtype)


def _scaled_mm_v2(
    self: Array,
    mat2: Array,
    scale_a: Sequence[Array],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Array],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    bias: Array | None,
    out_dtype: DType | None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Array:
    """`_scaled_mm` for the scalings that it knows."""
    for recipe in (*recipe_a, *recipe_b):
        if recipe not in _SCALINGS:
            raise NotImplementedError(f"_scaled_mm_v2: scaling recipe {recipe}; expected one of {_SCALINGS}")
    return _scaled_mm(self, mat2, scale_a[0], scale_b[0], bias, None, out_dtype)
