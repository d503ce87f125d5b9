"""`torchax.interop`: views of values and functions from either side, and JAX's transformations of torch functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import torch
from torch import nn

from ...device.convert import from_jax, to_jax
from ...device.random import next_key
from ...interop import call_jax as call_jax
from ...interop.convert import j2t, t2j
from ...interop.remat import checkpoint, over_module
from ...tracing.pure import no_draw
from ...tracing.trace import current

Options = dict[str, Any] | None


def torch_view(value: Any) -> Any:
    """Arrays as tensors, in any tree; a JAX function as a function of tensors, differentiable by torch; dtypes."""
    if callable(value) and not isinstance(value, type):
        return functools.wraps(value)(functools.partial(call_jax, value))
    return j2t(value) if isinstance(value, jax.numpy.dtype) else from_jax(value)


def jax_view(value: Any) -> Any:
    """Tensors as arrays, in any tree; a torch function as a pure function of arrays; dtypes."""
    if isinstance(value, torch.dtype) or (callable(value) and not isinstance(value, (type, torch.Tensor))):
        return t2j(value)
    return to_jax(jax.tree.map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, value))


def call_torch(torch_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A torch function of arrays; for JAX code, under any of its transformations."""
    return t2j(torch_func)(*args, **kwargs)


def j2t_autograd(fn: Callable[..., Any], call_jax: Callable[..., Any] = call_jax) -> Callable[..., Any]:
    """A JAX function as a function of tensors whose gradient is JAX's."""
    return functools.wraps(fn)(functools.partial(call_jax, fn))


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """`jax.lax.fori_loop` with a body of torch; tensors that the body closes over get no gradient."""
    body = t2j(body_fun)
    return call_jax(lambda init: jax.lax.fori_loop(lower, upper, body, init), init_val)


def wrap_jax_jit(
    torch_function: Callable[..., Any], jax_jit_func: Callable[..., Any] = jax.jit, kwargs_for_jax: Options = None
) -> Callable[..., Any]:
    """A torch function under a transformation of JAX, called with tensors.

    The function is pure: it writes no tensor from outside. Its result has no torch gradient; `tenax.jit` compiles what
    torch differentiates. Random operations draw anew at each call.
    """
    made = jax_jit_func(t2j(torch_function), **(kwargs_for_jax or {}))

    @functools.wraps(torch_function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = current()
        keyless = trace is not None and trace.draw is no_draw
        key = None if keyless else jax.random.wrap_key_data(next_key())
        return from_jax(made(*jax_view(args), rng=key, **jax_view(kwargs)))

    return call


def jax_jit(
    torch_function: Callable[..., Any],
    kwargs_for_jax_jit: Options = None,
    fix_for_buffer_donation: bool = False,
) -> Callable[..., Any]:
    """`jax.jit` of a torch function, as `wrap_jax_jit` says. `fix_for_buffer_donation` is not needed here."""
    return wrap_jax_jit(torch_function, jax.jit, kwargs_for_jax_jit)


def jax_value_and_grad(
    torch_function: Callable[..., Any], kwargs_for_value_and_grad: Options = None
) -> Callable[..., Any]:
    """`jax.value_and_grad` of a torch function, as `wrap_jax_jit` says."""
    return wrap_jax_jit(torch_function, jax.value_and_grad, kwargs_for_value_and_grad)


def jax_shard_map(torch_function: Callable[..., Any], kwargs_for_jax_shard_map: Options = None) -> Callable[..., Any]:
    """`jax.shard_map` of a torch function without random operations, called with tensors."""
    made = jax.shard_map(t2j(torch_function), **(kwargs_for_jax_shard_map or {}))
    return functools.wraps(torch_function)(lambda *args: from_jax(made(*jax_view(args))))


def gradient_checkpoint(torch_function: Callable[..., Any], kwargs: Options = None) -> Callable[..., Any]:
    """`jax.checkpoint` of a torch function or module; of JAX's options there is `policy`."""
    return checkpoint(torch_function, **(kwargs or {}))


class JittableModule(nn.Module):
    """A module whose methods run as XLA programs. `forward` has gradients, for `backward()` too, and moves buffers."""

    def __init__(self, m: nn.Module, extra_jit_args: Options = None, dedup_parameters: bool = True) -> None:
        super().__init__()
        self._model = m
        self._options = extra_jit_args or {}
        self._forward = over_module(m, lambda f: jax.jit(f, **self._options))
        self._jitted: dict[str, Callable[..., Any]] = {}

    @property
    def params(self) -> dict[str, torch.Tensor]:
        """The parameters of the module, a tied one once."""
        return dict(self._model.named_parameters())

    @property
    def buffers(self) -> Any:
        """The buffers of the module."""
        return dict(self._model.named_buffers())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self._forward(*args, **kwargs)

    def functional_call(self, method_or_name: Any, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        """A method of the module with other tensors."""
        name = method_or_name if isinstance(method_or_name, str) else method_or_name.__name__
        with nn.utils.stateless._reparametrize_module(self._model, {**params, **buffers}):
            return getattr(self._model, name)(*args, **kwargs)

    def make_jitted(self, method: str) -> None:
        """Compile a method: `jittable.method(...)` then runs the program, with the module's tensors of each call."""
        made = jax_jit(functools.partial(_call, self._model, method))

        def call(*args: Any, **kwargs: Any) -> Any:
            return made(self.params, self.buffers, *args, **kwargs)

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
    with nn.utils.stateless._reparametrize_module(model, {**params, **buffers}):
        return getattr(model, method)(*args, **kwargs)


def extract_all_buffers(m: nn.Module) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Parameters and buffers of a module, by name."""
    return dict(m.named_parameters()), dict(m.named_buffers())


def set_all_buffers(m: nn.Module, params: dict[str, torch.Tensor], buffers: dict[str, torch.Tensor]) -> None:
    """Give a module's parameters and buffers new values, by name."""
    with torch.no_grad():
        for own, new in zip(extract_all_buffers(m), (params, buffers), strict=True):
            for name, value in new.items():
                own[name].copy_(value)
