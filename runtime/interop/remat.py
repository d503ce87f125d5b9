"""Rematerialisation by JAX: the inside of a function is computed again for its gradient, and not kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import torch
from torch import nn

from ..device.convert import from_jax, to_jax
from ..dispatch.call import key as new_key
from ..tracing.pure import draws, inherited, no_draw, run
from ..tracing.trace import current
from .calls import call_jax
from .stateless import Functions, Pure


def checkpoint(function: Callable[..., Any], *, policy: Callable[..., bool] | None = None) -> Callable[..., Any]:
    """A torch function or module whose inside is computed again for the gradient: `jax.checkpoint` of it.

    Args:
        function: an `nn.Module` on device "jax", whose parameters get their gradients and whose buffers are updated as
            without `checkpoint`; or a function, which then runs by `torch.utils.checkpoint` where torch takes the
            gradient, so that tensors it closes over get theirs.
        policy: which values to keep, as `jax.checkpoint` takes it (`jax.checkpoint_policies`).

    Returns:
        A function of the same arguments, for torch and, in a pure function, for JAX.

    Raises:
        NotImplementedError: at a call, a `policy` for a function where torch takes the gradient.
    """
    if isinstance(function, nn.Module):
        return over_module(function, functools.partial(jax.checkpoint, policy=policy))

    @functools.wraps(function)
    def again(*args: Any, **kwargs: Any) -> Any:
        trace = current()
        if trace is not None and not trace.lifts:
            key = inherited()
            once = over_arrays(functools.partial(jax.checkpoint, policy=policy), functools.partial(_run, function, key))
            return from_jax(once(*to_jax((args, kwargs))))
        if policy is not None:
            raise NotImplementedError("checkpoint: a policy for a function in torch's autograd; expected an nn.Module")
        from torch.utils.checkpoint import checkpoint as torchs

        return torchs(function, *args, use_reentrant=False, **kwargs)

    return again


def _run(function: Callable[..., Any], key: Any, args: Any, kwargs: Any) -> Any:
    return run(function, args, kwargs, no_draw if key is None else draws(key))


def over_module(module: nn.Module, transform: Callable[..., Any]) -> OverModule:
    """A module whose call is that of a pure function, of its tensors too, under a transformation of JAX."""
    return OverModule(module, Functions(module, lambda pure: over_arrays(transform, _stateless(pure))))


class OverModule:
    """A module, called by functions of its state."""

    def __init__(self, module: nn.Module, functions: Functions) -> None:
        self.module = module
        self.functions = functions

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        params, buffers, now = kept(self.module)
        key = drawn(next((t.device for t in (*params.values(), *buffers.values())), torch.device("jax")))
        outputs, new = call_jax(self.functions.now(), params, now, key, args, kwargs)
        stored(buffers, new)
        return outputs


def _stateless(pure: Pure) -> Callable[..., Any]:
    def call(params: Any, buffers: Any, key: Any, args: Any, kwargs: Any) -> Any:
        mine = None if key is None else jax.random.wrap_key_data(key)
        outputs, state = pure({**params, **buffers}, args, kwargs, mine)
        return outputs, {name: state[name] for name in buffers}

    return call


def over_arrays(transform: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function under a transformation of JAX that takes arrays only: its other arguments are constants to it."""

    def call(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

        def of_arrays(*arrays: jax.Array) -> Any:
            full = list(leaves)
            for i, array in zip(places, arrays, strict=True):
                full[i] = array
            return function(*jax.tree.unflatten(tree, full))

        return transform(of_arrays)(*(leaves[i] for i in places))

    return call


def drawn(device: torch.device) -> torch.Tensor | None:
    """Key data for a function of arrays, from the device's stream; None in a pure function without a key."""
    trace = current()
    return None if trace is not None and trace.draw is no_draw else new_key(device)


def stored(buffers: Mapping[str, torch.Tensor], new: Mapping[str, torch.Tensor]) -> None:
    """Write new values into buffers."""
    with torch.no_grad():
        for name, buffer in buffers.items():
            buffer.copy_(new[name])


def kept(module: nn.Module) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Parameters and buffers of a module by name, and copies of the buffers, for a graph to keep."""
    params: dict[str, torch.Tensor] = dict(module.named_parameters())
    buffers = dict(module.named_buffers())
    return params, buffers, {name: b.detach().clone() for name, b in buffers.items()}
