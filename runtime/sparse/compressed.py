"""Kernels of the compressed layouts CSR, CSC, BSR and BSC, by way of COO or of each value's row and column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import coo
from .result_meta import ResultMeta

_aten = torch.ops.aten
Tensor = torch.Tensor

_BY_ROW = (torch.sparse_csr, torch.sparse_bsr)
_BLOCKED = (torch.sparse_bsr, torch.sparse_bsc)


def indices(self: Tensor) -> tuple[Tensor, Tensor]:
    """The compressed and the plain indices."""
    by_row = self.layout in _BY_ROW
    return (self.crow_indices(), self.col_indices()) if by_row else (self.ccol_indices(), self.row_indices())


def is_compressed(x: Any) -> bool:
    return isinstance(x, Tensor) and x.layout not in (torch.strided, torch.sparse_coo)


def _with_values(self: Tensor, values: Tensor) -> Tensor:
    compressed, plain = (x.clone() for x in indices(self))
    return _aten._sparse_compressed_tensor_unsafe(
        compressed, plain, values, self.shape, dtype=values.dtype, layout=self.layout, device=values.device
    )


def _places(self: Tensor) -> Tensor:
    """Batch indices, row and column of each value or block: `(batch_dims + 2, all values)`."""
    compressed, plain = indices(self)
    return _aten._convert_indices_from_csr_to_coo(compressed, plain, transpose=self.layout not in _BY_ROW).long()


def _to_dense(
    self: Tensor, dtype: torch.dtype | None = None, masked_grad: bool | None = None, *, meta: ResultMeta
) -> Tensor:
    places, values = _places(self), self.values()
    batch = len(places) - 2
    size, dense = self.shape[:batch], self.shape[batch + 2 :]
    block = values.shape[batch + 1 : batch + 3] if self.layout in _BLOCKED else (1, 1)
    grid = (self.shape[batch] // (block[0] or 1), self.shape[batch + 1] // (block[1] or 1))
    rows = values.reshape(places.shape[1], math.prod(block), *dense)
    out = coo.scatter(rows, coo.flat(places, (*size, *grid)), math.prod((*size, *grid)))
    return out.view(*size, *grid, *block, *dense).transpose(batch + 1, batch + 2).reshape(self.shape)


def _plain(x: Any) -> Any:
    """Convert a compressed tensor to COO; return anything else unchanged."""
    return x.to_sparse() if is_compressed(x) else x


def _blocks(layout: torch.layout) -> Callable[..., Tensor]:
    """The kernel that converts a sparse matrix `(rows, columns, *dense)` to a blocked layout."""

    def kernel(self: Tensor, blocksize: Sequence[int], dense_dim: int | None = None, *, meta: ResultMeta) -> Tensor:
        self, (height, width) = _plain(self), blocksize
        size, (row, column) = self.shape, self._indices()
        grid = (size[0] // height, size[1] // width)
        place = torch.stack([row // height, column // width])
        order = (0, 1) if layout in _BY_ROW else (1, 0)
        lines, across = grid[order[0]], grid[order[1]]
        occupied, block = torch.unique(coo.flat(place[list(order)], (lines, across)), return_inverse=True)
        inside = block * height * width + row % height * width + column % width
        values = coo.scatter(self._values(), inside, len(occupied) * height * width)
        compressed = _aten._convert_indices_from_coo_to_csr(occupied // across, lines)
        return _aten._sparse_compressed_tensor_unsafe(
            compressed,
            occupied % across,
            values.view(len(occupied), height, width, *size[2:]),
            size,
            dtype=values.dtype,
            layout=layout,
            device=values.device,
        )

    return kernel


def _lines(layout: torch.layout) -> Callable[..., Tensor]:
    def kernel(self: Tensor, dense_dim: int | None = None, *, meta: ResultMeta) -> Tensor:
        return _plain(self).to_sparse(layout=layout)

    return kernel


def _back(result: Tensor, like: Tensor) -> Tensor:
    blocks = like.values().shape[-2:] if like.layout in _BLOCKED else None
    return result.to_sparse(layout=like.layout, blocksize=blocks) if result.is_sparse else result


def _by_coo(compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Apply a COO kernel to converted arguments.

    A sparse result is converted to the layout of the first compressed argument.
    """

    def kernel(*args: Any, **kwargs: Any) -> Tensor:
        like = next(a for a in args if is_compressed(a))
        return _back(compute(*map(_plain, args), **kwargs), like)

    return kernel


def add_(self: Tensor, other: Tensor, *, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    if self.layout is torch.strided:
        return coo.add_(self, _plain(other), alpha=alpha, meta=meta)
    result = _back(coo.add(_plain(self), _plain(other), alpha=alpha, meta=meta), self)
    return self.resize_as_sparse_(result).copy_(result)


def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, meta: ResultMeta) -> Tensor:
    out = coo.product(_plain(mat), vec.unsqueeze(1)).squeeze(1) * alpha
    return out if beta == 0 else self * beta + out


def sparse_mask(self: Tensor, mask: Tensor, *, meta: ResultMeta) -> Tensor:
    if self.layout is torch.strided and mask.layout not in _BLOCKED:
        values = self[tuple(_places(mask))]
        return _with_values(mask, values.reshape(mask.values().shape))
    uncompressed = _plain(self).to_dense() if self.layout is not torch.strided else self
    blocked = uncompressed.sparse_mask(mask.to_sparse())
    return _back(blocked, mask)


def sparse_sampled_addmm(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, meta: ResultMeta
) -> Tensor:
    *batch, row, column = _places(self)
    sampled = (mat1[(*batch, row)] * mat2.mT[(*batch, column)]).sum(-1).reshape(self.values().shape) * alpha
    return _with_values(self, sampled if beta == 0 else sampled + self.values() * beta)


def _widened(x: Tensor) -> Tensor:
    """Half precision as float32, in which products are added."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _sparse_mm_reduce_impl(self: Tensor, other: Tensor, reduce: str, *, meta: Any) -> tuple[Tensor, Tensor]:
    """Reduce the products of each row, 0 for an empty row; for amax and amin, also return the index of the value."""
    row, column = _places(self)
    terms = _widened(self.values()).unsqueeze(1) * _widened(other)[column]
    shape, n = meta[0].shape, len(row)
    where = row.unsqueeze(1).expand(terms.shape)
    out = terms.new_zeros(shape).scatter_reduce_(0, where, terms, reduce, include_self=False)
    if reduce in ("sum", "mean"):
        return out.to(other.dtype), self.crow_indices().new_empty(meta[1].shape)
    number = torch.arange(n, device=terms.device).unsqueeze(1)
    number = torch.where(terms == out[row], number, n)
    chosen = torch.full(shape, n, dtype=torch.int64, device=terms.device).scatter_reduce_(0, where, number, "amin")
    return out.to(other.dtype), chosen.to(self.crow_indices().dtype)


def _sparse_mm_reduce_impl_backward(
    self: Tensor,
    grad_out: Tensor,
    weight: Tensor,
    reduce: str,
    arg_out: Tensor,
    output_mask: Sequence[bool],
    *,
    meta: Any,
) -> tuple[Tensor | None, Tensor | None]:
    row, column = _places(self)
    values, weight, dtype = _widened(self.values()), _widened(weight), weight.dtype
    grad = _widened(grad_out)[row]
    if reduce == "mean":
        grad = grad / self.crow_indices().diff()[row].unsqueeze(1).to(grad.dtype)
    elif reduce != "sum":
        number = torch.arange(len(row), device=grad.device).unsqueeze(1)
        grad = torch.where(arg_out[row] == number, grad, torch.zeros((), dtype=grad.dtype, device=grad.device))
    sparse = _with_values(self, (grad * weight[column]).sum(1).to(dtype)) if output_mask[0] else None
    dense = coo.scatter(grad * values.unsqueeze(1), column, len(weight)).to(dtype) if output_mask[1] else None
    return sparse, dense


def _reduced(op: str) -> Callable[..., Tensor]:
    """The kernel that reduces the stored values over `dim` and keeps those dimensions."""

    def kernel(
        self: Tensor, dim: Sequence[int], keepdim: bool = False, *, dtype: torch.dtype | None = None, meta: ResultMeta
    ) -> Tensor:
        values = self.values().to(meta.dtype)
        places = _places(self)
        for d in {d % self.dim() for d in dim}:
            places = torch.cat([places[:d], torch.zeros_like(places[:1]), places[d + 1 :]])
        remaining, row = torch.unique(coo.flat(places, meta.shape), return_inverse=True)
        out = values.new_full((len(remaining),), 0 if op == "sum" else 1).scatter_reduce_(0, row, values, op)
        coordinates = torch.stack([remaining // meta.shape[1], remaining % meta.shape[1]])
        return coo.make(coordinates, out, meta.shape, True).to_sparse(layout=self.layout)

    return kernel


def validate_compressed_sparse_indices(
    is_crow: bool, compressed_idx: Tensor, plain_idx: Tensor, cdim: int, dim: int, nnz: int
) -> None:
    """Check the invariants with reductions on the device.

    If a check fails, torch's CPU kernel is called to raise its own error.
    """
    first, last, counts = compressed_idx[..., 0], compressed_idx[..., -1], compressed_idx.diff()
    good = (first == 0).all() & (last == nnz).all() & ((counts >= 0) & (counts <= dim)).all()
    good = good & ((plain_idx >= 0) & (plain_idx < dim)).all()
    if good:
        rows = _aten._convert_indices_from_csr_to_coo(compressed_idx, plain_idx)
        inner = rows[:, 1:] == rows[:, :-1]
        good = ~(inner[:-1].all(0) & (rows[-1, 1:] <= rows[-1, :-1])).any()
    if not good:
        _aten._validate_compressed_sparse_indices(is_crow, compressed_idx.cpu(), plain_idx.cpu(), cdim, dim, nnz)


KERNELS: dict[str, Callable[..., Any]] = {
    "_to_dense": _to_dense,
    "_to_sparse_csr": _lines(torch.sparse_csr),
    "_to_sparse_csc": _lines(torch.sparse_csc),
    "_to_sparse_bsr": _blocks(torch.sparse_bsr),
    "_to_sparse_bsc": _blocks(torch.sparse_bsc),
    "add.Tensor": _by_coo(coo.add),
    "add_.Tensor": add_,
    "mm": _by_coo(coo.mm),
    "addmm": _by_coo(coo.addmm),
    "addmv": addmv,
    "sparse_mask": sparse_mask,
    "sparse_sampled_addmm": sparse_sampled_addmm,
    "_sparse_mm_reduce_impl": _sparse_mm_reduce_impl,
    "_sparse_mm_reduce_impl_backward": _sparse_mm_reduce_impl_backward,
    "_sparse_csr_sum.dim_dtype": _reduced("sum"),
    "_sparse_csr_prod.dim_dtype": _reduced("prod"),
}
