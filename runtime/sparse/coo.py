"""Kernels of the COO layout: formulas over indices and values, written with dense ops of the device.

Indices are `(sparse_dim, nnz)`, values `(nnz, *dense)`. torch's kernels that only call other ops are used unchanged
(`layouts.BORROWED`); this module replaces those that dereference host pointers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..dispatch.jax_call import call, function_number
from ..errors import TraceError
from ..kernels import sparse as kernels
from ..trace.core import user_line
from .result_meta import ResultMeta

_aten = torch.ops.aten
Tensor = torch.Tensor


def make(indices: Tensor, values: Tensor, size: Sequence[int], coalesced: bool = False) -> Tensor:
    """Create a COO tensor on the device without checking its invariants."""
    sparse = len(indices)
    options: dict[str, Any] = {"dtype": values.dtype, "layout": torch.sparse_coo, "device": values.device}
    return _aten._sparse_coo_tensor_with_dims_and_tensors(
        sparse, len(size) - sparse, size, indices, values, **options, is_coalesced=coalesced or None
    )


def _like(self: Tensor, values: Tensor) -> Tensor:
    """A tensor with the sparsity pattern of `self` and other values."""
    return make(self._indices().clone(), values, self.shape, self.is_coalesced())


def _run(kernel: Callable[..., Any], tensors: Sequence[Tensor], *static: Any) -> list[Tensor]:
    """Run a function of `kernels/sparse.py` as one executable."""

    def function(*arrays: Any) -> tuple[Any, ...]:
        result = kernel(*arrays, *static)
        return result if isinstance(result, tuple) else (result,)

    return call(function_number((kernel, static), lambda: function), list(tensors))


def flat(indices: Tensor, size: Sequence[int]) -> Tensor:
    """Row-major positions `(nnz,)` in a dense tensor of `size`."""
    return _run(kernels.flat, [indices], tuple(size))[0]


def scatter(values: Tensor, rows: Tensor, n: int) -> Tensor:
    """Sum rows of `values` into `n` rows; bools are combined by `or`."""
    return _run(kernels.scatter, [values, rows], n)[0]


def ranges(start: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """Concatenate the ranges `start[i] .. start[i] + count[i]`; also return the `i` of each element."""
    owner = torch.repeat_interleave(count)
    before = count.cumsum(0) - count
    return torch.arange(len(owner), device=start.device) - before[owner] + start[owner], owner


def _at(self: Tensor, keys: Tensor, dims: int) -> Tensor:
    """Look up the values at flat positions in the first `dims` dimensions; 0 where nothing is stored."""
    self = self.coalesce()
    values = self._values()
    if not len(values):
        return values.new_zeros((len(keys), *values.shape[1:]))
    return _run(kernels.lookup, [values, flat(self._indices(), self.shape[:dims]), keys])[0]


def _column(x: Tensor, values: Tensor) -> Tensor:
    return x.reshape(-1, *[1] * (values.dim() - 1))


def coalesce(self: Tensor) -> Tensor:
    if self._nnz() < 2:
        return self.clone()._coalesced_(True)
    size = self.shape[: self.sparse_dim()]
    try:
        unique, row = torch.unique(flat(self._indices(), size), return_inverse=True)
    except TraceError:
        raise TraceError(
            f"coalesce: the number of stored elements depends on data{user_line()}. Within a compiled function, train "
            "with dense gradients (nn.Embedding(sparse=False)) or with SGD, which does not coalesce them"
        ) from None
    return make(
        _run(kernels.unflat, [unique], tuple(size))[0], scatter(self._values(), row, len(unique)), self.shape, True
    )


def add(self: Tensor, other: Tensor, *, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    if not self.is_sparse:
        out = self.to(meta.dtype).expand(meta.shape).clone(memory_format=torch.contiguous_format)
        return add_dense(out, other, alpha)
    left, right = self._values().to(meta.dtype), other._values().to(meta.dtype) * alpha
    both = self.is_coalesced() and other.is_coalesced()
    if left.dim() != right.dim():
        raise NotImplementedError(
            f"add: tensors with sparse_dim {self.sparse_dim()} and {other.sparse_dim()} on this device; "
            "expected equal ones; convert one of them with .to_dense().to_sparse(sparse_dim)"
        )
    indices = torch.cat([self._indices(), other._indices()], 1)
    out = make(indices, torch.cat([left, right.to(meta.dtype)]), self.shape)
    return coalesce(out) if both else out


def add_dense(self: Tensor, other: Tensor, alpha: Any) -> Tensor:
    """Add a COO tensor into a contiguous dense one, in place."""
    n = other.sparse_dim()
    values = other._values().to(self.dtype)
    rows = self.view(math.prod(self.shape[:n]), *self.shape[n:])
    positions = flat(other._indices(), self.shape[:n])
    if values.dtype is torch.bool:
        rows.logical_or_(scatter(values, positions, len(rows)))
    else:
        rows.index_add_(0, positions, values, alpha=alpha)
    return self


def add_(self: Tensor, other: Tensor, *, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    if not self.is_sparse and self.is_contiguous():
        add_dense(self, other, alpha)
    else:
        self.copy_(add(self, other, alpha=alpha, meta=meta))
    return self


def sub(self: Tensor, other: Tensor, *, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    return add(self, other, alpha=-alpha, meta=meta)


def sub_(self: Tensor, other: Tensor, *, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    return add_(self, other, alpha=-alpha, meta=meta)


def mul(self: Any, other: Any, *, meta: ResultMeta) -> Tensor:
    if not (isinstance(self, Tensor) and self.is_sparse):
        self, other = other, self
    if not isinstance(other, Tensor):
        return _like(self, self._values() * other)
    if other.is_sparse and not other.dim():
        other = other.to_dense()
    if other.is_sparse:
        return _intersection(self, other, meta)
    if not other.dim():
        return _like(self, self._values() * other)
    if self.shape != meta.shape:
        spread = _aten._sparse_broadcast_to(self, meta.shape)
        self = coalesce(spread) if self.is_coalesced() else spread
    place = tuple(self._indices())
    factor = other.expand(meta.shape)
    return _like(self, self._values() * (factor[place] if place else factor))


def mul_(self: Tensor, other: Any, *, meta: ResultMeta) -> Tensor:
    self._values()[:0].mul_(
        other._values()[:0] if isinstance(other, Tensor) and other.is_sparse else other
    )  # raises torch's error if the dtypes do not allow an in-place product
    return self.copy_(mul(self, other, meta=meta).to(self.dtype))


def _intersection(self: Tensor, other: Tensor, meta: ResultMeta) -> Tensor:
    n = self.sparse_dim()
    if n != other.sparse_dim() or self.shape != other.shape:
        raise NotImplementedError(
            f"mul: sparse tensors of shapes {list(self.shape)} and {list(other.shape)} with sparse_dim {n} and "
            f"{other.sparse_dim()} on this device; expected equal ones; convert one of them with .to_dense()"
        )
    pattern, factor = (other, self) if self.is_coalesced() else (self, other.coalesce())
    size = self.shape[:n]
    if not factor._nnz():
        return make(pattern._indices()[:, :0], pattern._values()[:0].to(meta.dtype), self.shape, True)
    keys, among = (flat(t._indices(), size) for t in (pattern, factor))
    place, matches = _run(kernels.match, [keys, among])
    values = pattern._values()[matches] * factor._values()[place[matches]]
    return make(pattern._indices()[:, matches], values.to(meta.dtype), self.shape, pattern.is_coalesced())


def product(self: Tensor, dense: Tensor) -> Tensor:
    """Multiply a COO matrix by a dense one: `(m, k) @ (k, n)`; needs memory for `nnz * n` elements."""
    values, dense = self._values(), dense.to(self.dtype)
    return _run(kernels.product, [self._indices(), values, dense], self.shape[0])[0]


def mm(self: Tensor, mat2: Tensor, *, meta: ResultMeta) -> Tensor:
    if not self.is_sparse:
        return product(mat2.t(), self.t()).t()
    return _sparse_sparse_matmul(self, mat2, meta=meta) if mat2.is_sparse else product(self, mat2)


def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    out = mm(mat1, mat2, meta=meta) * alpha
    return out.expand(meta.shape) if beta == 0 and not self.is_sparse else self * beta + out


def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    return self.copy_(addmm(self, mat1, mat2, beta=beta, alpha=alpha, meta=meta))


def bmm(self: Tensor, mat2: Tensor, *, meta: ResultMeta) -> Tensor:
    batch, row, column = self._indices()
    m = self.shape[1]
    terms = self._values().unsqueeze(1) * mat2[batch, column]
    return scatter(terms, batch * m + row, len(self) * m).view(meta.shape)


def hspmm(mat1: Tensor, mat2: Tensor, *, meta: ResultMeta) -> Tensor:
    row, column = mat1.coalesce()._indices()
    values = mat1.coalesce()._values().unsqueeze(1) * mat2[column]
    return make(*_rows(row, values), meta.shape)


def _rows(row: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    unique, place = torch.unique(row, return_inverse=True)
    return unique.unsqueeze(0), scatter(values, place, len(unique))


def _sparse_sparse_matmul(self: Tensor, other: Tensor, *, meta: ResultMeta) -> Tensor:
    self, other = self.coalesce(), other.coalesce()
    (row, inner), (start, column) = self._indices(), other._indices()
    first, last = torch.searchsorted(start, inner), torch.searchsorted(start, inner, right=True)
    place, owner = ranges(first, last - first)
    values = self._values()[owner] * other._values()[place]
    return coalesce(make(torch.stack([row[owner], column[place]]), values, meta.shape))


def index_select(self: Tensor, dim: int, index: Tensor, *, meta: ResultMeta) -> Tensor:
    dim %= self.dim()
    indices, values = self._indices(), self._values()
    if dim >= len(indices):
        return make(indices, values.index_select(dim - len(indices) + 1, index), meta.shape)
    if len(index) and not bool(((index >= -self.shape[dim]) & (index < self.shape[dim])).all()):
        limit = self.shape[dim]
        raise IndexError(f"index_select(): index is out of bounds; expected less than {limit} in dimension {dim}")
    index = torch.where(index < 0, index + self.shape[dim], index)
    positions, order = indices[dim].sort(stable=True)
    first, last = torch.searchsorted(positions, index), torch.searchsorted(positions, index, right=True)
    place, owner = ranges(first, last - first)
    selected = indices[:, order[place]]
    selected[dim] = owner
    return make(selected, values[order[place]], meta.shape)


def sparse_mask(self: Tensor, mask: Tensor, *, meta: ResultMeta) -> Tensor:
    n = mask.sparse_dim()
    if not self.is_sparse:
        place = tuple(mask._indices())
        return _like(mask, self[place] if place else self.expand(mask._values().shape))
    if self.sparse_dim() != n:
        self = self.to_dense().to_sparse(n)
    return _like(mask, _at(self, flat(mask._indices(), mask.shape[:n]), n))


def _sparse_mask_projection(
    self: Tensor, mask: Tensor, accumulate_matches: bool = False, *, meta: ResultMeta
) -> Tensor:
    """Set entries that the mask does not store to 0.

    With `accumulate_matches`, multiply each entry by the number of times that the mask stores it.
    """
    n = self.sparse_dim()
    once = make(mask._indices(), torch.ones_like(mask._indices()[0]), mask.shape[:n])
    times = _at(once, flat(self._indices(), self.shape[:n]), n).long()
    times = times if accumulate_matches else times.clamp_(max=1)
    return _like(self, self._values() * _column(times, self._values()).to(self.dtype))


def _sparse_sum_backward(grad: Tensor, self: Tensor, dim: Sequence[int], *, meta: ResultMeta) -> Tensor:
    n, values = self.sparse_dim(), self._values()
    dims = {d % self.dim() for d in dim}
    remaining = [d for d in range(n) if d not in dims]
    spread = [d - n + 1 for d in sorted(dims) if d >= n]
    if not remaining:
        rows = grad.to_dense() if grad.is_sparse else grad
        rows = rows.unsqueeze(0)
    else:
        size = [self.shape[d] for d in remaining]
        rows = _at(grad, flat(self._indices()[remaining], size), len(remaining))
    for d in spread:
        rows = rows.unsqueeze(d)
    return make(self._indices(), rows.expand(values.shape).contiguous(), self.shape, self.is_coalesced())


def _pools(self: Tensor, dim: int) -> tuple[Tensor, int]:
    """Group the entries by their sparse indices except `dim`; return each entry's group and the number of groups."""
    rest = [d for d in range(self.sparse_dim()) if d != dim]
    groups, pool = torch.unique(flat(self._indices()[rest], [self.shape[d] for d in rest]), return_inverse=True)
    return pool, len(groups)


def _softmax(log: bool) -> Callable[..., Tensor]:
    def softmax(self: Tensor, dim: int, half_to_float: bool, *, meta: ResultMeta) -> Tensor:
        self, dim = self.coalesce(), dim % self.dim()
        values = self._values()
        if dim >= self.sparse_dim():
            dim += 1 - self.sparse_dim()
            return _like(self, values.log_softmax(dim) if log else values.softmax(dim))
        if not len(values):
            return _like(self, values)
        pool, n = _pools(self, dim)
        low = values.new_full((n, *values.shape[1:]), -math.inf)
        shifted = values - low.index_reduce_(0, pool, values, "amax")[pool]
        total = scatter(shifted.exp(), pool, n)[pool]
        return _like(self, shifted - total.log() if log else shifted.exp() / total)

    return softmax


def _softmax_backward(log: bool) -> Callable[..., Tensor]:
    def backward(grad_output: Tensor, output: Tensor, dim: int, self: Tensor, *, meta: ResultMeta) -> Tensor:
        output, dim, n = output.coalesce(), dim % output.dim(), output.sparse_dim()
        out = output._values()
        g = _at(grad_output, flat(output._indices(), output.shape[:n]), n)
        weight = out.exp() if log else out
        terms = g if log else out * g
        if dim >= n:
            total = terms.sum(dim - n + 1, keepdim=True)
        elif not len(out):
            return _like(output, out)
        else:
            pool, count = _pools(output, dim)
            total = scatter(terms, pool, count)[pool]
        return _like(output, g - weight * total if log else weight * (g - total))

    return backward


# Each kernel receives `meta`, the shape and dtype of CPU torch's result; computing it has already raised torch's
# errors.
KERNELS: dict[str, Callable[..., Tensor]] = {
    "add.Tensor": add,
    "add_.Tensor": add_,
    "sub.Tensor": sub,
    "sub_.Tensor": sub_,
    "mul.Tensor": mul,
    "mul_.Tensor": mul_,
    "mm": mm,
    "addmm": addmm,
    "addmm_": addmm_,
    "bmm": bmm,
    "hspmm": hspmm,
    "_sparse_sparse_matmul": _sparse_sparse_matmul,
    "index_select": index_select,
    "sparse_mask": sparse_mask,
    "_sparse_mask_projection": _sparse_mask_projection,
    "_sparse_sum_backward": _sparse_sum_backward,
    "_sparse_softmax": _softmax(log=False),
    "_sparse_log_softmax": _softmax(log=True),
    "_sparse_softmax_backward_data": _softmax_backward(log=False),
    "_sparse_log_softmax_backward_data": _softmax_backward(log=True),
}
