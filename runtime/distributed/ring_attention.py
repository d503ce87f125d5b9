"""Causal attention over a split sequence (`context_parallel`) in compiled functions, as one program for all ranks.

torch's ring branches on the rank: a received block is attended to with half of the keys, with half of the queries, or
not at all. Here every rank runs the same code, and a flag that depends on the rank, which becomes an operand, selects
the halves. If balanced (rank r of n has chunks r and 2n-1-r), the amount of work equals torch's; if not, blocks that
torch skips are computed and dropped. Keys and values always travel by `permute_tensor`, regardless of
`set_rotate_method`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from .._torch import NAME
from .._torch.distributed import permute_tensor, sequence_is_balanced
from .._torch.tensors import FakeTensor, FunctionalTensor
from ..trace.core import current_trace

Tensor = torch.Tensor
Halves = list[Tensor]

_SEQUENCE = 2  # the dimension of queries, keys, values, and of the log-sum-exp


def _applies(query: Tensor, key: Tensor, is_causal: bool) -> bool:
    return (
        (current_trace() is not None or isinstance(query, (FakeTensor, FunctionalTensor)))  # AOTAutograd's trace
        and is_causal
        and query.device.type == NAME
        and query.shape[_SEQUENCE] == key.shape[_SEQUENCE]
    )


def _halves(x: Tensor) -> Halves:
    return list(x.chunk(2, _SEQUENCE))


def _chosen(first: Tensor, halves: Halves) -> Tensor:
    return torch.where(first, halves[0], halves[1])


def _next(tensors: list[Tensor], group: Any) -> list[Tensor]:
    """The tensors of the previous rank."""
    size = group.size()
    flat = permute_tensor(torch.cat([t.reshape(-1) for t in tensors]), [(r + 1) % size for r in range(size)], group)
    parts = flat.split([t.numel() for t in tensors])
    return [part.reshape(t.shape) for part, t in zip(parts, tensors, strict=True)]


def _rounds(group: Any, like: Tensor) -> Iterator[Tensor]:
    """For each received block, whether its rank precedes this one, as a bool tensor."""
    rank = group.rank()
    for i in range(1, group.size()):
        yield torch.full((), i <= rank, device=like.device)


class _Merged:
    """Attention to some blocks of keys: the output and the log-sum-exp of the scores, in float32."""

    def __init__(self, out: Tensor, lse: Tensor) -> None:
        self.out, self.lse = out.float(), lse.float()

    def halves(self) -> tuple[_Merged, _Merged]:
        """Split into the first and the second half of the queries."""
        first, second = (_Merged(o, s) for o, s in zip(_halves(self.out), _halves(self.lse), strict=True))
        return first, second

    def with_block(self, other: _Merged, wanted: Tensor | None = None) -> _Merged:
        """Merge one more block of keys, where `wanted` is true."""
        lse = torch.logaddexp(self.lse, other.lse)
        mine, theirs = ((x.lse - lse).exp().unsqueeze(-1) for x in (self, other))
        out = mine * self.out + theirs * other.out
        if wanted is None:
            return _Merged(out, lse)
        return _Merged(torch.where(wanted, out, self.out), torch.where(wanted, lse, self.lse))


def _templated_ring_attention(
    plain: Callable[..., Any],
    group: Any,
    seq_dim: int,
    op: Callable[..., Any],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """The output, the log-sum-exp, and the other results of torch's operator `op`.

    Args:
        plain: torch's function of this name, called outside of traces.
        group: the ranks that hold the parts of the sequence.
        seq_dim: the dimension of the sequence, which is 2.
        op: attention on one rank.
        query: (batch, heads, L, E) of this rank, like `key` and `value`.
    """
    if not _applies(query, key, is_causal):
        return plain(group, seq_dim, op, query, key, value, is_causal, **kwargs)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> _Merged:
        return _Merged(*op(q, k, v, is_causal=False, **kwargs)[:2])

    out, lse, *rest = op(query, key, value, is_causal=True, **kwargs)
    balanced = sequence_is_balanced()
    whole, queries = _Merged(out, lse), _halves(query)
    first, second = whole.halves()
    for before in _rounds(group, query):
        key, value = _next([key, value], group)
        if not balanced:
            whole = whole.with_block(attend(query, key, value), before)
            continue
        keys, values = _halves(key), _halves(value)
        second = second.with_block(attend(queries[1], keys[0], values[0]))
        chosen = attend(*(_chosen(before, halves) for halves in (queries, keys, values)))
        first, second = first.with_block(chosen, before), second.with_block(chosen, ~before)
    if balanced:
        whole = _Merged(
            *(torch.cat(halves, _SEQUENCE) for halves in ((first.out, second.out), (first.lse, second.lse)))
        )
    return whole.out.to(out.dtype), whole.lse.to(lse.dtype), *rest


def _templated_ring_attention_backward(
    plain: Callable[..., Any],
    group: Any,
    seq_dim: int,
    op: Callable[..., Any],
    grad_out: Tensor,
    grad_out_name: str,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    is_causal: bool,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """The gradients of query, key and value, and the other results of `op`, the derivative of one rank's attention.

    The gradients of keys and values travel around the ring with them.
    """
    if not _applies(query, key, is_causal):
        return plain(
            group, seq_dim, op, grad_out, grad_out_name, query, key, value, out, logsumexp, is_causal, **kwargs
        )

    def derive(rows: list[Tensor], k: Tensor, v: Tensor, *, is_causal: bool = False) -> tuple[Any, ...]:
        q, given, o, lse = rows
        found = op(
            query=q, key=k, value=v, out=o, logsumexp=lse, is_causal=is_causal, **{grad_out_name: given}, **kwargs
        )
        return *(g.float() for g in found[:3]), *found[3:]

    rows = [query, grad_out, out, logsumexp]  # one row per query
    grad_query, *found = derive(rows, key, value, is_causal=True)
    grads, rest = found[:2], found[2:]
    dtypes = query.dtype, key.dtype, value.dtype
    balanced = sequence_is_balanced()
    halves = [_halves(x) for x in rows]
    for before in _rounds(group, query):
        key, value = _next([key, value], group)
        grads = _next(grads, group)
        if not balanced:
            kept = [torch.where(before, g, 0) for g in derive(rows, key, value)[:3]]
            grad_query, grads = grad_query + kept[0], [g + k for g, k in zip(grads, kept[1:], strict=True)]
            continue
        pairs = _halves(key), _halves(value)
        always = derive([pair[1] for pair in halves], *(pair[0] for pair in pairs))[:3]
        chosen = derive([_chosen(before, h) for h in halves], *(_chosen(before, pair) for pair in pairs))[:3]
        one, two = ([torch.where(flag, g, 0) for g in chosen] for flag in (before, ~before))
        grad_query = grad_query + torch.cat([one[0], two[0] + always[0]], _SEQUENCE)
        grads = [
            g + torch.cat([a + f, b], _SEQUENCE) for g, a, f, b in zip(grads, one[1:], always[1:], two[1:], strict=True)
        ]
    grads = _next(grads, group)
    return *(g.to(dtype) for g, dtype in zip((grad_query, *grads), dtypes, strict=True)), *rest
