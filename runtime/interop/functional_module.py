"""A torch module as a pure function of JAX arrays: parameters and buffers in, outputs and buffers out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax
import torch
from torch import nn

from .._torch.modules import EXTRA_STATE_SUFFIX
from ..functional.keys import keys_from
from ..functional.pure import run_pure
from ..trace.transfer import to_jax
from .module_tensors import Slot, require_known_names, ties_of, unchanged, values_for

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
        outputs, state = pure({**params, **buffers}, args, kwargs, rng)
        return outputs, {name: state[name] for name in buffers}

    return apply, params, buffers


class FunctionalModule:
    """Calls a method of a module with an explicit state.

    The module itself does not change, even if the method replaces a buffer or raises.
    """

    def __init__(self, module: nn.Module, method: str = "__call__") -> None:
        if not isinstance(module, nn.Module):
            raise TypeError(f"functional: got {type(module).__name__}; expected an nn.Module")
        self.module = module
        self.method = method
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
                outputs = getattr(self.module, self.method)(*args, **kwargs)
                new = {name: s.holder.get(s.key) for tie in self.ties for s in tie for name in s.names if name in state}
            return outputs, {name: new[name] for name in state if name in new}

        outputs, new = run_pure(program, (distinct, args, kwargs), {}, keys_from(rng))
        return outputs, new

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


class FunctionsByMode:
    """Pure functions of a module, one per combination of train and eval modes. Copies start empty."""

    def __init__(self, module: nn.Module, make: Callable[[FunctionalModule], Callable[..., Any]]) -> None:
        self.module = module
        self.make = make
        self.functions: dict[tuple[bool, ...], Callable[..., Any]] = {}

    def now(self) -> Callable[..., Any]:
        """The function for the current modes; the same object for the same modes, as `call_jax` requires."""
        modes = tuple(m.training for m in self.module.modules())
        if modes not in self.functions:
            self.functions[modes] = self.make(FunctionalModule(self.module))
        return self.functions[modes]


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
