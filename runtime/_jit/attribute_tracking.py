"""Tracks which attributes of modules and plain objects, and which gradients, a run reads or writes.

All others may change between calls. A step is often a method of an object that also counts steps and keeps losses.
While the function is traced, the classes of the reached objects record which attributes of their instances are read.
A write of the value that was already there counts as a read: if `model.train()` changed nothing in the run, it must
still take effect in a call that finds another mode.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import torch
from torch.optim.lr_scheduler import LRScheduler

from .. import patches
from .._torch.autograd import GRAD

# The functions that look one name up in a `__dict__`.
_LOOKUPS = {
    function.__code__
    for function in (
        *(torch.nn.Module.__getattr__, torch.nn.Module.__setattr__, functools.cached_property.__get__),
        *(torch.nn.Module.register_buffer, torch.nn.Module.register_parameter),
    )
}
# A gradient that these set to None, and that the run then makes anew, may be there before a call or not.
_ZERO_GRAD = {inspect.unwrap(cls.zero_grad).__code__ for cls in (torch.nn.Module, torch.optim.Optimizer)}


def _is_of_scheduler(owner: Any, frame: FrameType | None) -> bool:
    """Whether a scheduler uses its own attribute in `frame`, as in its steps, which each call makes on the host. What
    `get_last_lr` gives to others counts as read by them."""
    if not issubclass(type(owner), LRScheduler):
        return False
    if frame is None or frame.f_globals.get("__name__") != LRScheduler.__module__:
        return False
    return frame.f_code.co_name != "get_last_lr" or _is_of_scheduler(owner, frame.f_back)


class AttributeReads:
    """Records the names of the attributes that are read, by object."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._objects = [*objects]  # kept alive, so that their ids stay valid
        self._names: dict[int, set[str]] = {id(o): set() for o in self._objects}
        self._written: dict[int, set[str]] = {id(o): set() for o in self._objects}
        self.gradients: set[int] = set()  # the ids of the tensors whose gradients are read
        self.cleared: set[int] = set()  # and of those that have none, which `zero_grad` found first
        self.missed: dict[int, set[str]] = {}  # attributes that were looked up on tensors and missing, by tensor id

    @contextmanager
    def attached(self, gradients: bool = True) -> Iterator[None]:
        """Record while the function is traced; reads of gradients only if `gradients` is True."""
        # Those of a subclass are looked up before those of its base are replaced.
        methods = {cls: (cls.__getattribute__, cls.__setattr__) for cls in map(type, self._objects)}
        with ExitStack() as undo:
            if gradients:
                undo.enter_context(patches.temporarily("torch.Tensor.grad", self._gradient()))
            undo.enter_context(patches.temporarily("torch.Tensor.__getattr__", self._recording_misses()))
            for cls, (read, write) in methods.items():
                try:
                    undo.enter_context(patches.within(cls, "__getattribute__", self._recording(read)))
                except (TypeError, AttributeError):  # a class that cannot be changed: all attributes count as read
                    for o in self._objects:
                        if type(o) is cls:
                            self._names.pop(id(o), None)
                else:
                    undo.enter_context(patches.within(cls, "__setattr__", self._recording_writes(write)))
            yield

    def _recording_misses(self) -> Callable[[torch.Tensor, str], Any]:
        missed = self.missed

        def __getattr__(self: torch.Tensor, name: str) -> Any:  # noqa: N807
            missed.setdefault(id(self), set()).add(name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

        return __getattr__

    def _gradient(self) -> property:
        read, cleared = self.gradients, self.cleared

        def get(tensor: torch.Tensor) -> Any:
            new = id(tensor) not in read and id(tensor) not in cleared
            if new:  # before the read, which comes here again through the function mode
                clears = (frame := sys._getframe(1)).f_code in _ZERO_GRAD and frame.f_locals["set_to_none"]
                (cleared if clears else read).add(id(tensor))
            value = GRAD.__get__(tensor)
            if new and value is not None:
                read.add(id(tensor))
                cleared.discard(id(tensor))
            return value

        def put(tensor: torch.Tensor, value: Any) -> None:
            if id(tensor) not in cleared:
                read.add(id(tensor))  # backward may have read it in C++ before this write
            GRAD.__set__(tensor, value)

        return property(get, put, lambda tensor: put(tensor, None))

    def _recording(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        names, written = self._names, self._written

        def __getattribute__(self: Any, name: str) -> Any:  # noqa: N807
            read = names.get(id(self))
            if (
                read is not None
                and name not in written[id(self)]  # a read of the run's own value
                and not (name == "__dict__" and sys._getframe(1).f_code in _LOOKUPS)
                and not _is_of_scheduler(self, sys._getframe(1))
            ):
                read.add(name)
            return plain(self, name)

        return __getattribute__

    def _recording_writes(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        names = self._written

        def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
            written = names.get(id(self))
            if written is not None and not _is_of_scheduler(self, sys._getframe(1)):
                written.add(name)
            plain(self, name, value)

        return __setattr__

    def written(self, value: Any) -> set[str]:
        """The names of the attributes of an object that were written."""
        return self._written.get(id(value), set())

    def of(self, value: Any) -> set[str] | None:
        """The names of the attributes of an object that were read; None means all."""
        names = self._names.get(id(value))
        return None if names is None or "__dict__" in names else names
