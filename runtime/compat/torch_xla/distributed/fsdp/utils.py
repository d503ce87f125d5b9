"""`torch_xla.distributed.fsdp.utils`: checkpoints of activations, and patches of linear layers."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from torch import nn

from ...missing import names_of
from ...utils.checkpoint import checkpoint
from ..spmd.xla_sharding import XLAPatchedLinear as XLAPatchedLinear
from ..spmd.xla_sharding import xla_patched_nn_linear_forward

__getattr__ = names_of(__name__)


def checkpoint_module(module: nn.Module) -> nn.Module:
    """Make a module recompute its forward in the backward pass instead of saving activations."""
    forward = module.forward

    def checkpointed(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    module.forward = MethodType(checkpointed, module)
    return module


def apply_xla_patch_to_nn_linear(
    module: nn.Module, patched_function: Callable[..., Any] = xla_patched_nn_linear_forward
) -> nn.Module:
    """Replace the `forward` of the `nn.Linear` layers of a module, and return it. The default changes nothing."""
    for layer in module.modules():
        if type(layer) is nn.Linear:
            layer.forward = MethodType(patched_function, layer)  # type: ignore[method-assign]
    return module
