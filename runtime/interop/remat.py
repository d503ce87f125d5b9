"""Rematerialization: intermediate values are recomputed in the backward pass instead of saved."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import torch
from torch import nn

from .._torch import NAME
from ..dispatch.jax_call import draw_key_tensor as new_key
from ..errors import TraceError
from ..functional.keys import inherited_key, keys_from, refuse_draw
from ..functional.pure import run_pure
from ..storage.recording import recording
from ..trace.autograd_engine import in_backward
from ..trace.core import current_trace
from ..trace.transfer import from_jax, to_jax
from .calls import call_jax
from .functional_module import FunctionalModule


def checkpoint(
    function: Callable[..., Any],
    *,
    policy: Callable[..., bool] | None = None,
    prevent_cse: bool = True,
    static_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:
    """Apply `jax.checkpoint` to a torch function or module, so that its intermediate values are recomputed.

    Args:
        function: an `nn.Module` on device "jax", whose parameters get gradients and whose buffers are updated as
            without `checkpoint`; or a function, which runs under `torch.utils.checkpoint` where torch computes the
            gradient, so that tensors that it closes over get gradients.
        policy: which values to save, as in `jax.checkpoint` (`jax.checkpoint_policies`). With a policy, JAX computes
            the gradient of a function, so tensors that it closes over must not require one.
        prevent_cse: as in `jax.checkpoint`; False is faster in the body of a scan.
        static_argnums: accepted for compatibility with `jax.checkpoint`; non-tensors are always static.

    Returns:
        A function of the same arguments, usable from torch and, within a pure function, from JAX.

    Raises:
        TraceError: on a call, if a function with a policy closes over a tensor that requires a gradient.
    """
    remat = functools.partial(jax.checkpoint, policy=policy, prevent_cse=prevent_cse)
    if isinstance(function, nn.Module):
        return transformed_module(function, remat)

    def once(key: Any, args: Any, kwargs: Any) -> Any:
        mine = None if key is None else jax.random.wrap_key_data(key)
        return run_pure(without_constants(function), args, kwargs, keys_from(mine))

    by_jax = over_arrays(remat, once)

    @functools.wraps(function)
    def again(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        if trace is not None and not trace.lifts:
            draw = keys_from(inherited_key())
            once = over_arrays(remat, lambda args, kwargs: run_pure(function, args, kwargs, draw))
            return from_jax(once(*to_jax((args, kwargs))))
        if policy is not None:
            return call_jax(by_jax, draw_key_if_possible(torch.device(NAME)), args, kwargs)
        from torch.utils.checkpoint import checkpoint as torchs

        return torchs(separated(function), *args, use_reentrant=False, **kwargs)

    return again


class _Apart(torch.autograd.Function):
    """The same tensors, after an optimization barrier."""

    @staticmethod
    def forward(ctx: Any, *tensors: torch.Tensor) -> Any:
        return tuple(call_jax(jax.lax.optimization_barrier, tensors))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients


def separated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function for `torch.utils.checkpoint`, so that in lazy mode, XLA does not merge what a backward pass
    recomputes with the forward pass. (`tenax.jit` separates all that `torch.utils.checkpoint` recomputes.)"""

    def call(*args: Any, **kwargs: Any) -> Any:
        if recording.tape is not None and not recording.tape.ahead and in_backward():
            places = [i for i, x in enumerate(args) if isinstance(x, torch.Tensor) and x.device.type == NAME]
            apart = dict(zip(places, _Apart.apply(*map(args.__getitem__, places)), strict=True))
            args = tuple(apart.get(i, x) for i, x in enumerate(args))
        return function(*args, **kwargs)

    return call


def without_constants(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to check that it captures no tensor that requires a gradient, which would be lost.

    Raises:
        TraceError: on a call, if a result depends on such a tensor.
    """

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        results = function(*args, **kwargs)
        if any(x.requires_grad for x in jax.tree.leaves(results) if isinstance(x, torch.Tensor)):
            name = getattr(function, "__qualname__", type(function).__name__)
            raise TraceError(
                f"{name}: closes over a tensor that requires a gradient, which JAX would take for a constant; expected "
                "it as an argument"
            )
        return results

    return checked


def transformed_module(module: nn.Module, transform: Callable[..., Any]) -> TransformedModule:
    """Wrap a module to run as a pure function of its tensors, under a JAX transformation."""
    return TransformedModule(module, lambda pure: over_arrays(transform, _stateless(pure)))


class TransformedModule:
    """Calls a module through transformed pure functions of its state, one per combination of train and eval modes."""

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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        params, buffers = dict(self.module.named_parameters()), dict(self.module.named_buffers())
        return call_with_state(self.now(), params, buffers, args, kwargs)


def call_with_state(
    function: Callable[..., Any],
    params: Mapping[str, torch.Tensor],
    buffers: Mapping[str, torch.Tensor],
    args: Any,
    kwargs: Any,
    draws: bool = True,
) -> Any:
    """Call a function of arrays, `(params, buffers, key, args, kwargs) -> (outputs, new buffers)`, with tensors.

    Args:
        function: as for `call_jax`.
        params, buffers: by name. It gets clones of the buffers, which an autograd graph may save, and the new values of
            those that it returns are written.
        args, kwargs: its other arguments.
        draws: whether it gets key data.
    """
    device = next((t.device for t in (*params.values(), *buffers.values())), torch.device(NAME))
    clones = {name: b.detach().clone() for name, b in buffers.items()}
    key = draw_key_if_possible(device) if draws else None
    outputs, new = call_jax(function, params, clones, key, args, kwargs)
    with torch.no_grad():
        for name, value in new.items():
            buffers[name].copy_(value)
    return outputs


def _stateless(pure: FunctionalModule) -> Callable[..., Any]:
    def call(params: Any, buffers: Any, key: Any, args: Any, kwargs: Any) -> Any:
        return pure.apply(params, buffers, args, kwargs, None if key is None else jax.random.wrap_key_data(key))

    return call


def over_arrays(transform: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Apply a JAX transformation that accepts only arrays; non-array arguments become constants."""

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


def draw_key_if_possible(device: torch.device) -> torch.Tensor | None:
    """Draw key data from the device's random stream; None in a pure function without a key."""
    trace = current_trace()
    return None if trace is not None and trace.draw is refuse_draw else new_key(device)
