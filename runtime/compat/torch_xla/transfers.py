"""Moving trees of tensors to a device and back, to files, and to other libraries."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.dlpack import DLDeviceType

from ..._lazy.mode import sync
from ..._torch import NAME, pytree
from ...data import place
from ...sharding.placing import shard
from .device_type import jax_device
from .replicas import current


def mapped(tree: Any, fn: Callable[[torch.Tensor], Any]) -> Any:
    """A tree with a function applied once to each of its tensors, even if a tensor occurs several times.

    As in PyTorch/XLA, a tree consists of containers, of subclasses of them, and of other objects with attributes. Those
    that hold tensors are copied; all other values, including modules and optimizers, are leaves.
    """
    done: dict[int, Any] = {}

    def visit(x: Any) -> Any:
        if id(x) in done:
            return done[id(x)]
        done[id(x)] = x  # an object that contains itself keeps the reference to the original
        if isinstance(x, torch.Tensor):
            result = fn(x)
        else:
            parts, rebuilt = _taken_apart(x)
            visited = [visit(part) for part in parts]
            changed = any(new is not old for new, old in zip(visited, parts, strict=True))
            result = rebuilt(visited) if changed else x
        done[id(x)] = result
        return result

    return visit(tree)


_LEAVES = (type, FunctionType, MethodType, ModuleType, nn.Module, torch.optim.Optimizer)


def _taken_apart(x: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The parts of a tree that may hold tensors, and a function that makes a tree of other parts."""
    if isinstance(x, PackedSequence):
        return [x.data], lambda parts: _packed(parts[0], x)
    parts, structure = pytree.tree_flatten(x, is_leaf=lambda y: y is not x)
    if not (len(parts) == 1 and parts[0] is x):  # a container that torch knows
        return parts, lambda new: pytree.tree_unflatten(new, structure)
    if isinstance(x, tuple):
        return list(x), getattr(type(x), "_make", partial(tuple.__new__, type(x)))
    if isinstance(x, set | frozenset):
        return list(x), type(x)
    items = list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, list) else []
    attributes = {} if isinstance(x, _LEAVES) else getattr(x, "__dict__", {})

    def rebuilt(new: list[Any]) -> Any:
        result = copy.copy(x)
        if isinstance(x, dict):
            result.update(zip(x, new, strict=False))
        elif items:
            result[:] = new[: len(items)]
        result.__dict__.update(zip(attributes, new[len(items) :], strict=True))
        return result

    return [*items, *attributes.values()], rebuilt


def _packed(data: torch.Tensor, sequence: PackedSequence) -> PackedSequence:
    """A packed sequence with other data. Its batch sizes stay on the CPU, and its indices follow the data."""
    order, back = (x if x is None else x.to(data.device) for x in (sequence.sorted_indices, sequence.unsorted_indices))
    return PackedSequence(data, sequence.batch_sizes, order, back)


def moved(tree: Any, device: Any, input_sharding: Any = None) -> Any:
    """A tree with its tensors moved to a device, or sharded by a `ShardingSpec` or a dict of these."""
    if torch.device(device).type == "cpu":
        return tree
    target = jax_device(device)
    if isinstance(input_sharding, dict):
        if not isinstance(tree, Mapping):
            raise ValueError(f"input_sharding is a dict, but a batch is of type {type(tree).__name__}; expected a dict")
        missing = input_sharding.keys() - tree.keys()
        if missing:
            raise KeyError(f"input_sharding names {sorted(missing)}, which the batch lacks; it has {sorted(tree)}")
        unnamed = tree.keys() - input_sharding.keys()
        if unnamed:
            raise KeyError(
                f"input_sharding lacks {sorted(unnamed)} of the batch; expected a ShardingSpec or None for each of "
                f"{sorted(tree)}"
            )
        return {name: moved(value, device, input_sharding[name]) for name, value in tree.items()}

    def one(tensor: torch.Tensor) -> torch.Tensor:
        if input_sharding is None or not input_sharding.can_apply(tensor):
            return tensor.to(target)
        placed = place if input_sharding.minibatch else shard
        return placed(tensor, input_sharding.named_sharding)

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


def save_file(data: Any, path: Any, master_only: bool = True, global_master: bool = False) -> None:
    """`save`, with the arguments of `torch_xla.utils.serialization`."""
    save(data, path, master_only, global_master)


def load(path: str) -> Any:
    """Load a file of `save`, with its tensors on the CPU."""
    return torch.load(path, map_location="cpu", weights_only=True)


def send_cpu_data_to_device(datas: Any, device: Any, input_sharding: Any = None) -> list[Any]:
    """Move a list of trees of tensors, or a single tensor, to a device, or shard them by `input_sharding`."""
    datas = [datas] if isinstance(datas, torch.Tensor) else datas
    return [moved(data, device, input_sharding) for data in datas]


def _maybe_convert_to_cpu(data: Any, convert: bool = True) -> Any:
    """A tree with its tensors copied to the CPU, or with `convert=False` the tree itself; examples call it."""
    sync()
    return on_cpu(data) if convert else data


def to_dlpack(xla_tensor: torch.Tensor) -> Any:
    """A capsule of a tensor, which shares its memory where JAX allows."""
    return xla_tensor.detach().__dlpack__()


def from_dlpack(ext_tensor: Any) -> torch.Tensor:
    """A copy, on the device, of a tensor of another library or a capsule of one.

    Raises:
        ValueError: the tensor is not on the CPU.
    """
    if hasattr(ext_tensor, "__dlpack_device__"):
        kind, _ = ext_tensor.__dlpack_device__()
        if kind != DLDeviceType.kDLCPU:
            raise ValueError(
                f"from_dlpack: a tensor on device {kind} of DLPack; PyTorch/XLA DLPack implementation currently only "
                "supports CPU. Expected tenax.interop.j2t(jax.dlpack.from_dlpack(tensor))"
            )
    return torch.utils.dlpack.from_dlpack(ext_tensor).to(NAME, copy=True)
