"""Flax and equinox modules as `nn.Module`, with torch parameters and a `forward` that uses `call_jax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

from ..trace.transfer import from_jax
from .remat import call_with_state

Apply = Callable[[Any, Any, Any, Any, bool], Any]


class JaxModule(nn.Module):
    """An `nn.Module` made from a function of a tree of arrays, which are its parameters and buffers.

    The tensors are named by their paths in the tree. `forward` accepts and returns trees of tensors; static arguments
    must be hashable. JAX computes gradients of any order. In train mode the function receives a key that is drawn from
    the device's random stream.
    """

    def __init__(self, tree: Any, trainable: Sequence[bool], apply: Apply, skip: int = 0) -> None:
        super().__init__()
        leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
        keys = [jnp.issubdtype(a.dtype, jax.dtypes.prng_key) for _, a in leaves]
        names = []
        for (path, array), trained, is_key in zip(leaves, trainable, keys, strict=True):
            tensor = from_jax(jax.random.key_data(array) if is_key else jnp.asarray(array))
            names.append(_register(self, path[skip:], nn.Parameter(tensor) if trained else tensor))
        self._names = names
        # One for each mode, kept because `call_jax` compares functions by identity.
        self._functions = {
            training: _function(structure, names, keys, trainable, apply, training) for training in (False, True)
        }

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the JAX module, with tensors in place of arrays."""
        params, buffers = (
            {name: tensor for name, tensor in named if name in self._names}
            for named in (self.named_parameters(), self.named_buffers())
        )
        return call_with_state(self._functions[self.training], params, buffers, args, kwargs, draws=self.training)


def _function(
    structure: Any, names: Sequence[str], keys: Sequence[bool], trainable: Sequence[bool], apply: Apply, training: bool
) -> Callable[..., Any]:
    """The function of a module in one mode; see `call_with_state`."""

    def call(params: Any, buffers: Any, key: Any, args: Any, kwargs: Any) -> Any:
        tensors = {**params, **buffers}
        leaves = [jax.random.wrap_key_data(tensors[n]) if k else tensors[n] for n, k in zip(names, keys, strict=True)]
        rng = None if key is None else jax.random.wrap_key_data(key)
        outputs, tree = apply(jax.tree.unflatten(structure, leaves), rng, args, kwargs, training)
        new = {}
        for i, (a, b) in enumerate(zip(leaves, jax.tree.leaves(tree), strict=True)):
            if a is not b and not trainable[i]:
                new[names[i]] = jax.random.key_data(b) if keys[i] else b
        return outputs, new

    return call


def _register(module: nn.Module, path: Any, tensor: torch.Tensor) -> str:
    """Register the tensor as a parameter or buffer of the submodule at its path, and return its full name."""
    parts = [str(getattr(p, "key", getattr(p, "name", getattr(p, "idx", p)))) for p in path]
    if len(parts) > 1 and parts[-1] == "value":  # of an nnx variable
        parts.pop()
    for part in parts[:-1]:
        if part not in module._modules:
            module.add_module(part, nn.Module())
        module = module.get_submodule(part)
    if isinstance(tensor, nn.Parameter):
        module.register_parameter(parts[-1], tensor)
    else:
        module.register_buffer(parts[-1], tensor)
    return ".".join(parts)


def from_flax(module: Any, variables: Any, *, mutable: Sequence[str] = (), rngs: Sequence[str] = ()) -> JaxModule:
    """Convert a `flax.linen` module to an `nn.Module` on device "jax".

    Args:
        module: the linen module. `forward(*args, **kwargs)` calls its `apply`, so the caller must pass arguments such
            as `train=True`.
        variables: the result of `module.init`. Collection "params" becomes parameters, all others become buffers.
        mutable: collections that a forward pass in train mode updates (`"batch_stats"`).
        rngs: names of the random streams that the module needs in train mode (`"dropout"`).

    Returns:
        A module whose tensors are named by collection and path (`params.Dense_0.kernel`).

    Raises:
        ImportError: flax is not installed.
        TypeError: `module` is not a linen module.
    """
    linen = _library("flax.linen", "flax")
    if not isinstance(module, linen.Module):
        raise TypeError(f"from_flax: got {type(module).__name__}; expected a flax.linen.Module (from_nnx takes nnx)")

    def apply(tree: Any, key: Any, args: Any, kwargs: Any, training: bool) -> Any:
        streams = {name: jax.random.fold_in(key, i) for i, name in enumerate(rngs)} if training and rngs else None
        if not (training and mutable):
            return module.apply(tree, *args, rngs=streams, **kwargs), tree
        outputs, new = module.apply(tree, *args, rngs=streams, mutable=list(mutable), **kwargs)
        return outputs, {**tree, **new}

    tree = dict(variables)
    trainable = [str(path[0].key) == "params" for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]
    return JaxModule(tree, trainable, apply)


def from_nnx(module: Any) -> JaxModule:
    """Convert a `flax.nnx` module to an `nn.Module` on device "jax".

    `nnx.Param` variables become parameters. All others, including the counters of random streams, become buffers that
    a forward pass updates. `.train()` and `.eval()` also set the nnx modes.

    Args:
        module: the nnx module; its arrays are shared until either side writes them.

    Raises:
        ImportError: flax is not installed.
        TypeError: `module` is not an nnx module.
    """
    nnx = _library("flax.nnx", "flax")
    if not isinstance(module, nnx.Module):
        raise TypeError(f"from_nnx: got {type(module).__name__}; expected a flax.nnx.Module (from_flax takes linen)")
    graphs = {}
    for training in (True, False):
        twin = nnx.clone(module)
        (twin.train if training else twin.eval)()
        graphs[training], params, rest = nnx.split(twin, nnx.Param, ...)

    def apply(tree: Any, key: Any, args: Any, kwargs: Any, training: bool) -> Any:
        merged = nnx.merge(graphs[training], *tree)
        outputs = merged(*args, **kwargs)
        _, _, rest = nnx.split(merged, nnx.Param, ...)
        return outputs, (tree[0], rest)

    trainable = [jnp.issubdtype(x.dtype, jnp.inexact) for x in jax.tree.leaves(params)]
    return JaxModule((params, rest), trainable + [False] * len(jax.tree.leaves(rest)), apply, skip=1)


def from_equinox(module: Any, *, key: str = "") -> JaxModule:
    """Convert an equinox module to an `nn.Module` on device "jax".

    Floating-point arrays become parameters, other arrays buffers. In eval mode the module runs as
    `equinox.nn.inference_mode(module)`. As in equinox, a stateful layer takes and returns its state explicitly.

    Args:
        module: any callable `equinox.Module`.
        key: the name of the argument that receives a random key in train mode, if the module has one.

    Raises:
        ImportError: equinox is not installed.
        TypeError: `module` is not an equinox module.
    """
    eqx = _library("equinox", "equinox")
    if not isinstance(module, eqx.Module):
        raise TypeError(f"from_equinox: got {type(module).__name__}; expected an equinox.Module")
    arrays, train = eqx.partition(eqx.nn.inference_mode(module, value=False), eqx.is_array)
    _, evaluate = eqx.partition(eqx.nn.inference_mode(module), eqx.is_array)

    def apply(tree: Any, rng: Any, args: Any, kwargs: Any, training: bool) -> Any:
        arguments = {**kwargs, key: rng} if key and training and key not in kwargs else kwargs
        return eqx.combine(tree, train if training else evaluate)(*args, **arguments), tree

    return JaxModule(arrays, [jnp.issubdtype(x.dtype, jnp.inexact) for x in jax.tree.leaves(arrays)], apply)


def _library(name: str, package: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"tenax.interop: the package {name} is missing; expected pip install {package}") from error
