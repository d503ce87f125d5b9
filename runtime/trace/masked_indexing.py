"""`x[mask]` and `x[mask] = values` in a trace, where the number of chosen elements is unknown.

A read keeps the rows at every place, chosen or not. Elementwise operations on them have known shapes, and writing them
back, as in `x[mask] *= 2`, is a `torch.where`. Everything else, such as their number or their sum, raises an error. The
cost is that the operations are computed at all places. What they give where the mask is false, such as the NaN of a
square root, reaches neither results nor gradients. A known mask is replaced by the positions of its true elements.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np
import torch

from .._torch import pytree
from .._torch.functorch import unwrapped
from .._torch.modes import TorchDispatchMode
from ..errors import TraceError
from ..kernels.indexing import FIXED
from ..storage.tensors import NAME, cell_of
from .core import is_unknown, user_line
from .masked_writes import MASKS, row_of_places, rows_in_order
from .transfer import read

_PROPERTIES = {
    *(getattr(torch.Tensor, name).__get__ for name in ("device", "dtype", "layout", "requires_grad")),
    *(torch.Tensor.dim, torch.Tensor.is_floating_point, torch.Tensor.is_complex),
}
# Elementwise operators that torch does not tag as such.
_UNTAGGED = {"_to_copy", "detach", "fill_", "floor_divide", "floor_divide_", "full_like", "ones_like", "zeros_like"}


def with_listed_masks(x: torch.Tensor, index: Any) -> Any:
    """The index with positions in place of known masks; the same object if there are none.

    These are `x[:, [True, False]]`, NumPy arrays of bools, and masks on the CPU. torch uploads such a mask and reads
    from the device where it is true, which a trace cannot do. A mask whose shape does not fit is kept, so that torch
    raises its error.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(part, (list, np.ndarray, torch.Tensor)) for part in parts):
        return index
    masks = [_mask(part) for part in parts]
    if all(mask is None for mask in masks):
        return index
    taken = [axes_of(part) if mask is None else mask.dim() for part, mask in zip(parts, masks, strict=True)]
    listed: list[Any] = []
    axis = 0
    for part, mask, axes in zip(parts, masks, taken, strict=True):
        if isinstance(part, EllipsisType):
            axis += x.dim() - sum(taken)
        if mask is None:
            listed.append(part)
        elif x.shape[axis : axis + axes] != mask.shape:
            return index
        else:
            listed.extend(mask.nonzero(as_tuple=True))
        axis += axes
    return tuple(listed)


def axes_of(part: Any) -> int:
    """The number of tensor axes that a part of an index consumes."""
    if part is None or isinstance(part, (bool, EllipsisType)):
        return 0
    if isinstance(part, (int, slice)):
        return 1
    tensor = part if isinstance(part, torch.Tensor) else torch.as_tensor(part)
    return tensor.dim() if tensor.dtype in MASKS else 1


def _mask(part: Any) -> torch.Tensor | None:
    """A list of bools, an array of bools or a mask on the CPU, as a tensor with axes; None for everything else."""
    if isinstance(part, torch.Tensor):
        return part if part.device.type == "cpu" and part.dtype in MASKS and part.dim() else None
    if isinstance(part, np.ndarray):
        return torch.from_numpy(part) if part.dtype == np.bool_ and part.ndim else None
    listed = isinstance(part, list) and bool(part) and all(isinstance(p, (bool, np.bool_)) for p in part)
    return torch.tensor(part) if listed else None


def set_masked(x: torch.Tensor, index: tuple[Any, ...], value: Any) -> Any:
    """`x[index] = value` by an index of one unknown mask and slices.

    Returns None; or NotImplemented for other indices, and for Python numbers, for which the kernel of torch's operator
    needs no places.
    """
    if not isinstance(value, torch.Tensor) or value.device != x.device or not (value.dim() or value.requires_grad):
        return NotImplemented
    if (found := _at_mask(x, index)) is None:
        return NotImplemented
    view, mask, inner = found
    row: torch.Tensor | None
    if isinstance(value, ChosenRows):
        if value.dtype != view.dtype or value.row_axes != inner:
            return NotImplemented
        same = value.places is read(unwrapped(mask))
        row = value.rows if same else rows_in_order(value.in_order(), mask, inner, value.mask.sum())
    elif value.dtype != view.dtype and value.numel() != 1:
        return NotImplemented
    else:
        row = row_of_places(value, mask.dim(), inner)
        row = rows_in_order(value, mask, inner) if row is None else row
    new = torch.where(mask.bool().reshape(*mask.shape, *[1] * inner), row.to(view.dtype), view)
    if new.shape != view.shape:
        return NotImplemented
    view.copy_(new)
    return None


def get_masked(x: torch.Tensor, index: tuple[Any, ...]) -> Any:
    """`x[index]` by an index of one unknown mask and slices; NotImplemented for other indices."""
    found = _at_mask(x, index)
    return NotImplemented if found is None else ChosenRows.of(*found)


def _at_mask(x: torch.Tensor, index: tuple[Any, ...]) -> tuple[torch.Tensor, torch.Tensor, int] | None:
    """The part of x from which an index of one unknown mask chooses, the mask, and the number of axes of a row.

    Returns:
        None for other indices.
    """
    places = [k for k, part in enumerate(index) if is_unknown_mask(part)]
    rest = [part for k, part in enumerate(index) if k not in places]
    if len(places) != 1 or not all(part is None or type(part) in (int, slice, EllipsisType) for part in rest):
        return None
    lead, mask, tail = index[: places[0]], index[places[0]], index[places[0] + 1 :]
    view = x[(*lead, *[slice(None)] * mask.dim(), *tail)]
    spanned = x.dim() - mask.dim() - sum(type(part) in (int, slice) for part in rest)  # axes of an ellipsis
    first = sum(part is None or type(part) is slice for part in lead) + (spanned if ... in lead else 0)
    fits = view.shape[first : first + mask.dim()] == mask.shape
    return (view, mask, view.dim() - first - mask.dim()) if fits else None


def is_unknown_mask(part: Any) -> bool:
    """Whether a part of an index is a mask with axes, on the device, whose value a trace does not know."""
    if not isinstance(part, torch.Tensor) or part.dtype not in MASKS or not part.dim() or part.device.type != NAME:
        return False
    return is_unknown(cell_of(unwrapped(part)).content)


class ChosenRows(torch.Tensor):
    """The result of `x[mask]`.

    As a plain tensor it is an empty one on device "meta", so that code that does not know the class cannot use it.

    Attributes:
        rows: the elements at all places; the axes of the mask stand in place of the axis that counts places.
        mask: the mask, with an axis of size 1 for each axis of a row.
        places: the array of the mask.
        row_axes: the number of axes of a row.
        line: where the program reads them.
    """

    rows: torch.Tensor
    mask: torch.Tensor
    places: Any
    row_axes: int
    line: str

    @staticmethod
    def of(view: torch.Tensor, mask: torch.Tensor, inner: int) -> ChosenRows:
        """The rows of a tensor at the places of a mask."""
        places = read(unwrapped(mask))
        mask = mask.bool().reshape(*mask.shape, *[1] * inner).clone()
        return _chosen(view.masked_fill(~mask, 1), mask, places, inner, user_line())

    def in_order(self) -> torch.Tensor:
        """All rows along one axis, the chosen ones first."""
        axis = self.rows.dim() - self.mask.dim()
        order = self.mask.flatten().logical_not().to(torch.uint8).argsort(stable=True)
        return self.rows.flatten(axis, axis + self.mask.dim() - self.row_axes - 1).index_select(axis, order)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute an elementwise operation at every place.

        Raises:
            TraceError: it is another operation, or its operands do not belong to the same places.
        """
        kwargs = kwargs or {}
        chosen = next(x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, ChosenRows))
        if func in _PROPERTIES:
            return func(chosen.rows)
        writes = bool(args) and isinstance(args[0], ChosenRows) and "out" not in kwargs
        args, kwargs = pytree.tree_map_only(torch.Tensor, chosen._operand, (args, kwargs))
        with _Elementwise(writes, chosen.line):
            result = func(*args, **kwargs)
        if not isinstance(result, torch.Tensor):
            raise _refused(chosen.line)
        return _chosen(result, chosen.mask, chosen.places, chosen.row_axes, chosen.line)

    def _operand(self, value: torch.Tensor) -> torch.Tensor:
        """An operand at every place; where the mask is false it is 1, so that no gradient comes from there."""
        if isinstance(value, ChosenRows):
            if value.places is not self.places or value.row_axes != self.row_axes:
                raise _refused(self.line)
            return value.rows
        if value.device.type != NAME:
            return value
        if not value.dim():
            if not (value.is_floating_point() or value.is_complex()):
                return value
            return value.to(torch.result_type(self.rows, value)).masked_fill(~self.mask, 1)
        row = row_of_places(value, self.mask.dim() - self.row_axes, self.row_axes)
        if row is None:
            raise _refused(self.line)
        return row.masked_fill(~self.mask, 1)


class _Elementwise(TorchDispatchMode):
    def __init__(self, writes: bool, line: str) -> None:
        super().__init__()
        self.writes, self.line = writes, line

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        elementwise = torch.Tag.pointwise in func.tags and torch.Tag.nondeterministic_seeded not in func.tags
        if not (elementwise or name in _UNTAGGED) or (func._schema.is_mutable and not self.writes):
            raise _refused(self.line)
        return func(*args, **(kwargs or {}))


def _chosen(rows: torch.Tensor, mask: torch.Tensor, places: Any, row_axes: int, line: str) -> ChosenRows:
    chosen = torch.empty(0, device="meta").as_subclass(ChosenRows)
    chosen.rows, chosen.mask, chosen.places, chosen.row_axes, chosen.line = rows, mask, places, row_axes, line
    return chosen


def _refused(line: str) -> TraceError:
    return TraceError(f"x[mask]: the result's shape depends on data{line}. Within jit, {FIXED}")
