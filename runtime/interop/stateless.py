"""A torch module as a pure function of JAX arrays: parameters and buffers in, outputs and buffers out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax
import torch
from torch import nn
from torch.func import functional_call

from ..device.convert import to_jax
from ..tracing.pure import draws, no_draw, run

State = dict[str, Any]


def functional(module: nn.Module) -> tuple[Callable[..., Any], State, State]:
    """A module as `(apply, params, buffers)`.

    `apply(params, buffers, *args, rng=None, **kwargs)` returns `(outputs, buffers)` and changes nothing: `module` keeps
    its own tensors, and only its structure is used. It runs in the train or eval mode that each submodule has now.

    Args:
        module: on device "jax", or on the CPU, of which the arrays are copies.

    Returns:
        `apply`, for any transformation of JAX; the parameters and the buffers by name, as `jax.Array`, a tied parameter
        once. `params` may go to `jax.grad` and to an optax optimizer.

    Raises:
        TypeError: `module` is no `nn.Module`.
    """
    pure = Pure(module)
    params, buffers = (to_jax(dict(named())) for named in (module.named_parameters, module.named_buffers))

    def apply(params: State, buffers: State, *args: Any, rng: jax.Array | None = None, **kwargs: Any) -> Any:
        outputs, state = pure({**params, **buffers}, args, kwargs, rng)
        return outputs, {name: state[name] for name in buffers}

    return apply, params, buffers


class Pure:
    """A module called with a state that is given."""

    def __init__(self, module: nn.Module) -> None:
        if not isinstance(module, nn.Module):
            raise TypeError(f"functional: got {type(module).__name__}; expected an nn.Module")
        self.module = module
        self.modes = [(m, m.training) for m in module.modules()]
        self.groups = _groups(module)

    def __call__(
        self, state: Mapping[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], rng: jax.Array | None
    ) -> tuple[Any, State]:
        """The outputs and the new state, under the names of the given one.

        Raises:
            KeyError: a parameter or buffer is missing, or the module has none of that name.
        """
        full = self.complete(state)

        def program(full: dict[str, torch.Tensor], args: Any, kwargs: Any) -> Any:
            with _in_modes(self.modes):
                outputs = functional_call(self.module, full, args, kwargs, tie_weights=False)
            return outputs, {name: full[name] for name in state if name in full}

        outputs, new = run(program, (full, args, kwargs), {}, no_draw if rng is None else draws(rng))
        return outputs, new

    def complete(self, state: Mapping[str, Any]) -> State:
        """A state with every name of the module: what is tied follows, what a `state_dict` leaves out is its own."""
        full: State = {}
        for names, tensor, optional in self.groups:
            given = [state[name] for name in names if name in state]
            if not given and not optional:
                raise KeyError(f"the state of {type(self.module).__name__} lacks {' = '.join(names)}")
            value = given[0] if given else to_jax(tensor.detach())
            full |= {name: state.get(name, value) for name in names}
        if unknown := [k for k, v in state.items() if k not in full and not k.endswith("_extra_state")]:
            raise KeyError(f"{type(self.module).__name__} has no parameter or buffer {', '.join(unknown)}")
        return full


class Functions:
    """Pure functions made of a module, one for each combination of train and eval modes; a copy begins with none."""

    def __init__(self, module: nn.Module, make: Callable[[Pure], Callable[..., Any]]) -> None:
        self.module = module
        self.make = make
        self.made: dict[tuple[bool, ...], Callable[..., Any]] = {}

    def now(self) -> Callable[..., Any]:
        """The function for the modes of now; the same object for the same modes, as `call_jax` wants it."""
        modes = tuple(m.training for m in self.module.modules())
        if modes not in self.made:
            self.made[modes] = self.make(Pure(self.module))
        return self.made[modes]


def _groups(module: nn.Module) -> list[tuple[list[str], torch.Tensor, bool]]:
    """The names of each tensor of the module, and whether a `state_dict` leaves it out."""
    groups: dict[int, tuple[list[str], torch.Tensor, bool]] = {}
    kept = module.state_dict(keep_vars=True)
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            groups.setdefault(id(tensor), ([], tensor, name not in kept))[0].append(name)
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
