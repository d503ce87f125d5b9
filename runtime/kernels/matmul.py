"""Matrix products beyond a plain contraction: linear layers, outer, trilinear, scaled, grouped and packed products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import (
    FEW_ROWS,
    FLOAT32,
    Array,
    DType,
    axpby,
    cast,
    contract,
    is_complex,
    is_float,
    opmath,
    product_precision,
    reduce_sum,
    term_dtype,
)

# `at::blas::ScalingType`: one scale per matrix, or one per row.
_SCALINGS = {0: "TensorWise", 1: "RowWise"}


def linear(input: Array, weight: Array, bias: Array | None = None) -> Array:
    """(..., k) by (n, k) or (k,), plus (n,): `input @ weight.T + bias`."""
    leading = input.shape[:-1]
    known = weight.ndim == 2 and len(leading) != 1 and all(isinstance(n, int) for n in leading)
    few = known and math.prod(leading) <= FEW_ROWS
    rows = lax.reshape(input, (math.prod(leading), input.shape[-1])) if few else input
    dtype = None if bias is None else term_dtype(rows.dtype)
    product = contract(rows, weight, (rows.ndim - 1,), (weight.ndim - 1,), dtype=dtype)
    result = product if bias is None else axpby(1, product, 1, bias)
    return lax.reshape(result, (*leading, weight.shape[0])) if few else result


def linear_backward(
    self: Array, grad_output: Array, weight: Array, output_mask: Sequence[bool]
) -> tuple[Array | None, Array | None, Array | None]:
    """The gradients of input, weight (n, k) and bias, given that of the result (..., n)."""
    rows = range(self.ndim - 1)
    return (
        contract(grad_output, weight, (grad_output.ndim - 1,), (0,)) if output_mask[0] else None,
        contract(grad_output, self, rows, rows) if output_mask[1] else None,
        cast(reduce_sum(cast(grad_output, opmath(self.dtype)), rows), self.dtype) if output_mask[2] else None,
    )


def matmul(self: Array, other: Array) -> Array:
    """(..., n, k) by (..., k, m) with leading axes broadcast; a vector (k,) is a row or a column."""
    if other.ndim <= 2:
        return contract(self, other, (self.ndim - 1,), (max(other.ndim - 2, 0),))
    if self.ndim == 1:
        return contract(other, self, (other.ndim - 2,), (0,))
    leading = jnp.broadcast_shapes(self.shape[:-2], other.shape[:-2])
    left, right = (jnp.broadcast_to(x, leading + x.shape[-2:]) for x in (self, other))
    return contract(left, right, (left.ndim - 1,), (right.ndim - 2,), batch=len(leading))


def matmul_backward(grad: Array, self: Array, other: Array, mask: Sequence[bool]) -> tuple[Array | None, Array | None]:
    """The gradients of (..., n, k) and of (..., k, m), or (k, m), given that of their product.

    Raises:
        NotImplementedError: leading axes are broadcast; torch decomposes this case.
    """
    if other.ndim not in (2, self.ndim) or (other.ndim > 2 and self.shape[:-2] != other.shape[:-2]):
        raise NotImplementedError(f"matmul_backward: of {self.shape} and {other.shape}; expected equal leading axes")
    batch, last = other.ndim - 2, self.ndim - 1
    rows = range(batch, last)
    return (
        contract(grad, other, (last,), (batch + 1,), batch) if mask[0] else None,
        contract(self, grad, rows, rows, batch) if mask[1] else None,
    )


def addr(self: Array, vec1: Array, vec2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`beta * self + alpha * outer(vec1, vec2)` of one dtype; for bools, `or` and `and`."""
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if self.dtype.kind in "iub" and (is_float(factor) or is_complex(factor)):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    return axpby(alpha, vec1[:, None] * vec2[None, :], beta, self)


def baddbmm_to(self: Array, batch1: Array, batch2: Array, out_dtype: DType, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """`baddbmm` with an unrounded result in `out_dtype`; checks shapes, since torch 2.13 has no Meta kernel for it."""
    (b1, _, m1), (b2, m2, _) = batch1.shape, batch2.shape
    if (b1, m1, batch1.dtype) != (b2, m2, batch2.dtype):
        found = f"{batch1.shape} of {batch1.dtype} and {batch2.shape} of {batch2.dtype}"
        raise RuntimeError(f"baddbmm: expected batches (b, n, m) and (b, m, p) of one dtype, got {found}")
    product = lax.optimization_barrier(contract(batch1, batch2, (2,), (1,), batch=1, dtype=out_dtype))
    return axpby(alpha, product, beta, self, out_dtype)


def _weight_int8pack_mm(self: Array, mat2: Array, scales: Array) -> Array:
    """(n, k) @ int8 (m, k) transposed, each column times its scale."""
    product = contract(self, cast(mat2, self.dtype), (1,), (1,), dtype=term_dtype(self.dtype))
    product = cast(product, opmath(self.dtype))
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
    """The product of three arrays, each expanded by axes of size 1 at its `expand`, summed over `sumdim`."""
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
    """One product per group; if an operand is 2-d, `offs` (int32) holds the end of each group along its axis.

    (n, k) @ (g, k, m) -> (n, m): groups of rows; (g, n, k) @ (k, m) -> (n, m): of columns; (n, k) @ (k, m) ->
    (g, n, m): of the summed axis; (g, n, k) @ (g, k, m) -> (g, n, m).
    """
    dtype = out_dtype or self.dtype
    if offs is None:
        return cast(contract(self, mat2, (2,), (1,), 1), dtype)
    sizes, precision = jnp.diff(offs, prepend=jnp.zeros(1, offs.dtype)), product_precision(self.dtype)
    if self.ndim == 2 and mat2.ndim == 2:
        numbers = lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], [])
        product = lax.ragged_dot_general(self, mat2, sizes, numbers, precision)
    elif self.ndim == 2:
        product = lax.ragged_dot(self, mat2, sizes, precision)
    else:
        product = lax.ragged_dot(mat2.T, self.transpose(0, 2, 1), sizes, precision).T
    return cast(product, dtype)


def _scaled(x: Array, scale: Array, column: bool) -> Array:
    """float8 to float32, times one scale, or one per row (of `self`) or column (of `mat2`)."""
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
    """`(scale_a * self) @ (scale_b * mat2) + bias` of float8 matrices, with one scale each or one per row and column.

    XLA recognizes this form: a product of scaled operands becomes a float8 kernel where there is one.
    `jax.nn.scaled_matmul` scales blocks of the summed axis, not rows and columns.
    """
    product = contract(_scaled(self, scale_a, column=False), _scaled(mat2, scale_b, column=True), (1,), (0,))
    if bias is not None:
        product = product + cast(bias, FLOAT32)
    dtype = out_dtype or self.dtype
    if dtype.itemsize == 1:
        if scale_result is not None:
            product = product * scale_result
        if np.isnan(np.float32(dtype.type(np.inf))):  # a type without infinity saturates; a cast would produce NaN
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
    """`_scaled_mm` for the supported scalings."""
    for recipe in (*recipe_a, *recipe_b):
        if recipe not in _SCALINGS:
            raise NotImplementedError(f"_scaled_mm_v2: scaling recipe {recipe}; expected one of {_SCALINGS}")
    return _scaled_mm(self, mat2, scale_a[0], scale_b[0], bias, None, out_dtype)
