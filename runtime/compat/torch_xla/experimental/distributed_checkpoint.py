"""`torch_xla.experimental.distributed_checkpoint`: only `prime_optimizer`; use `tenax.checkpoint` to save shards."""

from __future__ import annotations

from typing import Any

import torch


def prime_optimizer(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Create the state of an optimizer by a step with zero gradients, so that a checkpoint can be loaded into it."""
    before = [(group, dict(group)) for group in optimizer.param_groups]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    gradients = [p.grad for p in parameters]
    for group, _ in before:  # with a learning rate of 0 no parameter changes
        group["lr"] = torch.zeros_like(group["lr"]) if isinstance(group["lr"], torch.Tensor) else 0.0
    for p in parameters:
        p.grad = torch.zeros_like(p)
    optimizer.step()
    for p, grad in zip(parameters, gradients, strict=True):
        p.grad = grad
    for group, values in before:
        group["lr"] = values["lr"]
    return optimizer


def _refused(name: str) -> Any:
    class Refused:
        """Raises NotImplementedError."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise NotImplementedError(
                f"{name}: expected tenax.checkpoint.save(path, state) and load(path, state), which keep shardings"
            )

    Refused.__name__ = Refused.__qualname__ = name
    return Refused


SPMDSavePlanner, SPMDLoadPlanner, CheckpointManager = map(
    _refused, ("SPMDSavePlanner", "SPMDLoadPlanner", "CheckpointManager")
)
