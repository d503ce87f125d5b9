"""`torch_xla.distributed.fsdp.xla_fully_sharded_data_parallel`: parameters sharded over processes, with torch's
`fully_shard`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

from ..._torch import NAME
from . import process
from .wrap import Policy, recursive_wrap, refuse_module

# Options that do not change values: of layouts, of scheduling, and for debugging.
_IGNORED = {
    *("flatten_parameters", "execute_sharding_on_init", "optimization_barrier_in_forward", "sync_on_finalization"),
    *("optimization_barrier_in_backward", "disable_reshard_on_root", "shard_param_on_dim_0", "coalesce_all_gather_ops"),
    *("pin_layout_in_collective_ops", "reduce_scatter_bucket_size_mb", "mark_step_on_finalization"),
    *(f"_{name}" for name in ("shard_size_multiple", "use_xla_patched_linear", "debug_msg", "debug_print")),
}
# Options that do: groups of replicas, and computations to skip.
_SKIPPED = [
    f"debug_dummy_{name}"
    for name in ("forward_pass", "all_gather_op", "all_reduce_op", "reduce_scatter_op", "optimization_barrier_op")
]
_REFUSED = {
    *("sharding_groups", "sharding_rank", "sharding_world_size"),
    *(f"_{name}" for name in _SKIPPED),
}


class XlaFullyShardedDataParallel(nn.Module):
    """A module whose parameters are sharded over the replicas and gathered where they are used.

    Call `optimizer.step()` instead of `xm.optimizer_step`, because the gradients are already averaged.
    """

    def __init__(
        self,
        module: nn.Module,
        reshard_after_forward: bool = True,
        *,
        compute_dtype: torch.dtype | None = None,
        buffer_dtype: torch.dtype | None = None,
        fp32_reduce_scatter: bool = False,
        auto_wrap_policy: Policy | None = None,
        auto_wrapper_callable: Callable[..., nn.Module] | None = None,
        param_init_fn: Callable[[nn.Module], None] | None = None,
        **options: Any,
    ) -> None:
        """Shard a module.

        Args:
            module: its parameters are moved to the device.
            reshard_after_forward: free the gathered parameters between forward and backward.
            compute_dtype: dtype of the gathered parameters and of floating-point arguments of the module. The sharded
                parameters, their gradients and the optimizer keep the dtype of the parameters.
            buffer_dtype: dtype of floating-point buffers; by default `compute_dtype`.
            fp32_reduce_scatter: average the gradients in float32.
            auto_wrap_policy: selects submodules that become separate units; see `torch_xla.distributed.fsdp.wrap`.
            auto_wrapper_callable: creates these units, with the options of this module; by default, this class.
            param_init_fn: called with a module whose parameters are on device "meta", to replace these.
            options: other options of PyTorch/XLA; those that do not change values are accepted.

        Raises:
            RuntimeError: the module is already sharded, or has no `forward`.
            TypeError: PyTorch/XLA has no such option.
            NotImplementedError: an unsupported option; expected `torch.distributed.fsdp.fully_shard`.
        """
        refuse_module(module, XlaFullyShardedDataParallel)
        super().__init__()
        if unknown := options.keys() - _IGNORED - _REFUSED:
            raise TypeError(f"XlaFullyShardedDataParallel: unexpected options {', '.join(sorted(unknown))}")
        if refused := {
            name for name in options.keys() & _REFUSED if not (options[name] is None or options[name] is False)
        }:
            raise NotImplementedError(
                f"XlaFullyShardedDataParallel: {', '.join(sorted(refused))}; expected "
                "torch.distributed.fsdp.fully_shard, which has policies and offloading on device 'jax'"
            )
        of_units = {
            "reshard_after_forward": reshard_after_forward,
            "compute_dtype": compute_dtype,
            "buffer_dtype": buffer_dtype,
            "fp32_reduce_scatter": fp32_reduce_scatter,
            "param_init_fn": param_init_fn,
            **options,
        }
        if auto_wrap_policy is not None:
            maker = auto_wrapper_callable or XlaFullyShardedDataParallel
            recursive_wrap(module, auto_wrap_policy, maker, only_wrap_children=True, **of_units)
        if param_init_fn is not None and any(p.is_meta for p in module.parameters()):
            param_init_fn(module)
        self.module = module.to(NAME)
        if (dtype := buffer_dtype or compute_dtype) is not None:
            for buffer in self.module.buffers():
                if buffer.is_floating_point():
                    buffer.data = buffer.to(dtype)
        policy = MixedPrecisionPolicy(compute_dtype, torch.float32 if fp32_reduce_scatter else None)
        self._mesh = _mesh()
        fully_shard(self.module, mesh=self._mesh, reshard_after_forward=reshard_after_forward, mp_policy=policy)

    @property
    def _sharded(self) -> Any:
        return self.module

    def __getattr__(self, name: str) -> Any:
        """Attributes of the module."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)

    def __getitem__(self, key: Any) -> Any:
        """Items of the module, if it is a sequence."""
        return self._sharded[key]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*args, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate gradients without averaging them over the replicas until the backward pass after the context."""
        self._sharded.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            self._sharded.set_requires_gradient_sync(True)

    def set_gradient_divide_factors(self, pre: float, post: float, recursive: bool = True) -> None:
        """Divide gradients by `pre` before they are added over the replicas, and by `post` afterwards.

        By default they are divided by the number of replicas. With `recursive`, this also holds for inner units.
        """
        for module in self.modules() if recursive else [self]:
            if isinstance(module, XlaFullyShardedDataParallel):
                module._sharded.set_gradient_divide_factor(pre * post)

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0, groups: Any = None) -> torch.Tensor:
        """Clip the gradients so that their norm over all replicas is at most `max_norm`; return the norm before.

        Raises:
            NotImplementedError: `groups` is given; the norm is over all replicas.
        """
        if groups is not None:
            raise NotImplementedError("clip_grad_norm_: groups; expected None, for the norm over all replicas")
        norm = torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)
        return norm.full_tensor() if isinstance(norm, DTensor) else norm

    def get_shard_metadata(self) -> dict[str, Any]:
        """The metadata of a rank that `consolidate_sharded_model_checkpoints` needs besides `state_dict()`."""
        units = {name for name, module in self.named_modules() if isinstance(module, XlaFullyShardedDataParallel)}
        return {
            "shard_info": {
                name: {"name": _without_units(name, units), "shape": tuple(value.shape)}
                for name, value in self.state_dict().items()
            },
            "flatten_info": {},
            "buffer_info": {},
            "world_size": self._mesh.size(),
            "rank": self._mesh.get_rank(),
        }


def _mesh() -> DeviceMesh:
    """The mesh of all ranks, shared by all units."""
    world = process.required_group().group.WORLD
    if not _meshes or _meshes[0][0] is not world:
        _meshes[:] = [(world, init_device_mesh(NAME, (world.size(),)))]
    return _meshes[0][1]


_meshes: list[tuple[Any, DeviceMesh]] = []  # that of the current default group


def _without_units(name: str, units: set[str]) -> str:
    """The name of a parameter in the unwrapped module: a unit at path `a.b` holds its module as `a.b.module`."""
    parts = name.split(".")
    return ".".join(part for i, part in enumerate(parts) if not (part == "module" and ".".join(parts[:i]) in units))
