"""`torchax.train`: a training step of a torch model with an optax optimizer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import jax
import torch
from torch import nn

from ...interop import scan
from ...sharding.placing import shard
from .interop import call_jax, gradient_checkpoint, jax_value_and_grad


class RematScannedModule(scan.ScannedModule):
    """`tenax.ScannedModule` of layers that may be on the CPU, whose intermediate values are recomputed.

    Args:
        module_list: layers of equal structure.
        checkpoint_policy: selects values to save instead of recompute; see `jax.checkpoint_policies`.
    """

    def __init__(self, module_list: Iterable[nn.Module], checkpoint_policy: Callable[..., bool] | None = None) -> None:
        super().__init__([copy.deepcopy(m).to("jax") for m in module_list], remat=True, policy=checkpoint_policy)


ScannedModule = RematScannedModule


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
