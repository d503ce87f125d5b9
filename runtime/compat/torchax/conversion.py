"""The views of torchax: conversion of values and functions between the two libraries, and calls across."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import numpy as np
import torch

from ..._torch import NAME
from ..._torch.autograd import in_forward_mode
from ..._torch.frames import inlined
from ..._torch.functorch import are_transforms_active
from ...dispatch.opaque_composite import is_traced, tensors, wants_gradient
from ...float32_products import float32_products
from ...interop import calls
from ...interop.convert import j2t, t2j
from ...interop.remat import without_constants
from ...trace.transfer import from_jax, read

inlined.add(__file__)
_WIDE = (torch.float64, torch.complex128)


class JaxFunction:
    """A torch function as a pure function of arrays. Instances for the same function, created in the same modes of
    torch, are equal, so that JAX compiles once.

    With `recorded`, it raises if it closes over a tensor whose gradient torch would miss.
    """

    def __init__(self, function: Callable[..., Any], recorded: bool = False) -> None:
        self.function = function
        self.pure = t2j(without_constants(function) if recorded else function)
        autocast = torch.is_autocast_enabled(NAME) and torch.get_autocast_dtype(NAME)
        modes = torch.get_default_dtype(), torch.is_grad_enabled(), float32_products.in_effect
        self.key = function, recorded, autocast, modes
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__signature__ = inspect.signature(self.pure)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with arrays."""
        return self.pure(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, JaxFunction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)


class TorchFunction:
    """A JAX function as a function of tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with tensors."""
        return call_jax(self.function, *args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind like a function, as a method."""
        return self if instance is None else functools.partial(self, instance)


_NO_FUNCTIONS = (type, torch.Tensor, jax.Array, contextlib.ContextDecorator)  # the last is the base of JAX's meshes


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, _NO_FUNCTIONS)


def _is_of_jax(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "jax"


def torch_view_elem(value: Any) -> Any:
    """Convert an array to a tensor, a dtype, or a JAX function to one of tensors; other values are unchanged."""
    if isinstance(value, JaxFunction):
        return value.function
    if isinstance(value, jax.Array):
        return from_jax(value)
    if isinstance(value, np.dtype):
        return j2t(value)
    return TorchFunction(value) if _is_function(value) else value


def jax_view_elem(value: Any) -> Any:
    """Convert a tensor to an array, a dtype, or a torch function to a pure one of arrays; other values, and functions
    of JAX itself, are unchanged.
    """
    if isinstance(value, TorchFunction):
        return value.function
    if isinstance(value, torch.Tensor):
        return read(value)
    if isinstance(value, torch.dtype):
        return t2j(value)
    return JaxFunction(value) if _is_function(value) and not _is_of_jax(value) else value


def torch_view(tree: Any) -> Any:
    """Convert each leaf of a tree by `torch_view_elem`. Functions in the result are differentiable; see `call_jax`."""
    return jax.tree.map(torch_view_elem, tree)


def jax_view(tree: Any) -> Any:
    """Convert each leaf of a tree by `jax_view_elem`. torch's gradients do not flow through this."""
    return jax.tree.map(jax_view_elem, tree)


def call_jax(jax_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a JAX function with trees of tensors, dtypes, torch functions and other values, and convert its result.

    The function is called directly, so it may depend on values and return any object. If torch records a gradient or a
    graph, it is traced by `tenax.call_jax` instead, and must be traceable and return arrays; except for a
    `jax.stages.Compiled`, which JAX cannot differentiate.

    Raises:
        TraceError: torch records a gradient, and a torch function among the arguments closes over a tensor that
            requires one; expected it as an argument.
    """
    if torch.compiler.is_dynamo_compiling():
        return calls.call_jax(jax_func, *args, **kwargs)
    if isinstance(jax_func, jax.stages.Compiled) or not is_recorded(args, kwargs):
        # As in `tenax.call_jax`, 64-bit arguments enable 64-bit mode.
        wide = any(x.dtype in _WIDE for x in tensors(jax.tree.leaves((args, kwargs))))
        with jax.enable_x64(wide or jax.dtypes.canonicalize_dtype(float).itemsize == 8):
            return torch_view(jax_func(*jax_view(args), **jax_view(kwargs)))
    try:
        given = jax.tree.map(_recorded_elem, (args, kwargs))
        return torch_view(calls.call_jax(jax_func, *given[0], **given[1]))
    except (TypeError, jax.errors.ConcretizationTypeError) as error:
        error.add_note(
            "call_jax: the function was traced, because torch records a gradient or a graph of this call. To run it as "
            "it stands, call it under torch.no_grad() or with detached tensors"
        )
        raise


def _recorded_elem(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    viewed = jax_view_elem(value)
    return JaxFunction(value, recorded=True) if isinstance(viewed, JaxFunction) else viewed


def is_recorded(args: Any, kwargs: Any) -> bool:
    """Whether torch records a call: for a gradient, a transform of torch.func, or a graph."""
    if in_forward_mode() or are_transforms_active():
        return True
    found = list(tensors(jax.tree.leaves((args, kwargs))))
    return wants_gradient(found) or is_traced(found)


def call_torch(torch_func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a torch function with arrays, in JAX code and under any JAX transformation."""
    return t2j(torch_func)(*args, **kwargs)


def j2t_autograd(fn: Callable[..., Any], call_jax: Callable[..., Any] = calls.call_jax) -> Callable[..., Any]:
    """Convert a JAX function to a function of tensors whose gradient JAX computes."""
    return functools.wraps(fn)(functools.partial(call_jax, fn))


TorchCallable: TypeAlias = Callable[..., Any]
TorchValue: TypeAlias = torch.Tensor | torch.dtype | TorchCallable | Any
JaxCallable: TypeAlias = Callable[..., Any]
JaxValue: TypeAlias = jax.Array | np.dtype | JaxCallable | Any
