"""Functions of JAX, and functions that JAX traces once per signature."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

from ...interop import calls
from ...interop.convert import t2j

_ARRAY = "array"  # stands for an array among the static leaves


def assume_pure(fn: Callable[..., Any], *, add_rng_seed_argument: bool = False) -> Callable[..., Any]:
    """Compile a function that depends only on its arguments; it is differentiable.

    Args:
        fn: a function of trees. It is traced once for the shapes and dtypes of the tensors and the values of the other
            leaves, which must be hashable.
        add_rng_seed_argument: the result has a keyword argument `rng_seed`, an int or a tensor, with which the function
            draws random numbers. Without it, random operations raise.
    """
    pure = t2j(fn)

    def run(static: tuple[Any, ...], arrays: list[Any], rng: Any) -> Any:
        tree, leaves = static
        rest = iter(arrays)
        args, kwargs = jax.tree.unflatten(tree, [next(rest) if leaf is _ARRAY else leaf[2] for leaf in leaves])
        return pure(*args, **kwargs) if rng is None else pure(*args, rng=rng, **kwargs)

    traced_once = jax.jit(run, static_argnums=0)

    def compiled(args: Any, kwargs: Any, seed: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        is_array = [isinstance(leaf, jax.Array) for leaf in leaves]
        static = tuple(_ARRAY if array else (repr(x), type(x), x) for array, x in zip(is_array, leaves, strict=True))
        arrays = [leaf for array, leaf in zip(is_array, leaves, strict=True) if array]
        return traced_once((tree, static), arrays, None if seed is None else jax.random.key(seed))

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        seed = None
        if add_rng_seed_argument:
            seed = kwargs.pop("rng_seed", None)
            if seed is None:
                raise TypeError("assume_pure: add_rng_seed_argument=True; expected the keyword argument rng_seed")
            seed = seed if isinstance(seed, torch.Tensor) else jnp.uint32(seed)
        return calls.call_jax(compiled, args, kwargs, seed)

    return call


class PureModule(nn.Module):
    """A module whose forward is pure: its parameters and buffers are arguments of the traced function."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._module = module

        def forward(state: Any, args: Any, kwargs: Any) -> Any:
            return torch.func.functional_call(module, state, args, kwargs)

        self._forward = assume_pure(forward)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        state = dict(self._module.named_parameters()) | dict(self._module.named_buffers())
        return self._forward(state, args, kwargs)


def call_jax(
    jax_func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    name: str | None = None,
    override_hash: Any = None,
    name_override: str | None = None,
) -> Any:
    """Call a JAX function with tensors; see `tenax.call_jax`. The names and the hash are not needed."""
    return calls.call_jax(jax_func, *args, **(kwargs or {}))
