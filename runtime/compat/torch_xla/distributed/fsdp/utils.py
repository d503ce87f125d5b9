"""`torch_xla.distributed.fsdp.utils`, of which only `checkpoint_module` exists."""

from __future__ import annotations

from types import MethodType
from typing import Any

from torch import nn

from ...utils.checkpoint import checkpoint


def checkpoint_module(module: nn.Module) -> nn.Module:
    """Make a module recompute its forward in the backward pass instead of saving activations."""
    forward = module.forward

    def checkpointed(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    module.forward = MethodType(checkpointed, module)
    return module
