"""`torch_xla.distributed.fsdp`: fully sharded data parallelism over processes, by torch's `fully_shard`."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from ... import process

_IGNORED = {"flatten_parameters", "execute_sharding_on_init", "optimization_barrier_in_forward"}


class XlaFullyShardedDataParallel(nn.Module):
    """A module whose parameters are sharded over the replicas and gathered where they are used.

    Call `optimizer.step()` and not `xm.optimizer_step`: the gradients are averages already.
    """

    def __init__(
        self,
        module: nn.Module,
        reshard_after_forward: bool = True,
        compute_dtype: torch.dtype | None = None,
        buffer_dtype: torch.dtype | None = None,
        fp32_reduce_scatter: bool = False,
        **options: Any,
    ) -> None:
        """Shard a module.

        Args:
            module: its parameters are moved to the device.
            reshard_after_forward: give up the gathered parameters between forward and backward.
            compute_dtype: of the gathered parameters, and of the floating point arguments of the module. The sharded
                parameters, their gradients and the optimizer keep the dtype of the parameters.
            buffer_dtype: of floating point buffers; None is `compute_dtype`.
            fp32_reduce_scatter: average the gradients in float32.
            options: others of PyTorch/XLA, of which those that do not change values are accepted.

        Raises:
            NotImplementedError: another option; expected `torch.distributed.fsdp.fully_shard`.
        """
        super().__init__()
        unknown = {name for name, value in options.items() if value} - _IGNORED
        if unknown:
            raise NotImplementedError(
                f"XlaFullyShardedDataParallel: {', '.join(sorted(unknown))}; expected "
                "torch.distributed.fsdp.fully_shard, which has policies and offloading on device 'jax'"
            )
        mesh = init_device_mesh("jax", (process.required_group().get_world_size(),))
        self.module = module.to("jax")
        if (dtype := buffer_dtype or compute_dtype) is not None:
            for buffer in self.module.buffers():
                if buffer.is_floating_point():
                    buffer.data = buffer.to(dtype)
        policy = MixedPrecisionPolicy(compute_dtype, torch.float32 if fp32_reduce_scatter else None)
        fully_shard(self.module, mesh=mesh, reshard_after_forward=reshard_after_forward, mp_policy=policy)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*args, **kwargs)

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> torch.Tensor:
        """Scale the gradients so that their norm over all replicas is at most `max_norm`; the norm before."""
        return torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)


def consolidate_sharded_model_checkpoints(*_: Any, **__: Any) -> Any:
    """Raise NotImplementedError."""
    raise NotImplementedError(
        "consolidate_sharded_model_checkpoints: expected torch.distributed.checkpoint, which loads what any number of "
        "ranks saved, or tenax.checkpoint"
    )
