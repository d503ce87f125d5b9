"""The parameters and buffers of a module by name, and a module that has other tensors for a while.

A submodule that is registered under several names has several names for each of its tensors, which are in one place. A
tied tensor is in several places. torch's `functional_call` tells neither apart, and swaps a place with two names twice,
so that the module keeps the tensors of the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from .._torch.pytree import tree_leaves


@dataclass(frozen=True)
class Slot:
    """A place of a module for one tensor: an entry of a dict, and the names by which the module knows it."""

    holder: dict[str, Any]
    key: str
    persistent: bool = True  # not a buffer that `state_dict` omits
    names: list[str] = field(default_factory=list)

    @property
    def tensor(self) -> torch.Tensor:
        """The tensor that is there now."""
        tensor: torch.Tensor = self.holder[self.key]
        return tensor


def ties_of(module: nn.Module, *, attributes: bool = False) -> list[list[Slot]]:
    """The places of a module's tensors, those of one tensor together, in the order of the module.

    Args:
        module: the module.
        attributes: include tensors that are plain attributes of submodules.
    """
    slots: dict[tuple[int, str], Slot] = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for holder in (owner._parameters, owner._buffers, *([vars(owner)] if attributes else [])):
            for key, value in holder.items():
                if isinstance(value, torch.Tensor):
                    persistent = holder is not owner._buffers or key not in owner._non_persistent_buffers_set
                    slot = slots.setdefault((id(holder), key), Slot(holder, key, persistent))
                    slot.names.append(f"{prefix}.{key}" if prefix else key)
    ties: dict[int, list[Slot]] = {}
    for slot in slots.values():
        ties.setdefault(id(slot.tensor), []).append(slot)
    return list(ties.values())


def values_for(tie: list[Slot], state: Mapping[str, Any]) -> list[Any]:
    """The value of each place of a tensor according to a state, which names at least one of them.

    A place whose names are not given has the value of the others. Of several names, the last one counts, as in
    `load_state_dict`.
    """
    given = [[state[name] for name in slot.names if name in state] for slot in tie]
    last = next(values[-1] for values in reversed(given) if values)
    return [values[-1] if values else last for values in given]


@contextmanager
def with_tensors(module: nn.Module, tensors: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """Let a module have other tensors; afterwards its parameters and buffers are what they were before.

    Args:
        module: the module.
        tensors: by the names of parameters, buffers and plain attributes. Tensors without a name here stay; a tied
            tensor needs one of its names.

    Raises:
        KeyError: the module has no tensor of a name.
    """
    ties = ties_of(module, attributes=True)
    require_known_names(module, ties, tensors)
    named = [tie for tie in ties if any(name in tensors for slot in tie for name in slot.names)]
    holders = [holder for m in module.modules() for holder in (m._parameters, m._buffers)]
    before = [(slot, slot.tensor) for tie in named for slot in tie], [(holder, dict(holder)) for holder in holders]
    try:
        for tie in named:
            for slot, tensor in zip(tie, values_for(tie, tensors), strict=True):
                slot.holder[slot.key] = tensor
        yield
    finally:
        for slot, tensor in before[0]:
            slot.holder[slot.key] = tensor
        _put_back(before[1])


@contextmanager
def unchanged(module: nn.Module) -> Iterator[None]:
    """Put back the parameters, buffers and submodules of a module, and each attribute that was set to tensors.

    These tensors belong to a trace. An attribute is a weight that a hook computes, or a cache.
    """
    modules = list(module.modules())
    before = [(holder, dict(holder)) for m in modules for holder in (m._parameters, m._buffers, m._modules)]
    attributes = [(vars(m), dict(vars(m))) for m in modules]
    try:
        yield
    finally:
        _put_back(before)
        for now, old in attributes:
            for name, value in list(now.items()):
                if value is not old.get(name) and any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(value)):
                    if name in old:
                        now[name] = old[name]
                    else:
                        del now[name]


def _put_back(before: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for holder, entries in before:
        holder.clear()
        holder.update(entries)


def require_known_names(module: nn.Module, ties: list[list[Slot]], names: Iterable[str]) -> None:
    """Check names of tensors.

    Raises:
        KeyError: the module has no tensor of a name.
    """
    known = {name for tie in ties for slot in tie for name in slot.names}
    if unknown := [name for name in names if name not in known]:
        raise KeyError(f"{type(module).__name__} has no parameter or buffer {', '.join(unknown)}")
