"""`torch_xla.distributed.fsdp.utils`: of it, `checkpoint_module`."""

from __future__ import annotations

from types import MethodType
from typing import Any

from torch import nn

from ...utils.checkpoint import checkpoint


def checkpoint_module(module: nn.Module) -> nn.Module:
    """Have a module compute its forward again in the backward pass, instead of saving what it computed."""
    forward = module.forward

    def checkpointed(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    module.forward = MethodType(checkpointed, module)
    return module
