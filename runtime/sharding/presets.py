"""Rules for whole models: fully sharded data parallelism, tensor parallelism, and both.

Tensor parallelism pairs two projections, as in Megatron-LM (Shoeybi et al. 2019): the first is split by its outputs,
the second by its inputs, so that there is no communication between them and a single all-reduce after the second.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from jax.sharding import Mesh, PartitionSpec
from torch import nn

from .rules import Preset

# Names of the second projection of a pair (last part of the module's name) in models of transformers and torch.
_SECOND = {
    *("o_proj", "out_proj", "down_proj", "c_proj", "dense_4h_to_h", "wo", "w2", "fc2", "linear2", "lin2", "out_lin"),
    *("proj_out", "attn_out", "to_out"),
}
# Second projections unless they widen: an output head with one of these names has more outputs than inputs.
_SECOND_IF_NARROW = {"output", "out", "proj"}
_FIRST = {
    *("q_proj", "k_proj", "v_proj", "qkv_proj", "gate_proj", "up_proj", "gate_up_proj", "c_attn", "c_fc", "fc1"),
    *("linear1", "lin1", "query", "key", "value", "wq", "wk", "wv", "w1", "w3", "wi", "query_key_value", "lm_head"),
}


def fsdp(axis: str = "data", least: int = 1024) -> Preset:
    """Shard each tensor of at least `least` elements along its largest dimension that the axis divides.

    XLA gathers a weight where it is used, provided that the activations are split by batch. An embedding with sharded
    features returns activations that are split by features, so reshard its results: `tenax.shard(x, P(axis))`.

    Args:
        axis: an axis of the mesh, usually that of the batch.
        least: smaller tensors are replicated.
    """
    return Preset(partial(_fsdp, axis=axis, least=least))


def tensor_parallel(axis: str = "model", fsdp: str | None = None, least: int = 1024) -> Preset:
    """Split `nn.Linear`, `nn.Embedding`, `nn.MultiheadAttention` and the `Conv1D` of transformers over an axis.

    A projection is the second of a pair if it has a name like `o_proj`, `down_proj` or `fc2`, or fewer outputs than
    inputs; it is split by its inputs, and others by their outputs. Tensors that the axis does not divide are replicated
    over it.

    Args:
        axis: an axis of the mesh.
        fsdp: another axis, over which each tensor is also sharded as by `fsdp(axis)`, along another dimension.
        least: see `fsdp`.
    """

    return Preset(partial(_tensor_parallel, axis=axis, fsdp=fsdp, least=least))


def _fsdp(name: str, tensor: torch.Tensor, owner: nn.Module, mesh: Mesh, *, axis: str, least: int) -> PartitionSpec:
    return _fully([None] * tensor.dim(), tensor, mesh, axis, least)


def _tensor_parallel(
    name: str, tensor: torch.Tensor, owner: nn.Module, mesh: Mesh, *, axis: str, fsdp: str | None, least: int
) -> PartitionSpec:
    entries: list[Any] = [None] * tensor.dim()
    dim = _split_dimension(name, tensor, owner)
    if dim is not None and tensor.shape[dim] % _size(mesh, axis) == 0:
        entries[dim] = axis
    return PartitionSpec(*entries) if fsdp is None else _fully(entries, tensor, mesh, fsdp, least)


def _split_dimension(name: str, tensor: torch.Tensor, owner: nn.Module) -> int | None:
    """The dimension of a weight or bias that tensor parallelism splits, or None."""
    path, _, own = name.rpartition(".")
    *outer, last = path.split(".")
    if last == "dense" and outer:  # as in `attention.output.dense`
        last = outer[-1]
    if isinstance(owner, nn.MultiheadAttention):  # its out_proj is a Linear
        return 0
    if isinstance(owner, nn.Embedding):
        return 0
    transposed = type(owner).__name__ == "Conv1D"  # of transformers: its weight is (in, out)
    if not isinstance(owner, nn.Linear) and not transposed:
        return None
    weight: Any = owner.weight
    outputs, inputs = weight.shape[::-1] if transposed else weight.shape
    narrow = outputs < inputs or (outputs == inputs and last in _SECOND_IF_NARROW)
    second = last in _SECOND or (last not in _FIRST and narrow)
    if own == "bias":
        return None if second else 0
    return int(second != transposed) if own == "weight" else None


def _fully(entries: list[Any], tensor: torch.Tensor, mesh: Mesh, axis: str, least: int) -> PartitionSpec:
    """The entries with the axis added at the largest free dimension that it divides."""
    size = _size(mesh, axis)
    free = [d for d, entry in enumerate(entries) if entry is None and tensor.shape[d] % size == 0]
    if tensor.numel() >= least and free:
        entries[max(free, key=lambda d: tensor.shape[d])] = axis
    return PartitionSpec(*entries)


def _size(mesh: Mesh, axis: str) -> int:
    if axis not in mesh.shape:
        known = ", ".join(map(repr, mesh.axis_names))
        raise ValueError(f"tenax.sharding: the mesh has no axis {axis!r}; expected one of {known}")
    return int(mesh.shape[axis])
