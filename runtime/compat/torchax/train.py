"""`torchax.train`: a training step of a torch model with an optax optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax
import torch
from torch import nn

from ...interop.remat import TransformedModule, call_with_state
from ...interop.scan import scanned
from ...sharding.placing import shard
from .interop import call_jax, gradient_checkpoint, jax_value_and_grad


class Container:
    """Holds a module that is not a submodule, so that its tensors are not parameters of the holder."""

    one_mod: nn.Module


class StackedLayers(nn.Module):
    """A stack of identical layers as one `jax.lax.scan`, whose intermediate values are recomputed.

    `params` has the tensors of the layers, stacked along a new first dimension, by their names with "___" for dots.

    Args:
        module_list: layers of equal structure, also on device "meta", whose tensors are copied.
        checkpoint_policy: selects values to save instead of recompute; see `jax.checkpoint_policies`.
    """

    def __init__(self, module_list: Iterable[nn.Module], checkpoint_policy: Callable[..., bool] | None = None) -> None:
        super().__init__()
        layers = list(module_list)
        self.c = Container()
        self.c.one_mod = layer = layers[0]
        self.checkpoint_policy = checkpoint_policy
        states = [layer.state_dict(keep_vars=True) for layer in layers]
        self.layer_weights_keys = list(states[0])
        self.params = nn.ParameterDict()
        for name, first in states[0].items():
            stacked = torch.stack([state[name].detach() for state in states])
            self.params[_stacked(name)] = nn.Parameter(stacked, first.requires_grad)
        self._functions = TransformedModule(layer, lambda pure: scanned(pure, len(layers), True, checkpoint_policy))

    def train(self, mode: bool = True) -> Any:
        """Set the mode of the layers."""
        self.c.one_mod.train(mode)
        return super().train(mode)

    def forward(self, x: torch.Tensor, *args: Any) -> Any:
        """The result of the last layer. Each layer receives the other arguments."""
        params: dict[str, torch.Tensor] = {name: self.params[_stacked(name)] for name in self.layer_weights_keys}
        buffers = {name: params.pop(name) for name, _ in self.c.one_mod.named_buffers() if name in params}
        return call_with_state(self._functions.now(), params, buffers, (x, *args), {})


ScannedModule = StackedLayers


def _stacked(name: str) -> str:
    return name.replace(".", "___")


def remat(fn: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """`gradient_checkpoint` with its options as keywords."""
    return gradient_checkpoint(fn, options)


def mark_sharding(args: Any, sharding: Any) -> Any:
    """Constrain the tensors of a tree to a `NamedSharding`, or to a spec on the mesh of the context."""
    return jax.tree.map(lambda x: shard(x, sharding) if isinstance(x, torch.Tensor) else x, args)


def make_train_step(
    model_fn: Callable[..., Any],
    loss_fn: Callable[..., Any],
    optax_optimizer: Any,
    remat_policy: Callable[..., bool] | None = None,
) -> Callable[..., Any]:
    """Create a training step for `interop.jax_jit`.

    Args:
        model_fn: a torch function `(weights, buffers, args) -> result`.
        loss_fn: a torch function `(result, label) -> loss`.
        optax_optimizer: an `optax.GradientTransformation`.
        remat_policy: which values to save for the gradient; None uses JAX's default.

    Returns:
        `step(weights, buffers, opt_state, args, label) -> (loss, weights, opt_state)`, where
        `opt_state = interop.call_jax(optax_optimizer.init, weights)`.

    Raises:
        ImportError: optax is not installed.
    """
    try:
        import optax
    except ImportError as error:
        raise ImportError("optax is not installed; expected: pip install optax") from error

    def loss(weights: Any, buffers: Any, args: Any, label: Any) -> Any:
        return loss_fn(model_fn(weights, buffers, args), label)

    checkpointed = loss if remat_policy is None else gradient_checkpoint(loss, {"policy": remat_policy})
    value_and_grad = jax_value_and_grad(checkpointed)

    def step(weights: Any, buffers: Any, opt_state: Any, args: Any, label: Any) -> Any:
        value, gradient = value_and_grad(weights, buffers, args, label)
        updates, opt_state = call_jax(optax_optimizer.update, gradient, opt_state, weights)
        return value, call_jax(optax.apply_updates, weights, updates), opt_state

    return step
