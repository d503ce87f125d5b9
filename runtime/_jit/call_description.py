"""Describes calls of a compiled function, so that `tenax.explain` can say what differed from the call before."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container
from typing import Any

import torch

from .._torch import NAME, pytree
from ..storage.tensors import covers_array
from .host_script import is_passable
from .lines import module_called_by
from .sources import given_attributes, is_plain

_MOST = 3  # differences in one reason
_LONG = 60  # characters of one value in a reason


class CallDescription:
    """The arguments of a call and torch's modes, as text by name; a number that is an input has no value."""

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, modes: dict[str, Any], passed: Container[int]
    ) -> None:
        """`passed` are the positions of the leaves of the arguments that are inputs if they are numbers."""
        self.passed = passed
        self.leaves: list[str] = []  # the names of the leaves
        self.arrays: dict[int, list[tuple[str, Any]]] = {}  # by the id of the cell, the arguments that share it
        self.texts: dict[str, str] = {}
        self.containers: dict[str, str] = {}
        names = _parameters(function)
        for i, value in enumerate(args):
            self._add(names[i] if i < len(names) else f"argument {i}", value)
        for name, value in kwargs.items():
            self._add(name, value)
        self.arrays.clear()
        self.containers |= {
            "the number of positional arguments": str(len(args)),
            "the list of keywords": str([*kwargs]),
        }
        self.texts |= {name: {True: "on", False: "off"}.get(mode, _short(mode)) for name, mode in modes.items()}

    def difference(self, before: CallDescription) -> str:
        """What differs from an earlier call, as text; empty if the descriptions are equal."""
        found = _differences(before.texts, self.texts) or _differences(before.containers, self.containers)
        rest = f"; {len(found) - _MOST} more" if len(found) > _MOST else ""
        return "; ".join(found[:_MOST]) + rest

    def _add(self, name: str, value: Any) -> None:
        """Describe an argument, or a part of one, and its own parts."""
        parts, spec = pytree.tree_flatten(value, is_leaf=lambda part: part is not value)
        if spec.type is None:
            self.texts[name] = self._described(name, value)
            self.leaves.append(name)
            return
        self.containers[name] = f"a {type(value).__name__}" + (f" of {spec.context}" if spec.context else "")
        keyed = pytree.SUPPORTED_NODES[spec.type].flatten_with_keys_fn
        keys = [f"[{i}]" for i in range(len(parts))] if keyed is None else [str(key) for key, _ in keyed(value)[0]]
        for key, part in zip(keys, parts, strict=True):
            self._add(name + key, part)

    def _described(self, name: str, value: Any) -> str:
        if not isinstance(value, torch.Tensor):
            if not is_plain(value):
                return f"<{type(value).__name__} at {id(value):#x}>"
            passed = len(self.leaves) in self.passed and is_passable(value)
            return f"some {type(value).__name__}" if passed else repr(value)
        kind = "" if type(value) is torch.Tensor else f"{type(value).__name__} "
        text = f"{kind}{_short(value.dtype)}{[*value.shape]}"
        if value.layout is not torch.strided:
            text += f" of layout {_short(value.layout)} at {id(value):#x}"
        elif not value.is_contiguous():
            text += f" of strides {value.stride()}"
        elif value.storage_offset():
            text += f" at offset {value.storage_offset()}"
        text += " conjugated" * value.is_conj() + " negated" * value.is_neg()
        if value.requires_grad:
            text += " that requires grad" if value.is_leaf else " with a history"
        cell = getattr(value.untyped_storage(), "cell", None) if value.layout is torch.strided else None
        if cell is not None:
            sharing = self.arrays.setdefault(id(cell), [])
            same = next((other for other, tensor in sharing if tensor is value), None)
            if same or sharing:
                text += f", the same tensor as {same}" if same else f", sharing memory with {sharing[0][0]}"
            elif value.is_contiguous() and cell.nbytes > value.nbytes and not covers_array(value, cell):
                text += f", a part of {cell.nbytes} bytes"
            sharing.append((name, value))
        for attribute, held in given_attributes(value).items():
            shown = repr(held) if is_plain(held) else f"<{type(held).__name__} at {id(held):#x}>"
            text += f", with {attribute}={shown}"
        return text if value.device == torch.device(NAME, 0) else f"{text} on {value.device}"


def changed(name: str, old: str, new: str) -> str:
    """What a value was and is, as text; of long ones only the part that differs."""
    kind, address, _ = old.partition(" at 0x")
    if kind.startswith("<") and new.startswith(f"{kind}{address}"):
        return f"{name} is another {kind[1:]}"
    if max(len(old), len(new)) > _LONG:
        length = min(len(old), len(new))
        start = max(0, next((i for i in range(length) if old[i] != new[i]), length) - 20)
        old, new = (
            "..." * bool(start) + text[start:][:_LONG] + "..." * (len(text) > start + _LONG) for text in (old, new)
        )
    return f"{name} was {old} and is {new}"


def _differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    found = []
    for name in before | now:
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            found.append(f"{name} is gone" if new is None else f"{name} is new: {new[:_LONG]}")
        elif old != new:
            found.append(changed(name, old, new))
    return found


def _parameters(function: Callable[..., Any]) -> list[str]:
    """The names of a function's positional parameters."""
    module = module_called_by(function)
    try:
        parameters = inspect.signature(function if module is None else module.forward).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]


def _short(name: Any) -> str:
    return str(name).removeprefix("torch.")
