"""A torch module as a pure function of JAX arrays: parameters and buffers in, outputs and buffers out.

The tensors of a module are in slots. A submodule registered under several names gives each of its tensors several names
but one slot; a tied tensor has several slots. torch's `functional_call` does not distinguish the two: it swaps a slot
with two names twice, which leaves the tensors of the call in the module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax
import torch
from torch import nn

from .._torch.modules import EXTRA_STATE_SUFFIX
from .._torch.pytree import tree_leaves
from ..functional.keys import keys_from
from ..functional.pure import run_pure
from ..trace.transfer import to_jax

State = dict[str, Any]


def functional(module: nn.Module) -> tuple[Callable[..., Any], State, State]:
    """Convert a module to `(apply, params, buffers)`.

    `apply(params, buffers, *args, rng=None, **kwargs)` returns `(outputs, buffers)` and has no side effects: it uses
    only the structure of `module`, whose tensors do not change. Each submodule runs in the train or eval mode that it
    has when it is converted.

    Args:
        module: a module on device "jax", or on the CPU, whose arrays are then copies.

    Returns:
        `apply`, which works with any JAX transformation; and the parameters and the buffers by name, as `jax.Array`,
        tied parameters once. `params` may be passed to `jax.grad` and to an optax optimizer.

    Raises:
        TypeError: `module` is not an `nn.Module`.
    """
    pure = FunctionalModule(module)
    params, buffers = (to_jax(dict(named())) for named in (module.named_parameters, module.named_buffers))

    def apply(params: State, buffers: State, *args: Any, rng: jax.Array | None = None, **kwargs: Any) -> Any:
        return pure.apply(params, buffers, args, kwargs, rng)

    return apply, params, buffers


class FunctionalModule:
    """Calls a module with an explicit state.

    The module itself does not change, even if `forward` replaces a buffer or raises.
    """

    def __init__(self, module: nn.Module) -> None:
        if not isinstance(module, nn.Module):
            raise TypeError(f"functional: got {type(module).__name__}; expected an nn.Module")
        self.module = module
        self.modes = [(m, m.training) for m in module.modules()]
        self.ties = ties_of(module)
        self.saved = frozenset(module.state_dict(keep_vars=True))

    def __call__(
        self, state: Mapping[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], rng: jax.Array | None
    ) -> tuple[Any, State]:
        """Return the outputs, and the new state under the names of `state`.

        Raises:
            KeyError: a parameter or buffer is missing, or a name does not exist in the module.
        """
        require_known_names(self.module, self.ties, [k for k in state if not k.endswith(EXTRA_STATE_SUFFIX)])
        values = [self.complete(tie, state) for tie in self.ties]
        # Slots with the same value share one tensor, so that a write is visible under all names.
        distinct = [list({id(v): v for v in group}.values()) for group in values]
        numbers = [[[id(v) for v in d].index(id(v)) for v in group] for group, d in zip(values, distinct, strict=True)]

        def program(distinct: list[list[torch.Tensor]], args: Any, kwargs: Any) -> Any:
            with unchanged(self.module), _in_modes(self.modes):
                for tie, tensors, own in zip(self.ties, distinct, numbers, strict=True):
                    for slot, number in zip(tie, own, strict=True):
                        slot.holder[slot.key] = tensors[number]
                outputs = self.module(*args, **kwargs)
                new = {name: s.holder.get(s.key) for tie in self.ties for s in tie for name in s.names if name in state}
            return outputs, {name: new[name] for name in state if name in new}

        outputs, new = run_pure(program, (distinct, args, kwargs), {}, keys_from(rng))
        return outputs, new

    def apply(self, params: State, buffers: State, args: Any, kwargs: Any, rng: jax.Array | None) -> tuple[Any, State]:
        """Return the outputs and the new buffers."""
        outputs, state = self({**params, **buffers}, args, kwargs, rng)
        return outputs, {name: state[name] for name in buffers}

    def state(self) -> State:
        """The current parameters and persistent buffers of the module, tied ones under each of their names."""
        state: State = {}
        for tie in self.ties:
            if names := [name for slot in tie if slot.persistent for name in slot.names]:
                state |= dict.fromkeys(names, to_jax(tie[0].tensor.detach()))
        return state

    def complete(self, tie: list[Slot], state: Mapping[str, Any]) -> list[Any]:
        """The value for each slot of a tensor. The state may omit tied names, and tensors that `state_dict` omits.

        Raises:
            KeyError: the state has none of the tensor's names.
        """
        names = [name for slot in tie for name in slot.names]
        if any(name in state for name in names):
            return values_for(tie, state)
        if any(name in self.saved for name in names):
            raise KeyError(f"the state of {type(self.module).__name__} lacks {' = '.join(names)}")
        return [to_jax(tie[0].tensor.detach())] * len(tie)


@contextmanager
def _in_modes(modes: list[tuple[nn.Module, bool]]) -> Iterator[None]:
    before = [m.training for m, _ in modes]
    for m, training in modes:
        m.training = training
    try:
        yield
    finally:
        for (m, _), training in zip(modes, before, strict=True):
            m.training = training


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
