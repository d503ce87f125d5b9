"""Rules for whole models: fully sharded data parallelism, tensor parallelism, and both.

Tensor parallelism pairs two projections, as in Megatron-LM (Shoeybi et al. 2019): the first is split by its outputs,
the second by its inputs, so that nothing is communicated between them and sums are reduced once, behind the second.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from jax.sharding import Mesh, PartitionSpec
from torch import nn

from .rules import Preset

# The second projection of a pair, by the last part of the module's name, in the models of transformers and torch.
_SECOND = {
    *("o_proj", "out_proj", "down_proj", "c_proj", "dense_4h_to_h", "wo", "w2", "fc2", "linear2", "lin2", "out_lin"),
    *("proj_out", "attn_out", "to_out"),
}
# The second where they do not widen: a head of these names has more outputs than inputs.
_SECOND_IF_NARROW = {"output", "out", "proj"}
_FIRST = {
    *("q_proj", "k_proj", "v_proj", "qkv_proj", "gate_proj", "up_proj", "gate_up_proj", "c_attn", "c_fc", "fc1"),
    *("linear1", "lin1", "query", "key", "value", "wq", "wk", "wv", "w1", "w3", "wi", "query_key_value", "lm_head"),
}


def fsdp(axis: str = "data", least: int = 1024) -> Preset:
    """Shard the largest dimension that the axis divides, of each tensor of at least so many elements.

    XLA gathers a weight where it is used, as long as what meets it is split by the batch. An embedding whose features
    are sharded gives activations that are split by features, so lay out its results again: `tenax.shard(x, P(axis))`.

    Args:
        axis: of the mesh, usually that of the batch.
        least: smaller tensors have a copy on each device.
    """
    return Preset(partial(_fsdp, axis=axis, least=least))


def tensor_parallel(axis: str = "model", fsdp: str | None = None, least: int = 1024) -> Preset:
    """Split `nn.Linear`, `nn.Embedding`, `nn.MultiheadAttention` and the `Conv1D` of transformers over an axis.

    A projection is the second of a pair if its name says so (`o_proj`, `down_proj`, `fc2`, ...) or if it has fewer
    outputs than inputs; it is split by its inputs, and others by their outputs. What the axis does not divide has a
    copy on each device of the axis.

    Args:
        axis: of the mesh.
        fsdp: another axis; with it, each tensor is also sharded as by `fsdp(axis)`, along another dimension.
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
    """The dimension of a weight or bias that tensor parallelism splits."""
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
    """The entries with the axis at the largest dimension that is free and that it divides."""
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
