"""Arguments in place of which the traced run gets another tensor.

- Of one that was computed outside and requires a gradient, it gets a leaf, so that results are differentiated with
  respect to it. Attributes and methods that would tell the two apart either behave as on the argument or raise.
- A part of a larger tensor, such as a minibatch `data[i : i + 32]` of a data set on the device, shares its memory with
  the rest, so a program for it depends on where it starts. A function that only reads it gets a copy, and one program
  serves all parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import torch

from ..aten.traced_gradients import IN_TRACES
from ..errors import TraceError
from ..storage.cell import Cell
from ..trace.core import user_line
from ..trace.indexing import TracedIndexing
from .outputs import is_device_tensor

_WRITTEN_LEAF = "leaf Variable that requires grad is being used in an in-place operation"
_Tensor: Any = torch.Tensor  # its properties are descriptors
_OF_MEMORY = (  # functions that tell where the memory of a tensor is, or read beyond it
    *(torch.as_strided, _Tensor.as_strided, _Tensor.as_strided_, torch.as_strided_copy, torch.as_strided_scatter),
    *(_Tensor.storage_offset, _Tensor.data_ptr, _Tensor.untyped_storage, _Tensor.storage, _Tensor.set_),
    *(_Tensor._base.__get__, _Tensor._is_view),
)
_REFUSED = {
    _Tensor.detach_: "calls detach_() on",
    _Tensor.retain_grad: "calls retain_grad() on",
    _Tensor.grad_fn.__get__: "reads grad_fn of",
    _Tensor.retains_grad.__get__: "reads retains_grad of",
}


def without_history(leaf: Any) -> Any:
    """Return an argument as the traced run gets it: a leaf in place of a tensor with a history."""
    if is_device_tensor(leaf) and leaf.requires_grad and not leaf.is_leaf:
        attributes, leaf = vars(leaf), leaf.detach().requires_grad_()
        vars(leaf).update(attributes)
        leaf.register_post_accumulate_grad_hook(_refuse_gradient)
    return leaf


def is_part(tensor: torch.Tensor, cell: Cell) -> bool:
    """Whether an argument is a contiguous part of an array, at most half of it, which a copy can replace: its memory
    alone differs."""
    plain = tensor.__class__ is torch.Tensor and not tensor.requires_grad and not tensor.__dict__
    small = plain and 2 * tensor.nbytes <= cell.nbytes and cell.aval.sharding is None
    return small and tensor.is_contiguous() and not tensor.is_neg()


def copy_of(tensor: torch.Tensor, parts: dict[int, torch.Tensor], arguments: list[object]) -> torch.Tensor:
    """A copy of an argument; the same one for an argument that is passed twice, as an earlier one of `parts`."""
    earlier = next((arguments[i] for i, part in parts.items() if part is tensor), None)
    if isinstance(earlier, torch.Tensor):
        return earlier
    with torch.no_grad():
        return tensor.clone()


class TracedFunctions(TracedIndexing):
    """A function mode for one run of a compiled function; it handles the leaves that replace arguments, and notes of
    which tensors the function asks for the memory."""

    def __init__(self, leaves: Iterable[torch.Tensor]) -> None:
        super().__init__(IN_TRACES)
        self.asked: set[Cell] = set()  # whose memory the run asked for
        self.own.update(dict.fromkeys(_OF_MEMORY, self.ask))
        self.leaves = {id(leaf): leaf for leaf in leaves}
        if self.leaves:
            self.own[_Tensor.is_leaf.__get__] = self.is_leaf
            self.own[_Tensor.requires_grad_] = self.requires_grad_
            self.own.update({function: self._refusing(what) for function, what in _REFUSED.items()})

    def ask(self, x: torch.Tensor, *_: Any, **options: Any) -> Any:
        """`x.storage_offset()` and the like."""
        if is_device_tensor(x) and (cell := getattr(x.untyped_storage(), "cell", None)) is not None:
            self.asked.add(cell)
        return NotImplemented

    def is_leaf(self, x: torch.Tensor, *_: Any) -> Any:
        """`x.is_leaf`."""
        return False if id(x) in self.leaves else NotImplemented

    def requires_grad_(self, x: torch.Tensor, requires_grad: bool = True) -> Any:
        """`x.requires_grad_(requires_grad)`."""
        if id(x) in self.leaves and not requires_grad:
            x.clone().requires_grad_(False)  # raises torch's error
        return NotImplemented

    def _refusing(self, what: str) -> Any:
        def refuse(x: torch.Tensor, *_: Any) -> Any:
            if id(x) not in self.leaves:
                return NotImplemented
            raise TraceError(
                f"a compiled function {what} an argument that was computed outside{user_line()}, which differs in "
                "each call; do it outside, or call the function with argument.detach()"
            )

        return refuse


def written_argument(error: BaseException) -> TraceError | None:
    """Translate torch's error about an in-place write to a leaf, which may replace an argument; None for others."""
    if not isinstance(error, RuntimeError) or _WRITTEN_LEAF not in str(error):
        return None
    return TraceError(
        f"an in-place operation within a compiled function{user_line(error)} writes to a tensor that requires a "
        "gradient: a leaf, or an argument that was computed outside, where later calls could not change its history. "
        "Write to a clone of it, or call the function with argument.detach()"
    )


def _refuse_gradient(leaf: torch.Tensor) -> NoReturn:
    raise TraceError(
        f"backward() within a compiled function reaches an argument that was computed outside{user_line()}: the "
        "gradient would end there. Detach the argument, compute it within, or call backward() outside"
    )
