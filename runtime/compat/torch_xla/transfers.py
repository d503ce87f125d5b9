"""Moving trees of tensors to a device and back, and `xm.save`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..._torch import pytree
from ...sharding.placing import shard
from .device_type import jax_device
from .replicas import current


def mapped(tree: Any, fn: Callable[[torch.Tensor], Any]) -> Any:
    """A tree with a function applied once to each of its tensors, even if a tensor occurs several times."""
    done: dict[int, Any] = {}

    def leaf(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        if id(x) not in done:
            done[id(x)] = fn(x)
        return done[id(x)]

    leaves, structure = pytree.tree_flatten(tree)
    return pytree.tree_unflatten([leaf(x) for x in leaves], structure)


def moved(tree: Any, device: Any, input_sharding: Any = None) -> Any:
    """A tree with its tensors moved to a device, or sharded by a `ShardingSpec` or a dict of these."""
    if torch.device(device).type == "cpu":
        return tree
    target = jax_device(device)
    if isinstance(input_sharding, dict):
        missing = input_sharding.keys() - tree.keys()
        if missing:
            raise ValueError(f"input_sharding names {sorted(missing)}, which the batch lacks; it has {sorted(tree)}")
        return {name: moved(value, device, input_sharding.get(name)) for name, value in tree.items()}

    def one(tensor: torch.Tensor) -> torch.Tensor:
        if input_sharding is None or not input_sharding.can_apply(tensor):
            return tensor.to(target)
        return shard(tensor, input_sharding.named_sharding)

    return mapped(tree, one)


def on_cpu(tree: Any) -> Any:
    """A tree with its tensors copied to the CPU."""
    return mapped(tree, lambda tensor: tensor.detach().cpu())


def save(data: Any, file_or_path: Any, master_only: bool = True, global_master: bool = False) -> None:
    """Save a tree of tensors so that `torch.load` returns CPU tensors.

    Args:
        data: any tree; its tensors are copied to the CPU.
        file_or_path: as in `torch.save`.
        master_only: only the first replica writes. The others do not wait for it, so it is valid to call this on the
            first replica alone; call `xm.rendezvous` before other replicas read the file.
        global_master: write on the first of all replicas instead of the first of each host.
    """
    replicas = current()
    if not master_only or (replicas.rank if global_master else replicas.local_rank) == 0:
        torch.save(on_cpu(data), file_or_path)
