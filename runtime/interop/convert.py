"""`t2j` and `j2t`: a tensor, a dtype, a function or a module of the one library, in the other."""

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

from ..device.convert import from_jax, to_jax
from ..dtypes import numpy_dtype, torch_dtype
from ..tracing.pure import draws, no_draw, run
from .calls import call_jax
from .stateless import Pure


def t2j(x: Any, *, state_dict: Mapping[str, Any] | None = None) -> Any:
    """What a thing of torch is in JAX.

    - A tensor: its `jax.Array`; without a copy where it is all of a storage of the device. A tree of them likewise.
    - A `torch.dtype`: the NumPy dtype.
    - An `nn.Module`: `f(*args, state_dict=None, rng=None, return_state_dict=False, **kwargs)`, a pure function. The
      state is what is given, else that of `t2j`, else the module's own, read at each call; under `jax.jit` the
      module's own is a constant. With `return_state_dict` the result is `(outputs, new state)`. The module runs in the
      train or eval mode that it has now.
    - Another callable: `f(*args, rng=None, **kwargs)`, a pure function. Arrays of any tree among the arguments become
      tensors, of which the function may write; the caller's arrays stay as they are. Tensors of the results become
      arrays.

    A pure function may be transformed by JAX in every way. `rng` is a key of `jax.random`; random operations without
    one raise. `detach` and `torch.no_grad` stop JAX's derivative.

    Args:
        x: the thing.
        state_dict: of a module: arrays or tensors by name.

    Raises:
        TypeError: JAX has nothing like it, or `state_dict` is given for something else than a module.
        KeyError: a state lacks a tensor of the module, or has one too many.
        TraceError: at a call, for what cannot be traced: the value of a tensor, a write to a tensor from outside.
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
        return run(function, args, kwargs, no_draw if rng is None else draws(rng))

    pure.__signature__ = _signature(function)  # type: ignore[attr-defined]
    return pure


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """What JAX may ask of the pure function: that of the torch function, and `rng`."""
    try:
        found = inspect.signature(function)
    except ValueError:  # made in C++
        found = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    parameters = [p for p in found.parameters.values() if p.name != "rng"]
    at = len(parameters) - any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    parameters.insert(at, inspect.Parameter("rng", inspect.Parameter.KEYWORD_ONLY, default=None))
    return found.replace(parameters=parameters)


def _module(module: nn.Module, state: dict[str, Any] | None) -> Callable[..., Any]:
    call = Pure(module)

    def pure(
        *args: Any,
        state_dict: Mapping[str, Any] | None = None,
        rng: jax.Array | None = None,
        return_state_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        given = state_dict if state_dict is not None else state
        if given is None:
            given = to_jax({k: v.detach() for k, v in _tensors(module).items()})
        outputs, new = call(dict(given), args, kwargs, rng)
        return (outputs, new) if return_state_dict else outputs

    pure.__name__ = pure.__qualname__ = type(module).__name__
    return pure


def _tensors(module: nn.Module) -> dict[str, torch.Tensor]:
    return {k: v for k, v in module.state_dict(keep_vars=True).items() if isinstance(v, torch.Tensor)}


def j2t(x: Any) -> Any:
    """What a thing of JAX is in torch, on device "jax".

    - A `jax.Array`: a tensor, without a copy. A tree of them likewise.
    - A dtype of NumPy or JAX: the `torch.dtype`.
    - A function of arrays: a differentiable function of tensors, which is `call_jax` with it.

    Raises:
        TypeError: torch has nothing like it.
    """
    if isinstance(x, jax.Array):
        return from_jax(x)
    if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)) or _is_scalar_type(x):
        return torch_dtype(jnp.dtype(x))
    if callable(x):
        return functools.wraps(x)(functools.partial(call_jax, x))
    if any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(x)):
        return from_jax(x)
    raise TypeError(f"j2t: got {type(x).__name__}; expected an array, dtype or function of JAX")


def _is_scalar_type(x: Any) -> bool:
    """Whether it is `jnp.float32` or the like, which is neither a dtype nor a type."""
    return isinstance(x, type(jnp.float32))
