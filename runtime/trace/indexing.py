"""Indexing by 0-d tensors in a trace: torch reads the value of such an index, which is unknown there.

In a trace `x[i]`, `x.select(0, i)` and `x.narrow(0, i, n)` become an `index_select`, so they are copies instead of
views; so does `x[i : i + n]` for numbers of Python that calls pass, with a program for each length. A write to the copy
must therefore be written back, as `x[i] += 1` does, and the copy must not be used after `x` was written. Lost writes
and uses of stale copies raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from types import EllipsisType
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from .._torch import pytree
from .._torch.functorch import unwrapped
from .._torch.graph_collectives import break_graph
from .._torch.modes import captures_control_flow
from ..errors import TraceError
from ..storage.tensors import NAME, cell_of, wrap
from .core import is_unknown, user_line
from .data_checks import REFUSING
from .masked_indexing import axes_of, get_masked, set_masked, with_listed_masks
from .masked_writes import MASKS
from .symbols import is_of_host, item, symbolic_array
from .wrapped_numbers import WrappedNumbers, computes_on_host


class IndexedCopy(NamedTuple):
    """The result of an `x[i]`, with its version and that of `x` at that time."""

    tensor: torch.Tensor
    version: int
    base: torch.Tensor
    base_version: int
    line: str
    by_number: bool  # whether the index is a host number, for which eager mode returns a view


class TracedIndexing(TorchFunctionMode):
    """A torch function mode for one run."""

    def __init__(self, replaced: Mapping[Any, Callable[..., Any]]) -> None:
        """`replaced` has further functions that a trace calls in place of torch's."""
        super().__init__()
        self.copies: list[IndexedCopy] = []
        self.own: dict[Any, Callable[..., Any]] = {
            torch.Tensor.__getitem__: self.get,
            torch.Tensor.__setitem__: self.set,
            **dict.fromkeys((torch.select, torch.Tensor.select), self.select),
            **dict.fromkeys((torch.narrow, torch.Tensor.narrow), self.narrow),
            torch.Tensor.item: item,
            torch.Tensor.__format__: lambda x, spec: format(item(x), spec) if spec and not x.dim() else NotImplemented,
            **REFUSING,
            **replaced,
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function."""
        if torch.compiler.is_dynamo_compiling():
            if not captures_control_flow():  # as `torch.cond` does, which calls what Dynamo captures
                break_graph("a trace runs a function of torch.compile as it is")
            return func(*args, **(kwargs or {}))
        if self.copies:
            self.check_stale((args, kwargs))
        kwargs = kwargs or {}
        result = self.own[func](*args, **kwargs) if func in self.own else NotImplemented
        if result is not NotImplemented:
            return result
        with WrappedNumbers() if computes_on_host(args, kwargs) else nullcontext():
            return func(*args, **kwargs)

    def get(self, x: torch.Tensor, index: Any) -> Any:
        """`x[index]`, or NotImplemented if the index contains no unknown value and no known mask."""
        listed = with_listed_masks(x, index)
        known, axes = _split_unknown(x, listed)
        if not axes and listed is not index:
            return x[listed]
        if not axes:
            return get_masked(x, index if isinstance(index, tuple) else (index,))
        part = x
        for axis, place in axes:
            part = _row(part, axis, place)
        return self._copied(x, part[known], index if isinstance(index, tuple) else (index,))

    def select(self, input: torch.Tensor, dim: Any, index: Any) -> Any:
        """`x.select(dim, index)`, or NotImplemented if the index is known."""
        place = _tensor(index)
        if not _is_unknown_index(place):
            return NotImplemented
        return self._copied(input, _slice_at(input, dim, place, 1).squeeze(dim), (index,))

    def narrow(self, input: torch.Tensor, dim: Any, start: Any, length: int) -> Any:
        """`x.narrow(dim, start, length)`, or NotImplemented if the start is known."""
        place = _tensor(start)
        if not _is_unknown_index(place):
            return NotImplemented
        return self._copied(input, _slice_at(input, dim, place, length), (start,))

    def _copied(self, x: torch.Tensor, part: torch.Tensor, index: tuple[Any, ...]) -> torch.Tensor:
        by_number = any(is_of_host(i) or _is_moving(i) for i in index)
        self.copies.append(IndexedCopy(part, part._version, x, x._version, user_line(), by_number))
        return part

    def set(self, x: torch.Tensor, index: Any, value: Any) -> Any:
        """`x[index] = value`, or NotImplemented if torch's own code needs no unknown value for it."""
        rows = isinstance(value, torch.Tensor) and bool(value.dim() or value.requires_grad)
        listed = with_listed_masks(x, index) if rows else index  # torch writes a number without the positions
        known, axes = _split_unknown(x, listed)
        if not axes and listed is not index:
            x[listed] = value
            return None
        if not axes:
            return set_masked(x, index if isinstance(index, tuple) else (index,), value)
        self.copies = [c for c in self.copies if c.tensor is not value]
        parts = [x]
        for axis, place in axes:
            parts.append(_row(parts[-1], axis, place))
        parts[-1][known] = value
        for (axis, place), part, whole in zip(axes[::-1], parts[:0:-1], parts[-2::-1], strict=True):
            whole.index_copy_(axis, place, part)
        return None

    def check_stale(self, values: Any) -> None:
        """Raise if a value is a stale copy or shares memory with one."""
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
        """Raise if a write to a copy was lost, or a result is stale."""
        self.check_stale(results)
        copies = {_memory(copy.tensor) for copy in self.copies if copy.by_number}
        if copies and not copies.isdisjoint(map(_memory, results)):
            raise TraceError("a compiled function returns or stores x[i], a view where i is a number of Python")
        for copy in self.copies:
            if copy.tensor._version != copy.version:
                raise TraceError(
                    f"a write to x[i]{copy.line}, which is a copy of a part of x where JAX traces i: expected "
                    "x[i] = value, or index_copy_"
                )


def _split_unknown(x: torch.Tensor, index: Any) -> tuple[Any, list[tuple[int, torch.Tensor]]]:
    """Replace each unknown 0-d tensor in an index by 0, and each slice between numbers by a full one; also return
    (axis, positions) for each of them."""
    parts = [_tensor(p) for p in (index if isinstance(index, tuple) else (index,))]
    if not any(_is_unknown_index(p) or _is_moving(p) for p in parts):
        return index, []
    taken = [axes_of(p) for p in parts]
    if sum(taken) > x.dim():
        raise IndexError(f"too many indices for tensor of dimension {x.dim()}")
    axes, axis = [], 0
    for k, part in enumerate(parts):
        if isinstance(part, EllipsisType):
            axis += x.dim() - sum(taken)
        elif _is_unknown_index(part):
            axes.append((axis, _from_start(part, x.shape[axis]).reshape(1)))
            parts[k] = 0
        elif _is_moving(part) and (moving := _between_numbers(part, x.shape[axis])) is not None:
            axes.append((axis, moving))
            parts[k] = slice(None)
        axis += taken[k]
    return tuple(parts), axes


def _is_moving(part: Any) -> bool:
    """Whether a part of an index is a slice between numbers of Python that calls pass."""
    return isinstance(part, slice) and part.step is None and any(map(is_of_host, (part.start, part.stop)))


def _between_numbers(part: slice, size: int) -> torch.Tensor | None:
    """The positions of such a slice, for any start and one length; None if it counts from the end of the axis."""
    start: Any = 0 if part.start is None else part.start
    stop = size if part.stop is None or part.stop > size else part.stop
    if not all(isinstance(n, int) for n in (start, stop)) or not 0 <= start <= stop:
        return None
    length = stop - start
    if is_of_host(length):
        length, number = length.node.host.value, length
        bool(number == length)  # the program holds for this length
    return _tensor(start) + torch.arange(length, device=NAME)


def _from_start(place: torch.Tensor, size: int) -> torch.Tensor:
    return torch.where(place < 0, place + size, place).long()


def _row(x: torch.Tensor, axis: int, place: torch.Tensor) -> torch.Tensor:
    """The part at an index along an axis; the axis remains, with size 1."""
    if not x.shape[axis]:
        raise IndexError(f"index is out of bounds for dimension {axis} with size 0")
    return x.index_select(axis, place)


def _slice_at(x: torch.Tensor, axis: int, start: torch.Tensor, length: int) -> torch.Tensor:
    """A slice of a known length at an unknown start."""
    return x.index_select(axis, _from_start(start, x.shape[axis]) + torch.arange(length, device=start.device))


def _tensor(part: Any) -> Any:
    """Convert a symbolic number in an index to a tensor; other parts are returned unchanged."""
    array = symbolic_array(part) if isinstance(part, torch.SymInt) else None
    return part if array is None else wrap(array)


def _is_unknown_index(part: Any) -> bool:
    if not isinstance(part, torch.Tensor) or part.dim() or part.device.type != NAME:
        return False
    if part.dtype in MASKS or part.is_floating_point() or part.is_complex():
        return False
    return is_unknown(cell_of(unwrapped(part)).content)


def _memory(tensor: torch.Tensor) -> int:
    return unwrapped(tensor).untyped_storage()._cdata
