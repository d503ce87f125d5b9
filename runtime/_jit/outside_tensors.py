"""What the traced run gets in place of tensors from outside.

- A tensor that was computed outside and requires a gradient, an argument or state, is a leaf during the run, so that
  results are differentiated with respect to it, and each call continues the history that it has then. Attributes and
  methods that would tell the two apart either behave as before or raise.
- An argument that is a part of a larger tensor, such as a minibatch `data[i : i + 32]` of a data set on the device,
  shares its memory with the rest, so a program for it depends on where it starts. A function that only reads it gets a
  copy, and one program serves all parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn

import torch

from .. import patches
from .._torch.tensors import swap_implementations
from ..aten.traced_gradients import IN_TRACES
from ..errors import TraceError
from ..functional import control_flow
from ..storage.cell import Cell
from ..trace.autograd_engine import Engine
from ..trace.core import user_line
from ..trace.indexing import TracedIndexing
from .autograd_graph import graph_leaves
from .outputs import is_device_tensor

_UNREAD = "AttributeReads._recording.<locals>.__getattribute__"  # which Dynamo does not trace
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


@contextmanager
def cut_off(values: Iterable[Any]) -> Iterator[dict[int, torch.Tensor]]:
    """Let the tensors among values and their gradients that were computed outside be leaves; yield what holds their
    histories meanwhile, by their ids."""
    tensors = [x for x in values if is_device_tensor(x)]
    gradients = [(t, t.grad) for t in tensors if t.is_leaf and is_device_tensor(t.grad)]
    tensors += [gradient for _, gradient in gradients]
    cut = {id(t): t for t in tensors if t.requires_grad and not t.is_leaf}
    outside = {i: t.detach().requires_grad_() for i, t in cut.items()}
    for leaf in outside.values():
        leaf.register_post_accumulate_grad_hook(_refuse_gradient)

    def exchange() -> None:
        for i, tensor in cut.items():
            swap_implementations(tensor, outside[i])
        for tensor, gradient in gradients:
            if id(gradient) in outside:  # torch holds its implementation
                tensor.grad = gradient

    exchange()
    try:
        yield outside
    finally:
        exchange()


def refusing_parts_of_gradients(outside: dict[int, torch.Tensor]) -> AbstractContextManager[None]:
    """Refuse gradients by given inputs that are also behind a history outside, where no gradient goes; without inputs,
    a hook refuses them."""
    plain = Engine.run_backward

    def run_backward(
        self: Engine, results: Any, given: Any, keep: bool, create: bool, inputs: Any, *args: Any, **options: Any
    ) -> Any:
        if inputs:
            tensors = [x for x in results if isinstance(x, torch.Tensor)]
            cut = {i for x in tensors for i in (id(x), *graph_leaves(x).leaves)} & outside.keys()
            behind = {i for leaf in cut for i in graph_leaves(outside[leaf]).leaves}
            if any(id(x) in behind for x in inputs):
                _refuse_gradient()
        return plain(self, results, given, keep, create, inputs, *args, **options)

    return patches.within(Engine, "run_backward", run_backward)


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
    """A function mode for one run of a compiled function; it handles the tensors that were computed outside, and notes
    of which tensors the function asks for the memory."""

    def __init__(self, outside: dict[int, torch.Tensor]) -> None:
        super().__init__(IN_TRACES | control_flow.IN_TRACES)
        self.asked: set[Cell] = set()  # whose memory the run asked for
        self.own.update(dict.fromkeys(_OF_MEMORY, self.ask))
        self.outside = outside
        if outside:
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
        return False if id(x) in self.outside else NotImplemented

    def requires_grad_(self, x: torch.Tensor, requires_grad: bool = True) -> Any:
        """`x.requires_grad_(requires_grad)`."""
        if id(x) in self.outside and not requires_grad:
            x.clone().requires_grad_(False)  # raises torch's error
        return NotImplemented

    def _refusing(self, what: str) -> Any:
        def refuse(x: torch.Tensor, *_: Any) -> Any:
            if id(x) not in self.outside:
                return NotImplemented
            raise TraceError(
                f"a compiled function {what} a tensor that was computed outside{user_line()}, whose history differs in "
                "each call; do it outside, or detach the tensor"
            )

        return refuse


def translated(error: BaseException, outside: bool) -> TraceError | None:
    """Translate torch's errors about control flow and about a write to a leaf, which may have a history outside."""
    if _UNREAD in str(error):
        return TraceError(
            f"control flow within a compiled function{user_line(error)}: a branch or body reads an attribute of a "
            "module or object; read it before, in a variable, and call torch.nn.functional"
        )
    if not outside or not isinstance(error, RuntimeError) or _WRITTEN_LEAF not in str(error):
        return None
    return TraceError(
        f"an in-place operation within a compiled function{user_line(error)} writes to a tensor that requires a "
        "gradient: a leaf, or one that was computed outside, where later calls could not change its history. Write to "
        "a clone of it, or detach it"
    )


def _refuse_gradient(*_: Any) -> NoReturn:
    raise TraceError(
        f"a gradient within a compiled function reaches a tensor that was computed outside{user_line()}, and would end "
        "there. Detach the tensor, compute it within, or call backward() outside"
    )
