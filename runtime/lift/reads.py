"""Which attributes of modules and plain objects, and gradients, a run reads. The others may change between calls.

A step is often a method of an object that also counts steps and keeps losses. While the function is traced, the
classes of the objects that it reaches note what is asked of their instances.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from .slots import Class, Context, Slots

# The functions that look one name up in a `__dict__`.
_LOOKUPS = {
    function.__code__
    for function in (torch.nn.Module.__getattr__, torch.nn.Module.__setattr__, functools.cached_property.__get__)
}


class Reads:
    """The names that were read, by object."""

    def __init__(self, objects: Sequence[Any], slots: dict[int, Slots | Class | Context], named: set[str]) -> None:
        """`slots` are the mappings of classes, context variables and objects that have slots, by id; `named` the
        attributes that the code of the reached functions names."""
        self.named = named
        self._objects = objects  # whose ids are theirs for as long as they live
        self.slots = slots
        self._names: dict[int, set[str]] = {id(o): set() for o in objects}
        self.made: dict[int, list[Any]] = {}  # the entries that the run made, by the id of their container
        self.gradients: set[int] = set()  # the ids of the tensors that were asked for theirs

    @contextmanager
    def attached(self, gradients: bool = True) -> Iterator[None]:
        """While the function is traced; without `gradients`, who asks for those is not noted."""
        classes = list({type(o) for o in self._objects})
        plain = [c.__getattribute__ for c in classes]
        replaced: list[tuple[type, Any]] = []
        if gradients:
            torch.Tensor.grad = self._gradient()  # type: ignore[assignment]
        try:
            for cls, method in zip(classes, plain, strict=True):
                own = vars(cls).get("__getattribute__")
                try:
                    cls.__getattribute__ = self._noting(method)
                except (TypeError, AttributeError):  # a class that cannot be changed: all counts as read
                    for o in self._objects:
                        if type(o) is cls:
                            self._names.pop(id(o), None)
                else:
                    replaced.append((cls, own))
            yield
        finally:
            if gradients:
                del torch.Tensor.grad  # which it inherits
            for cls, own in replaced:
                if own is None:
                    del cls.__getattribute__
                else:
                    cls.__getattribute__ = own

    def _gradient(self) -> property:
        asked: set[int] = self.gradients
        plain: Any = torch._C.TensorBase.grad

        def get(tensor: torch.Tensor) -> Any:
            asked.add(id(tensor))
            return plain.__get__(tensor)

        def put(tensor: torch.Tensor, value: Any) -> None:
            asked.add(id(tensor))  # backward asks in C++, and what it made of the answer may be gone now
            plain.__set__(tensor, value)

        return property(get, put, plain.__delete__)

    def _noting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        names = self._names

        def __getattribute__(self: Any, name: str) -> Any:  # noqa: N807
            found = names.get(id(self))
            if found is not None and not (name == "__dict__" and sys._getframe(1).f_code in _LOOKUPS):
                found.add(name)
            return plain(self, name)

        return __getattribute__

    def of(self, value: Any) -> set[str] | None:
        """The attributes of an object that were read; None for all."""
        found = self._names.get(id(value))
        return None if found is None or "__dict__" in found else found
