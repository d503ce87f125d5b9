"""`torchax.interop`: conversion of values and functions, and JAX transformations of torch functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import torch
from torch import nn

from ..._torch.modules import with_tensors
from ...functional.keys import refuse_draw
from ...interop.calls import call_jax as call_jax
from ...interop.convert import j2t, t2j
from ...interop.remat import checkpoint, transformed_module
from ...storage.random import next_key
from ...trace.core import current_trace
from ...trace.transfer import from_jax, to_jax

Options = dict[str, Any] | None


def torch_view(value: Any) -> Any:
    """Convert a tree of arrays to tensors, a JAX function to a differentiable function of tensors, or a dtype."""
    if callable(value) and not isinstance(value, type):
        return functools.wraps(value)(functools.partial(call_jax, value))
    return j2t(value) if isinstance(value, jax.numpy.dtype) else from_jax(value)


def jax_view(value: Any) -> Any:
    """Convert a tree of tensors to arrays, a torch function to a pure function of arrays, or a dtype."""
    if isinstance(value, torch.dtype) or (callable(value) and not isinstance(value, (type, torch.Tensor))):
        return t2j(value)
    return to_jax(jax.tree.map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, value))


def call_torch(torch_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a torch function with arrays, in JAX code and under any JAX transformation."""
    return t2j(torch_func)(*args, **kwargs)


def j2t_autograd(fn: Callable[..., Any], call_jax: Callable[..., Any] = call_jax) -> Callable[..., Any]:
    """Convert a JAX function to a function of tensors whose gradient JAX computes."""
    return functools.wraps(fn)(functools.partial(call_jax, fn))


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """`jax.lax.fori_loop` with a torch function as body; tensors that the body closes over get no gradient."""
    body = t2j(body_fun)
    return call_jax(lambda init: jax.lax.fori_loop(lower, upper, body, init), init_val)


def wrap_jax_jit(
    torch_function: Callable[..., Any], jax_jit_func: Callable[..., Any] = jax.jit, kwargs_for_jax: Options = None
) -> Callable[..., Any]:
    """Apply a JAX transformation to a torch function; the result is called with tensors.

    The function must be pure: it must not write tensors from outside. Its result has no torch gradient; use `tenax.jit`
    for functions that torch differentiates. Each call draws new random numbers.
    """
    transformed = jax_jit_func(t2j(torch_function), **(kwargs_for_jax or {}))

    @functools.wraps(torch_function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        keyless = trace is not None and trace.draw is refuse_draw
        key = None if keyless else jax.random.wrap_key_data(next_key())
        return from_jax(transformed(*jax_view(args), rng=key, **jax_view(kwargs)))

    return call


def jax_jit(
    torch_function: Callable[..., Any],
    kwargs_for_jax_jit: Options = None,
    fix_for_buffer_donation: bool = False,
) -> Callable[..., Any]:
    """Apply `jax.jit` with `wrap_jax_jit`. `fix_for_buffer_donation` has no effect here."""
    return wrap_jax_jit(torch_function, jax.jit, kwargs_for_jax_jit)


def jax_value_and_grad(
    torch_function: Callable[..., Any], kwargs_for_value_and_grad: Options = None
) -> Callable[..., Any]:
    """Apply `jax.value_and_grad` with `wrap_jax_jit`."""
    return wrap_jax_jit(torch_function, jax.value_and_grad, kwargs_for_value_and_grad)


def jax_shard_map(torch_function: Callable[..., Any], kwargs_for_jax_shard_map: Options = None) -> Callable[..., Any]:
    """Apply `jax.shard_map` to a torch function without random operations; the result is called with tensors."""
    mapped = jax.shard_map(t2j(torch_function), **(kwargs_for_jax_shard_map or {}))
    return functools.wraps(torch_function)(lambda *args: from_jax(mapped(*jax_view(args))))


def gradient_checkpoint(torch_function: Callable[..., Any], kwargs: Options = None) -> Callable[..., Any]:
    """Apply `jax.checkpoint` to a torch function or module; the only option of JAX is `policy`."""
    return checkpoint(torch_function, **(kwargs or {}))


class JittableModule(nn.Module):
    """A module whose methods run as XLA programs. `forward` supports `backward()` and updates buffers."""

    def __init__(self, m: nn.Module, extra_jit_args: Options = None, dedup_parameters: bool = True) -> None:
        super().__init__()
        self._model = m
        self._options = extra_jit_args or {}
        self._forward = transformed_module(m, lambda f: jax.jit(f, **self._options))
        self._jitted: dict[str, Callable[..., Any]] = {}

    @property
    def params(self) -> dict[str, torch.Tensor]:
        """The parameters of the module, with tied parameters once."""
        return dict(self._model.named_parameters())

    @property
    def buffers(self) -> Any:
        """The buffers of the module."""
        return dict(self._model.named_buffers())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled module."""
        return self._forward(*args, **kwargs)

    def functional_call(self, method_or_name: Any, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the module with other parameters and buffers."""
        name = method_or_name if isinstance(method_or_name, str) else method_or_name.__name__
        with with_tensors(self._model, {**params, **buffers}):
            return getattr(self._model, name)(*args, **kwargs)

    def make_jitted(self, method: str) -> None:
        """Compile a method: `jittable.method(...)` then runs the program with the current tensors of the module."""
        compiled = jax_jit(functools.partial(_call, self._model, method))

        def call(*args: Any, **kwargs: Any) -> Any:
            return compiled(self.params, self.buffers, *args, **kwargs)

        self._jitted[method] = call

    def __getattr__(self, name: str) -> Any:
        jitted = self.__dict__.get("_jitted", {})
        if name in jitted:
            return jitted[name]
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_model"), name)


def _call(model: nn.Module, method: str, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
    with with_tensors(model, {**params, **buffers}):
        return getattr(model, method)(*args, **kwargs)


def extract_all_buffers(m: nn.Module) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Parameters and buffers of a module, by name."""
    return dict(m.named_parameters()), dict(m.named_buffers())


def set_all_buffers(m: nn.Module, params: dict[str, torch.Tensor], buffers: dict[str, torch.Tensor]) -> None:
    """Write new values to the parameters and buffers of a module, by name."""
    with torch.no_grad():
        for own, new in zip(extract_all_buffers(m), (params, buffers), strict=True):
            for name, value in new.items():
                own[name].copy_(value)
