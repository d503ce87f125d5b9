"""The slots of a module's tensors with their names, and context managers that swap tensors or restore them.

A submodule registered under several names gives each of its tensors several names but one slot; a tied tensor has
several slots. torch's `functional_call` does not distinguish the two: it swaps a slot with two names twice, which
leaves the tensors of the call in the module.
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
    """An entry of a module's dict that holds one tensor, and all names of that entry."""

    holder: dict[str, Any]
    key: str
    persistent: bool = True  # not a buffer that `state_dict` omits
    names: list[str] = field(default_factory=list)

    @property
    def tensor(self) -> torch.Tensor:
        """The tensor currently in the slot."""
        tensor: torch.Tensor = self.holder[self.key]
        return tensor


def ties_of(module: nn.Module, *, attributes: bool = False) -> list[list[Slot]]:
    """The slots of a module's tensors, grouped by tensor, in the module's order.

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
    """The value that a state assigns to each slot of one tensor; the state has at least one of its names.

    A slot without a name in the state gets the value of the last slot that has one. Of several names of a slot, the
    last one wins, as in `load_state_dict`.
    """
    given = [[state[name] for name in slot.names if name in state] for slot in tie]
    last = next(values[-1] for values in reversed(given) if values)
    return [values[-1] if values else last for values in given]


@contextmanager
def with_tensors(module: nn.Module, tensors: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """Swap tensors of a module within a context, then restore them and all parameters and buffers.

    Args:
        module: the module.
        tensors: by the names of parameters, buffers and plain attributes. Tensors not named here are unchanged; a tied
            tensor needs one of its names.

    Raises:
        KeyError: a name is not a tensor of the module.
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
    """On exit, restore a module's parameters, buffers and submodules, and attributes that were set to tensors.

    These tensors belong to a trace. Such an attribute is for example a weight computed by a hook, or a cache.
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
    """Check that the module has tensors of these names.

    Raises:
        KeyError: it lacks one.
    """
    known = {name for tie in ties for slot in tie for name in slot.names}
    if unknown := [name for name in names if name not in known]:
        raise KeyError(f"{type(module).__name__} has no parameter or buffer {', '.join(unknown)}")
