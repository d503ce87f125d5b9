"""The collectives of `torch_xla.core.xla_model`, among the replicas of `replicas.py`. TorchDynamo inlines this file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..._torch.frames import assume_constant, inlined
from ..._torch.graph_collectives import all_reduced, break_graph
from . import process, replicas
from .manual import ManualReplicas, ManualTensor
from .replicas import Groups, Replicas
from .transfers import on_cpu

inlined.add(__file__)
Tensor = torch.Tensor

REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX = "sum", "mul", "and", "or", "min", "max"


def current(value: Any = None) -> Replicas:
    """The replica of this thread, or those of a manual tensor; a graph of `torch.compile` ends here."""
    if torch.compiler.is_dynamo_compiling():
        break_graph(
            "collectives of torch_xla, except for xm.all_reduce in a program without DataParallel, are no nodes of a "
            "graph; expected torch.compile without fullgraph=True, or torch's functional collectives"
        )
    return ManualReplicas(value.mesh) if isinstance(value, ManualTensor) else replicas.current()


_OPERATIONS = {"sum": "sum", "mul": "product", "and": "band", "or": "bor", "min": "min", "max": "max"}


def _graph_node(kind: str, groups: Groups, threads: bool) -> tuple[str, str] | None:
    """The operation and the group of a reduction in a graph of `torch.compile`, by their names.

    None if arguments are wrong, and with threads, which share compiled functions but not their replicas.
    """
    if threads or kind not in _OPERATIONS:
        return None
    process.required_group()
    ours = replicas.current()
    assert isinstance(ours, replicas.ProcessReplicas)
    try:
        return _OPERATIONS[kind], ours.group_name(groups)
    except ValueError:  # the call outside of the graph raises it
        return None


assume_constant(_graph_node)


def _reduced(kind: str, tensors: Sequence[Tensor], groups: Groups) -> list[Tensor]:
    if torch.compiler.is_dynamo_compiling():
        node = _graph_node(kind, groups, replicas.has_threads)
        if node is not None:
            return [all_reduced(x.detach(), *node) for x in tensors]
    return current(*tensors[:1]).reduced(kind, tensors, groups)


def _scaled(tensor: Tensor, scale: float) -> Tensor:
    return (
        tensor
        if scale == 1
        else tensor.mul_(scale)
        if tensor.is_floating_point()
        else (tensor * scale).to(tensor.dtype)
    )


def _written(output: Tensor, result: Tensor) -> Tensor:
    """Write a result to a tensor that may have another shape, as in PyTorch/XLA."""
    with torch.no_grad():
        return output.resize_(result.shape).copy_(result)


def all_reduce(
    reduce_type: str,
    inputs: Any,
    scale: float = 1.0,
    groups: Groups = None,
    pin_layout: bool = True,
) -> Any:
    """Reduce over the replicas.

    Args:
        reduce_type: 'sum', 'mul', 'and', 'or', 'min' or 'max'.
        inputs: a tensor, whose reduction is returned, or a list of tensors, which are overwritten (the result is then
            None).
        scale: a factor of the results.
        groups: lists of ordinals that form groups; None for a single group of all.
    """
    if isinstance(inputs, Tensor):
        return _scaled(_reduced(reduce_type, [inputs], groups)[0], scale)
    results = _reduced(reduce_type, inputs, groups)
    with torch.no_grad():
        for tensor, result in zip(inputs, results, strict=True):
            tensor.copy_(_scaled(result, scale))
    return None


def all_gather(
    value: Any,
    dim: int = 0,
    groups: Groups = None,
    output: Any = None,
    pin_layout: bool = True,
    channel_id: int | None = None,
    use_global_device_ids: bool | None = None,
) -> Any:
    """The tensors of all replicas, concatenated along a dimension; for a list of tensors, a list."""
    if not isinstance(value, Tensor):
        gathered = [all_gather(x, dim, groups) for x in value]
        if output is None:
            return gathered
        return [_written(target, result) for target, result in zip(output, gathered, strict=True)]
    result = torch.cat(current(value).gathered(value, groups), dim)
    return result if output is None else _written(output, result)


def reduce_scatter(
    reduce_type: str,
    input: Any,
    scale: float,
    scatter_dim: int,
    shard_count: int,
    groups: Groups = None,
    output: Any = None,
    pin_layout: bool = True,
    channel_id: int | None = None,
    use_global_device_ids: bool | None = None,
) -> Any:
    """This replica's part, along a dimension, of the reduction; for a list of tensors, a list."""
    if not isinstance(input, Tensor):
        results = [reduce_scatter(reduce_type, x, scale, scatter_dim, shard_count, groups) for x in input]
        if output is None:
            return results
        return [_written(target, result) for target, result in zip(output, results, strict=True)]
    replicas = current(input)
    members = len(replicas.members(groups))
    if shard_count != members or input.shape[scatter_dim] % members:
        raise ValueError(
            f"reduce_scatter: shard_count={shard_count} and a dimension of {input.shape[scatter_dim]}; expected "
            f"{members}, the number of replicas, which divides the dimension"
        )
    part = replicas.scattered(reduce_type, input.movedim(scatter_dim, 0), groups).movedim(0, scatter_dim)
    result = _scaled(part.contiguous(), scale)
    return result if output is None else _written(output, result)


def all_to_all(
    value: Tensor,
    split_dimension: int,
    concat_dimension: int,
    split_count: int,
    groups: Groups = None,
    pin_layout: bool = True,
) -> Tensor:
    """Split a tensor, send the i-th part to the i-th replica, and concatenate the received parts."""
    replicas = current(value)
    members = len(replicas.members(groups))
    if split_count != members or value.shape[split_dimension] % members:
        raise ValueError(
            f"all_to_all: split_count={split_count} and a dimension of {value.shape[split_dimension]}; expected "
            f"{members}, the number of replicas, which divides the dimension"
        )
    parts = torch.stack(value.detach().chunk(members, split_dimension))
    received = replicas.exchanged(parts, groups)
    return torch.cat(list(received), concat_dimension)


def collective_permute(value: Any, pairs: Sequence[Sequence[int]]) -> Any:
    """The value of this replica's source, or zeros if it is not the target of any pair (source, target)."""
    if not isinstance(value, Tensor):
        return [collective_permute(x, pairs) for x in value]
    return current(value).permuted(value, pairs)


def collective_broadcast(
    tensors: Sequence[Tensor], root_ordinal: int = 0, groups: Groups = None, pin_layout: bool = True
) -> None:
    """Overwrite tensors with those of one replica."""
    place = current().members(groups).index(root_ordinal)
    with torch.no_grad():
        for tensor in tensors:
            tensor.copy_(current().gathered(tensor, groups)[place])


def broadcast_master_param(model: torch.nn.Module) -> None:
    """Overwrite parameters and buffers with those of the first replica."""
    collective_broadcast([*model.parameters(), *model.buffers()])


def rendezvous(tag: str, payload: bytes = b"", replicas: Sequence[int] = ()) -> list[bytes]:
    """Wait for the other replicas at this tag, and exchange bytes.

    Args:
        tag: the same for all.
        payload: the bytes of this replica.
        replicas: the ordinals that meet, by default all. The others do not make this call.

    Returns:
        The bytes of the replicas, in the order of `replicas`.

    Raises:
        ValueError: this replica is not in `replicas`.
        RuntimeError: another replica is at a different tag.
    """
    own = current().rank
    ordinals = list(replicas) or list(range(current().size))
    if own not in ordinals:
        raise ValueError(f"rendezvous({tag!r}) of ordinal {own}: expected an ordinal among replicas={ordinals}")
    everyone = sorted(ordinals) == list(range(current().size))
    if everyone:
        met = dict(enumerate(current().objects((tag, payload))))
    else:
        met = dict(zip(ordinals, current().objects((tag, payload), ordinals), strict=True))
    others = {ordinal: other for ordinal, (other, _) in met.items() if other != tag}
    if others:
        raise RuntimeError(
            f"rendezvous({tag!r}) of ordinal {own}: "
            + ", ".join(f"ordinal {ordinal} is at {other!r}" for ordinal, other in others.items())
        )
    return [met[ordinal][1] for ordinal in ordinals]


def xla_rendezvous(payload: bytes = b"", ordinals: Sequence[int] | None = None, tag: str | None = None) -> list[bytes]:
    """`rendezvous` with a tag that may be omitted."""
    return rendezvous(tag or "", payload, ordinals or ())


def mesh_reduce(tag: str, data: Any, reduce_fn: Callable[[list[Any]], Any]) -> Any:
    """Apply a function to the list of all replicas' data, whose tensors are on the CPU."""
    met = current().objects((tag, on_cpu(data)))
    if any(other != tag for other, _ in met):
        raise RuntimeError(f"mesh_reduce({tag!r}) of ordinal {current().rank}: others are at {[t for t, _ in met]}")
    return reduce_fn([value for _, value in met])


def do_on_ordinals(target: Callable[..., Any], data: Any = (), ordinals: Sequence[int] = (0,)) -> Any:
    """Call a function, with the data on the CPU, on some replicas; the others wait and return None."""
    result = target(*on_cpu(data)) if current().rank in ordinals else None
    rendezvous("torch_xla.core.xla_model.do_on_ordinals")
    return result


def fetch_gradients(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """The gradients of an optimizer's parameters."""
    parameters = (p for group in optimizer.param_groups for p in group["params"])
    return [p.grad for p in parameters if p.grad is not None]


def reduce_gradients(optimizer: torch.optim.Optimizer, groups: Groups = None, pin_layout: bool = True) -> None:
    """Average the gradients of an optimizer's parameters over the replicas."""
    members = len(current().members(groups))
    if members > 1:
        all_reduce(REDUCE_SUM, fetch_gradients(optimizer), 1.0 / members, groups)
