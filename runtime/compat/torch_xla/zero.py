"""`torch_xla.distributed.zero_redundancy_optimizer`: torch's own, with averaging and clipping of gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.distributed.optim import ZeroRedundancyOptimizer as _ZeroRedundancyOptimizer

from . import process
from .collectives import all_reduce
from .replicas import current


class ZeroRedundancyOptimizer(_ZeroRedundancyOptimizer):
    """An optimizer whose state is distributed over the replicas."""

    def __init__(
        self,
        params: Iterable[torch.nn.Parameter],
        optimizer_class: type[torch.optim.Optimizer],
        optimizer_dtype: torch.dtype | None = None,
        grad_clipping: bool = True,
        max_norm: float | None = None,
        pin_layout: bool = True,
        sharding_groups: Any = None,
        grad_norm_groups: Any = None,
        lazy_init: bool = False,
        bucket_cap_mb_all_gather: int = 0,
        bucket_cap_mb_reduce_scatter: int = 0,
        use_grad_acc_hook: bool = False,
        save_master_weights: bool = False,
        higher_cc_precision: bool = False,
        **defaults: Any,
    ) -> None:
        """The arguments are those of PyTorch/XLA; gradients are clipped to the norm `max_norm`, 1 by default.

        `pin_layout` and `higher_cc_precision` have no effect: XLA chooses layouts, and the gradients, which have the
        dtype of the optimizer, are averaged in it.

        Raises:
            NotImplementedError: groups, buckets, `lazy_init`, `use_grad_acc_hook`, `save_master_weights`, or a dtype of
                the optimizer, float32 by default, that is not that of the parameters.
        """
        given: list[Any] = list(params)
        tensors = [t for p in given for t in (p["params"] if isinstance(p, dict) else [p])]
        unsupported = {
            "optimizer_dtype": any(t.dtype != (optimizer_dtype or torch.float32) for t in tensors),
            "sharding_groups": sharding_groups,
            "grad_norm_groups": grad_norm_groups,
            "lazy_init": lazy_init,
            "bucket_cap_mb_all_gather": bucket_cap_mb_all_gather,
            "bucket_cap_mb_reduce_scatter": bucket_cap_mb_reduce_scatter,
            "use_grad_acc_hook": use_grad_acc_hook,
            "save_master_weights": save_master_weights,
        }
        if refused := [name for name, value in unsupported.items() if value]:
            raise NotImplementedError(
                f"ZeroRedundancyOptimizer: {', '.join(refused)}; expected parameters in optimizer_dtype (float32 by "
                "default) and none of the other options, torch.distributed.optim.ZeroRedundancyOptimizer, or "
                "fully_shard with a MixedPrecisionPolicy"
            )
        process.required_group()
        self._max_norm = (1.0 if max_norm is None else max_norm) if grad_clipping else None
        super().__init__(given, optimizer_class, **defaults)

    def step(self, closure: Callable[[], float] | None = None, **kwargs: Any) -> Any:
        """Average the gradients, clip them, and step; a closure computes the gradients first."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        parameters = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        all_reduce("sum", [p.grad for p in parameters], 1.0 / current().size)
        if self._max_norm is not None:
            torch.nn.utils.clip_grad_norm_(parameters, self._max_norm)
        super().step(**kwargs)
        return loss

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Set the gradients to zero, or with `set_to_none` to None."""
        super().zero_grad(set_to_none)
