"""`t2j` and `j2t` convert tensors, dtypes, functions and modules between torch and JAX."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch import nn

from ..dtypes import numpy_dtype, torch_dtype
from ..functional.keys import keys_from
from ..functional.pure import run_pure
from ..trace.transfer import from_jax, to_jax
from .calls import call_jax
from .functional_module import FunctionalModule


def t2j(x: Any, *, state_dict: Mapping[str, Any] | None = None) -> Any:
    """Convert a torch object to JAX.

    - A tensor becomes its `jax.Array`, without a copy if it covers a whole device storage. Trees of tensors are
      converted leaf by leaf.
    - A `torch.dtype` becomes the NumPy dtype.
    - An `nn.Module` becomes a pure function
      `f(*args, state_dict=None, rng=None, return_state_dict=False, **kwargs)`. Its state is the `state_dict` of the
      call, or else the one given to `t2j`, or else the module's own state, which is read at each call and is a
      constant under `jax.jit`. With `return_state_dict` the result is `(outputs, new state)`. The module runs in the
      train or eval mode that it has when it is converted.
    - Any other callable becomes a pure function `f(*args, rng=None, **kwargs)`. Arrays in the trees of arguments become
      tensors, which the function may write; the caller's arrays do not change. Tensors in the results become arrays.

    All JAX transformations apply to a pure function. `rng` is a key of `jax.random`; without it, random operations
    raise. `detach` and `torch.no_grad` also stop JAX's derivative.

    Args:
        x: the object.
        state_dict: the state of a module: arrays or tensors by name.

    Raises:
        NotImplementedError: JAX has no equivalent of a dtype.
        TypeError: `x` is not a torch object, or `state_dict` is given and `x` is not a module.
        KeyError: a state lacks a tensor of the module, or contains an unknown name.
        TraceError: on a call, for operations that cannot be traced: reading the value of a tensor, or writing to a
            captured tensor.
    """
    if isinstance(x, nn.Module):
        return _module(x, None if state_dict is None else to_jax(dict(state_dict)))
    if state_dict is not None:
        raise TypeError(f"t2j: state_dict given for {type(x).__name__}; expected an nn.Module")
    if isinstance(x, torch.dtype):
        return numpy_dtype(x)
    if isinstance(x, torch.Tensor):
        return to_jax(x)
    if callable(x):
        return _function(x)
    if any(isinstance(leaf, torch.Tensor) for leaf in jax.tree.leaves(x)):
        return to_jax(x)
    raise TypeError(f"t2j: got {type(x).__name__}; expected a tensor, dtype, function or module of torch")


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def pure(*args: Any, rng: jax.Array | None = None, **kwargs: Any) -> Any:
        return run_pure(function, args, kwargs, keys_from(rng))

    pure.__signature__ = _signature(function)  # type: ignore[attr-defined]
    return pure


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of the torch function with `rng` added; JAX inspects it."""
    try:
        original = inspect.signature(function)
    except ValueError:  # implemented in C++
        original = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    parameters = [p for p in original.parameters.values() if p.name != "rng"]
    at = len(parameters) - any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    parameters.insert(at, inspect.Parameter("rng", inspect.Parameter.KEYWORD_ONLY, default=None))
    return original.replace(parameters=parameters)


def _module(module: nn.Module, state: dict[str, Any] | None) -> Callable[..., Any]:
    call = FunctionalModule(module)

    def pure(
        *args: Any,
        state_dict: Mapping[str, Any] | None = None,
        rng: jax.Array | None = None,
        return_state_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        chosen_state = state_dict if state_dict is not None else state
        if chosen_state is None:
            chosen_state = call.state()
        outputs, new = call(dict(chosen_state), args, kwargs, rng)
        return (outputs, new) if return_state_dict else outputs

    pure.__name__ = pure.__qualname__ = type(module).__name__
    return pure


def j2t(x: Any, device: torch.device | str | None = None) -> Any:
    """Convert a JAX object to torch.

    - A `jax.Array` becomes a tensor on device "jax", without a copy. Trees of arrays are converted leaf by leaf.
    - A NumPy or JAX dtype becomes the `torch.dtype`.
    - A function of arrays becomes a differentiable function of tensors, by `call_jax`.

    Args:
        x: the object.
        device: copy arrays to tensors on this device instead, such as "cpu".

    Raises:
        TypeError: torch has no equivalent, or `device` is given and `x` contains no arrays.
    """
    if device is not None:
        if not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(x)):
            raise TypeError(f"j2t: device given for {type(x).__name__}; expected an array or a tree of arrays")
        return jax.tree.map(lambda leaf: from_jax(leaf).to(device) if isinstance(leaf, jax.Array) else leaf, x)
    if isinstance(x, jax.Array):
        return from_jax(x)
    # A scalar type such as `jnp.float32` is neither a dtype nor a type.
    if isinstance(x, (np.dtype, type(jnp.float32))) or (isinstance(x, type) and issubclass(x, np.generic)):
        return torch_dtype(jnp.dtype(x))
    if callable(x):
        return functools.wraps(x)(functools.partial(call_jax, x))
    if any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(x)):
        return from_jax(x)
    raise TypeError(f"j2t: got {type(x).__name__}; expected an array, dtype or function of JAX")
