"""A torch module as a pure function of JAX arrays: parameters and buffers in, outputs and buffers out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax
import torch
from torch import nn
from torch.func import functional_call

from .._torch.modules import EXTRA_STATE_SUFFIX
from ..functional.keys import keys_from, refuse_draw
from ..functional.pure import run_pure
from ..trace.transfer import to_jax

State = dict[str, Any]


def functional(module: nn.Module) -> tuple[Callable[..., Any], State, State]:
    """Convert a module to `(apply, params, buffers)`.

    `apply(params, buffers, *args, rng=None, **kwargs)` returns `(outputs, buffers)` and has no side effects: it uses
    only the structure of `module`, whose tensors do not change. Each submodule runs in the train or eval mode that it
    has at the conversion.

    Args:
        module: a module on device "jax", or on the CPU, whose arrays are then copies.

    Returns:
        `apply`, to which any JAX transformation applies; the parameters and the buffers by name, as `jax.Array`, with
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
    """A module that is called with an explicit state."""

    def __init__(self, module: nn.Module) -> None:
        if not isinstance(module, nn.Module):
            raise TypeError(f"functional: got {type(module).__name__}; expected an nn.Module")
        self.module = module
        self.modes = [(m, m.training) for m in module.modules()]
        self.groups = _groups(module)

    def __call__(
        self, state: Mapping[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], rng: jax.Array | None
    ) -> tuple[Any, State]:
        """Return the outputs, and the new state under the names of `state`.

        Raises:
            KeyError: a parameter or buffer is missing, or a name does not exist in the module.
        """
        full = self.complete(state)

        def program(full: dict[str, torch.Tensor], args: Any, kwargs: Any) -> Any:
            with _in_modes(self.modes):
                outputs = functional_call(self.module, full, args, kwargs, tie_weights=False)
            return outputs, {name: full[name] for name in state if name in full}

        outputs, new = run_pure(program, (full, args, kwargs), {}, refuse_draw if rng is None else keys_from(rng))
        return outputs, new

    def complete(self, state: Mapping[str, Any]) -> State:
        """Fill in the names that `state` omits: tied tensors, and tensors that a `state_dict` does not contain."""
        full: State = {}
        for names, tensor, optional in self.groups:
            values = [state[name] for name in names if name in state]
            if not values and not optional:
                raise KeyError(f"the state of {type(self.module).__name__} lacks {' = '.join(names)}")
            value = values[0] if values else to_jax(tensor.detach())
            full |= {name: state.get(name, value) for name in names}
        if unknown := [k for k, v in state.items() if k not in full and not k.endswith(EXTRA_STATE_SUFFIX)]:
            raise KeyError(f"{type(self.module).__name__} has no parameter or buffer {', '.join(unknown)}")
        return full


class FunctionsByMode:
    """Pure functions of a module, one per combination of train and eval modes. Copies start empty."""

    def __init__(self, module: nn.Module, make: Callable[[FunctionalModule], Callable[..., Any]]) -> None:
        self.module = module
        self.make = make
        self.functions: dict[tuple[bool, ...], Callable[..., Any]] = {}

    def now(self) -> Callable[..., Any]:
        """The function for the current modes. Equal modes return the same object, which `call_jax` requires."""
        modes = tuple(m.training for m in self.module.modules())
        if modes not in self.functions:
            self.functions[modes] = self.make(FunctionalModule(self.module))
        return self.functions[modes]


def _groups(module: nn.Module) -> list[tuple[list[str], torch.Tensor, bool]]:
    """The names of each tensor of the module, the tensor, and whether the `state_dict` omits it."""
    groups: dict[int, tuple[list[str], torch.Tensor, bool]] = {}
    saved = module.state_dict(keep_vars=True)
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            groups.setdefault(id(tensor), ([], tensor, name not in saved))[0].append(name)
    return list(groups.values())


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
