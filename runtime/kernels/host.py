"""Operators whose result shapes depend on data, for arrays in the memory of the host.

Such an operator waits for its arguments, because the size of its result is needed. If they lie in host memory, NumPy
computes the result there: XLA would compile programs for each new size, which takes far longer than the computation.
The specs name these functions as `on_host`; those of rows are for masks among indices (`aten/index_masks.py`).
"""

from __future__ import annotations

import numpy as np

from tenax.kernels.histogram import NEGATIVE, refuse_counted
from tenax.kernels.nms import refuse_boxes
from tenax.kernels.unique import refuse_slices

HALVES = ("bfloat16", "float16")
Host = np.ndarray


def nonzero(self: Host) -> Host:
    """(n, ndim) int64 coordinates of the nonzero elements, in row-major order."""
    truth = np.atleast_1d(self if self.dtype == bool else self != np.zeros((), self.dtype))
    return np.array(np.nonzero(truth), np.int64)[: self.ndim].T


def masked_select(self: Host, mask: Host) -> Host:
    """The elements of `self` where `mask` is true, as a 1-d array; both are broadcast."""
    self, mask = np.broadcast_arrays(self, mask)
    return self[mask.astype(bool, copy=False)]


def rows_where(self: Host, mask: Host) -> Host:
    """`self[mask]`: the slices of `self` where the mask, of its leading axes, is true."""
    return self[mask.astype(bool, copy=False)]


def put_rows_where(self: Host, mask: Host, values: Host, accumulate: bool) -> Host:
    """A copy of `self` in which `values` replace the slices where the mask is true, or are added to them."""
    result, mask = self.copy(), mask.astype(bool, copy=False)
    if accumulate:
        result[mask] += values
    else:
        result[mask] = values
    return result


def repeat_interleave(repeats: Host, *, output_size: int | None = None) -> Host:
    """Each index i repeated `repeats[i]` times, in the dtype of `repeats`."""
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")
    result = np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)
    if repeats.size and output_size is not None and result.size != output_size:
        raise RuntimeError("allocated size does not match required size")
    return result


def bincount(self: Host, weights: Host | None = None, minlength: int = 0) -> Host:
    """Weighted number of occurrences of each integer from 0 to the largest.

    int64 without weights, float32 with float32 weights, else float64; weights are added in order, as on the CPU.
    """
    refuse_counted(self, weights, minlength)
    if self.size and self.min() < 0:
        raise RuntimeError(NEGATIVE)
    if self.size == 0 or weights is None:
        return np.bincount(self.astype(np.int64, copy=False), minlength=minlength).astype(np.int64, copy=False)
    dtype = np.float32 if weights.dtype == np.float32 else np.float64
    counts = np.zeros(max(minlength, int(self.max()) + 1), dtype)
    np.add.at(counts, self, weights.astype(dtype, copy=False))
    return counts


def _unique(self: Host, sorted: bool = True, return_inverse: bool = False) -> tuple[Host, Host]:
    """(sorted distinct elements, index of each element among them); the last empty if not requested."""
    values, inverse, _ = _unique2(self, sorted, return_inverse)
    return values, inverse


def _unique2(
    self: Host, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Host, Host, Host]:
    """(sorted distinct elements, index of each element among them, counts); the last two empty if not requested."""
    flat = self.reshape(-1)
    if flat.dtype.kind in "biu" and not return_inverse and not return_counts:  # equal values have equal bits
        ordered = np.sort(flat)
        return ordered[_begins(ordered)], _nothing(), _nothing()
    order = np.argsort(_comparable(flat), kind="stable")
    return _of_elements(self, order, return_inverse, return_counts)


def unique_dim(
    self: Host, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Host, Host, Host]:
    """Distinct slices along `dim` in lexicographic order, with inverse and counts."""
    rows = _slices(self, dim)
    return _of_slices(self, dim, np.lexsort(_comparable(rows).T[::-1]) if rows.size else np.arange(len(rows)))


def unique_consecutive(
    self: Host, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Host, Host, Host]:
    """The first element, or slice along `dim`, of each run of equal ones, with inverse and counts."""
    if dim is not None:
        return unique_dim_consecutive(self, dim)
    return _of_elements(self, None, return_inverse, return_counts)


def unique_dim_consecutive(
    self: Host, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Host, Host, Host]:
    """The first slice along `dim` of each run of equal ones, with inverse and counts."""
    return _of_slices(self, dim, None)


def _comparable(x: Host) -> Host:
    """The values in a dtype that NumPy sorts, with NaNs last: the half-precision types come from an extension."""
    return x.astype(np.float32) if x.dtype.name in HALVES else x


def _nothing() -> Host:
    """A result that was not requested."""
    return np.zeros(0, np.int64)


def _of_elements(x: Host, order: Host | None, return_inverse: bool, return_counts: bool) -> tuple[Host, Host, Host]:
    values, inverse, counts = _groups(x.reshape(-1), order, return_inverse)
    return values, inverse.reshape(x.shape) if return_inverse else inverse, counts if return_counts else _nothing()


def _slices(x: Host, dim: int) -> Host:
    """The slices along `dim` as rows."""
    refuse_slices(x, dim)
    slices = np.moveaxis(np.atleast_1d(x), dim, 0)
    return slices.reshape(slices.shape[0], x.size // max(slices.shape[0], 1))


def _of_slices(x: Host, dim: int, order: Host | None) -> tuple[Host, Host, Host]:
    """Distinct slices, inverse and counts; along a dim, torch returns the latter two even if not requested."""
    values, inverse, counts = _groups(_slices(x, dim), order)
    rest = np.moveaxis(np.atleast_1d(x), dim, 0).shape[1:]
    return np.moveaxis(values.reshape(-1, *rest), 0, dim), inverse, counts


def _begins(ordered: Host) -> Host:
    """Whether each row, or element, differs from the one before it."""
    new = np.ones(len(ordered), bool)
    differs = ordered[1:] != ordered[:-1]
    new[1:] = differs.any(1) if differs.ndim > 1 else differs
    return new


def _groups(rows: Host, order: Host | None, inverted: bool = True) -> tuple[Host, Host, Host]:
    """(the first of each group of equal rows, or elements, in `order`, the group of each, the size of each group).

    Without an order they keep their places. The groups of rows are empty unless `inverted`.
    """
    ordered = rows if order is None else rows[order]
    new = _begins(ordered)
    groups = np.cumsum(new) - 1 if inverted else _nothing()
    if inverted and order is not None:
        groups[order] = groups.copy()
    first = np.flatnonzero(new)
    return ordered[first], groups, np.diff(first, append=len(rows)).astype(np.int64, copy=False)


def nms(dets: Host, scores: Host, iou_threshold: float) -> Host:
    """The indices of the kept boxes, by descending score; equal scores keep their order (see `kernels/nms.py`)."""
    refuse_boxes(dets, scores)
    order = np.argsort(-_comparable(scores), kind="stable")
    boxes = dets[order]
    low, high = boxes[:, :2], boxes[:, 2:]
    area = (high - low).prod(1, dtype=boxes.dtype)
    kept = np.ones(len(boxes), bool)
    for i in range(len(boxes)):
        if kept[i]:
            rest = slice(i + 1, None)
            sides = np.maximum(np.minimum(high[rest], high[i]) - np.maximum(low[rest], low[i]), 0)
            common = sides.prod(1, dtype=boxes.dtype)
            overlap = common / (area[rest] + area[i] - common)
            kept[rest] &= ~(overlap.astype(np.float64) > iou_threshold)
    return order[kept]
