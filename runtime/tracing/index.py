"""Indexing by tensors without axes in a trace: torch asks such a tensor for its value, which JAX does not know.

`x[i]`, `x.select(0, i)` and `x.narrow(0, i, n)` are read by `index_select` there: copies and no views. Price: what is
written to a copy must be given back, as `x[i] += 1` does by itself, and it must not be used once `x` was written; what
would be lost or missed raises.
"""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ..device.cell import cell_of, wrap
from ..errors import TraceError
from .symbol import array_of
from .trace import at_line, unknown

_functorch = torch._C._functorch
_MASKS = (torch.bool, torch.uint8)


class Copy(NamedTuple):
    """What `x[i]` gave, and how often it and `x` had been written before."""

    tensor: torch.Tensor
    version: int
    base: torch.Tensor
    base_version: int
    line: str


class Indexing(TorchFunctionMode):
    """The indices of one run."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: list[Copy] = []
        self.own: dict[Any, Callable[..., Any]] = {
            torch.Tensor.__getitem__: self.get,
            torch.Tensor.__setitem__: self.set,
            **dict.fromkeys((torch.select, torch.Tensor.select), self.select),
            **dict.fromkeys((torch.narrow, torch.Tensor.narrow), self.narrow),
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function."""
        if self.copies:
            self.used((args, kwargs))
        result = self.own[func](*args, **(kwargs or {})) if func in self.own else NotImplemented
        return func(*args, **(kwargs or {})) if result is NotImplemented else result

    def get(self, x: torch.Tensor, index: Any) -> Any:
        """`x[index]`, or NotImplemented where torch needs no value for it."""
        known, axes = _known(x, index)
        if not axes:
            return NotImplemented
        part = x
        for axis, place in axes:
            part = part.index_select(axis, place)
        return self._copied(x, part[known])

    def select(self, input: torch.Tensor, dim: Any, index: Any) -> Any:
        """`x.select(dim, index)`, or NotImplemented where torch needs no value for it."""
        place = _tensor(index)
        return self._copied(input, _taken(input, dim, place, 1).squeeze(dim)) if _is_asked(place) else NotImplemented

    def narrow(self, input: torch.Tensor, dim: Any, start: Any, length: int) -> Any:
        """`x.narrow(dim, start, length)`, or NotImplemented where torch needs no value for it."""
        place = _tensor(start)
        return self._copied(input, _taken(input, dim, place, length)) if _is_asked(place) else NotImplemented

    def _copied(self, x: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
        self.copies.append(Copy(part, part._version, x, x._version, at_line()))
        return part

    def set(self, x: torch.Tensor, index: Any, value: Any) -> Any:
        """`x[index] = value`, or NotImplemented where torch needs no value for the index."""
        known, axes = _known(x, index)
        if not axes:
            return NotImplemented
        self.copies = [c for c in self.copies if c.tensor is not value]
        parts = [x]
        for axis, place in axes:
            parts.append(parts[-1].index_select(axis, place))
        parts[-1][known] = value
        for (axis, place), part, whole in zip(axes[::-1], parts[:0:-1], parts[-2::-1], strict=True):
            whole.index_copy_(axis, place, part)
        return None

    def used(self, values: Any) -> None:
        """Raise where a copy is among the values, or shares memory with one, that does not show what was written."""
        stale = {_memory(c.tensor): c for c in self.copies if c.base._version != c.base_version}
        leaves = pytree.tree_leaves(values) if stale else []
        tensors = [v for v in leaves if isinstance(v, torch.Tensor) and v.layout is torch.strided]
        copy = next((stale[m] for m in map(_memory, tensors) if m in stale), None)
        if copy is not None:
            raise TraceError(
                f"x[i]{copy.line} is a copy of a part of x where JAX traces i, and x was written since: expected x[i] "
                "to be read again"
            )

    def verify(self, results: Any) -> None:
        """Raise where the results, or x, would show a write and do not."""
        self.used(results)
        for copy in self.copies:
            if copy.tensor._version != copy.version:
                raise TraceError(
                    f"a write to x[i]{copy.line}, which is a copy of a part of x where JAX traces i: expected "
                    "x[i] = value, or index_copy_"
                )


def _known(x: torch.Tensor, index: Any) -> tuple[Any, list[tuple[int, torch.Tensor]]]:
    """The index with 0 in place of each tensor that would be asked, and by axis which place of `x` the 0 stands for."""
    parts = [_tensor(p) for p in (index if isinstance(index, tuple) else (index,))]
    if not any(map(_is_asked, parts)):
        return index, []
    taken = [_axes(p) for p in parts]
    if sum(taken) > x.dim():
        raise IndexError(f"too many indices for tensor of dimension {x.dim()}")
    axes, axis = [], 0
    for k, part in enumerate(parts):
        if isinstance(part, EllipsisType):
            axis += x.dim() - sum(taken)
        elif _is_asked(part):
            axes.append((axis, _from_start(part, x.shape[axis]).reshape(1)))
            parts[k] = 0
        axis += taken[k]
    return tuple(parts), axes


def _from_start(place: torch.Tensor, size: int) -> torch.Tensor:
    return torch.where(place < 0, place + size, place).long()


def _taken(x: torch.Tensor, axis: int, start: torch.Tensor, length: int) -> torch.Tensor:
    """As many places of an axis."""
    return x.index_select(axis, _from_start(start, x.shape[axis]) + torch.arange(length, device=start.device))


def _tensor(part: Any) -> Any:
    """A part of an index, a tensor also where it is what `item()` gave."""
    array = array_of(part) if isinstance(part, torch.SymInt) else None
    return part if array is None else wrap(array)


def _axes(part: Any) -> int:
    """How many axes of a tensor a part of an index speaks of."""
    if part is None or isinstance(part, (bool, EllipsisType)):
        return 0
    if isinstance(part, (int, slice)):
        return 1
    tensor = part if isinstance(part, torch.Tensor) else torch.as_tensor(part)
    return tensor.dim() if tensor.dtype in _MASKS else 1


def _is_asked(part: Any) -> bool:
    if not isinstance(part, torch.Tensor) or part.dim() or part.device.type != "jax":
        return False
    if part.dtype in _MASKS or part.is_floating_point() or part.is_complex():
        return False
    return unknown(cell_of(unwrapped(part)).held)


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor of the device in one of torch.func."""
    while _functorch.is_functorch_wrapped_tensor(tensor):
        tensor = _functorch.get_unwrapped(tensor)
    return tensor


def _memory(tensor: torch.Tensor) -> int:
    return unwrapped(tensor).untyped_storage()._cdata
