"""Patterns of rebound state: tensors and containers that each call compares by structure instead of identity.

A pattern is walked in parallel with the value. Which of the tensors and containers are the same object is part of it.
"""

from __future__ import annotations

import types
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

import torch

from .container_adapters import SlotAttributes
from .sources import MISSING, elements_of, is_plain, methods_of, same_value
from .tensor_hooks import tables_of

_TRAINED = torch.nn.Module, torch.optim.Optimizer
_CODE = type, types.ModuleType, types.FunctionType
Numbers = dict[int, int]  # the order in which tensors and containers were met, by id


@dataclass(frozen=True, slots=True)
class SamePattern:
    """A value that is compared by `same_value`."""

    path: str
    value: Any

    def difference(self, value: Any, seen: Numbers) -> str:
        """How a value differs from the pattern; empty if it matches."""
        if same_value(self.value, value):
            return ""
        if self.value is MISSING:
            return f"{self.path} was nothing"
        known = is_plain(self.value) and is_plain(value)
        return f"{self.path} " + (f"was {self.value!r} and is {value!r}" if known else "is another one")


@dataclass(frozen=True, slots=True)
class NumberPattern:
    """A number that each call passes to the program."""

    path: str

    def difference(self, value: Any, seen: Numbers) -> str:
        """Always empty: `HostNumbers` decides for which numbers the program is valid."""
        return ""


@dataclass(slots=True)
class ObjectPattern:
    """A tensor, whose memory and geometry are compared by a slot, or a list, tuple, deque, set, dict or object."""

    path: str
    number: int
    cls: type
    option: Any = None  # as from `option_of`
    keys: tuple[Any, ...] | None = None  # of a dict
    elements: list[Pattern] | None = None
    # In a `__dict__`, or, if the first is True, in slots; and whether there may be no others. Some may be MISSING.
    attributes: list[tuple[bool, dict[str, Pattern], bool]] = field(default_factory=list)

    def difference(self, value: Any, seen: Numbers) -> str:
        """How a value differs from the pattern; empty if it matches."""
        known = id(value) in seen
        if type(value) is not self.cls or seen.setdefault(id(value), len(seen)) != self.number:
            tensor = issubclass(self.cls, torch.Tensor)
            return f"{self.path} is " + (
                "not a tensor like the one that it was" if tensor else "of another class, or another one"
            )
        if known:
            return ""
        if (option := option_of(value)) is not self.option and option != self.option:
            tensor = issubclass(self.cls, torch.Tensor)
            what = "has another history, hooks or a gradient" if tensor else "is bounded otherwise, or has another"
            return f"{self.path} {what}" + " default_factory" * (not tensor)
        for slots, attributes, whole in self.attributes:
            found = SlotAttributes(value, None if whole else tuple(attributes)) if slots else value.__dict__
            if whole and len(found) != len(attributes):
                return f"{self.path} has other attributes"
            for name, pattern in attributes.items():
                if reason := pattern.difference(found.get(name, MISSING), seen):
                    return reason
        return self.elements_difference(value, seen)

    def elements_difference(self, value: Any, seen: Numbers) -> str:
        """How the elements alone differ from the pattern; empty if they match."""
        elements = self.elements
        if elements is None:
            return ""
        found = [*elements_of(value)]
        if len(found) != len(elements):
            return f"len({self.path}) was {len(elements)} and is {len(found)}"
        if self.keys is not None:
            if not all(map(same_value, self.keys, found)):
                return f"{self.path} has other keys"
            found = [*methods_of(value).values(value)]
        for pattern, element in zip(elements, found, strict=True):
            if reason := pattern.difference(element, seen):
                return reason
        return ""


Pattern = SamePattern | NumberPattern | ObjectPattern


def option_of(value: Any) -> Any:
    """What else must be equal: of a tensor, whether it is a leaf and has no hooks and no gradient; the `maxlen` of a
    deque; the `default_factory` of a defaultdict."""
    if isinstance(value, torch.Tensor):
        return value.is_leaf, is_bare(value)
    if isinstance(value, deque):
        return value.maxlen
    return value.default_factory if isinstance(value, defaultdict) else None


def is_bare(tensor: torch.Tensor) -> bool:
    """Whether a tensor has no hooks and no gradient."""
    return not tables_of(tensor) and not (tensor.is_leaf and tensor.grad is not None)


def may_have_pattern(value: Any) -> bool:
    """Whether another object may replace a value: not a module, an optimizer or code, of which more matters."""
    return value is not MISSING and not is_plain(value) and not isinstance(value, (*_TRAINED, *_CODE))


def is_batch(value: Any) -> bool:
    """Whether an object has the look of a batch: it holds tensors without gradients, itself or in dicts, and nothing to
    train."""
    held = [*(value.__dict__ if hasattr(value, "__dict__") else SlotAttributes(value)).values()]
    held += [x for part in held if isinstance(part, dict) for x in dict.values(part)]
    tensors = any(isinstance(x, torch.Tensor) and not x.requires_grad for x in held)
    return tensors and not any(isinstance(x, _TRAINED) for x in held)


def is_container(value: Any) -> bool:
    """Whether a value has elements."""
    return isinstance(value, (list, tuple, dict, deque, set, frozenset)) and not isinstance(value, torch.Size)
