"""In-place operators that torch allows on expanded tensors, executed on their distinct elements."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..dispatch.host_errors import raise_host_error
from ..dispatch.signature import Signature
from ..storage.spec import TensorSpec

Tensor = torch.Tensor

OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)


def rewritten(signature: Signature, values: Sequence[Any]) -> Callable[..., Any]:
    """Return a function that executes a call of the operator on an expanded tensor.

    Raises:
        RuntimeError: torch does not allow the operator to write to expanded tensors. Other errors of the CPU kernel,
            such as one about the dtype, take precedence.
    """
    rewrite = _REWRITTEN.get(signature.name.partition(".")[0])
    if rewrite is None:
        raise_host_error(signature, values, blank=True)
        raise RuntimeError(OVERLAP)

    def run(values: list[Any]) -> Tensor | None:
        rewrite(*values)
        return values[0] if signature.returns else None

    return run


def _warn(name: str, example: str) -> None:
    warnings.warn(
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
        f"This also applies to advanced indexing e.g. {example}",
        UserWarning,
        stacklevel=5,
    )


def _expanded_dims(x: Tensor) -> list[int]:
    return [d for d in range(x.dim()) if x.stride(d) == 0 and x.size(d) > 1]


def _compact(x: Tensor) -> Tensor:
    """The tensor with its expanded axes reduced to size 1."""
    dims = _expanded_dims(x)
    return TensorSpec.of(x)._replace(size=tuple(1 if d in dims else n for d, n in enumerate(x.shape))).on(x)


def _fill_where(x: Tensor, mask: Tensor, value: Any) -> None:
    """Fill each element that a mask selects at any of its positions."""
    _compact(x).masked_fill_(mask.expand(x.shape).any(_expanded_dims(x), keepdim=True), value)


def _first(index: Tensor, size: int) -> Tensor:
    """Map the indices of an expanded axis to 0, its only element; raises if one is out of bounds."""
    return torch.zeros(size, dtype=torch.int64, device=index.device)[index]


def _masked_fill_(x: Tensor, mask: Tensor, value: Any) -> None:
    _warn("masked_fill_", "tensor[mask] = scalar")
    _fill_where(x, mask, value)


def _tril_(x: Tensor, diagonal: int) -> None:
    _fill_where(x, torch.ones(x.shape, dtype=torch.bool, device=x.device).triu(diagonal + 1), 0)


def _triu_(x: Tensor, diagonal: int) -> None:
    _fill_where(x, torch.ones(x.shape, dtype=torch.bool, device=x.device).tril(diagonal - 1), 0)


def _index_fill_(x: Tensor, dim: int, index: Tensor, value: Any) -> None:
    _warn("index_fill_", "tensor[mask] = scalar")
    if dim % x.dim() in _expanded_dims(x):
        index = _first(index, x.size(dim))
    _compact(x).index_fill_(dim, index, value)


def _index_put_(
    x: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool, unsafe: bool = False
) -> None:
    dims = _expanded_dims(x)
    indices = [*indices, *[None] * (x.dim() - len(indices))]
    _warn("index_put_", "tensor[indices] = tensor")
    values = _one_for_each(values, x, indices, [d for d in dims if indices[d] is None], accumulate)
    chosen = [i if i is None or d not in dims else _first(i, x.size(d)) for d, i in enumerate(indices)]
    torch.ops.aten.index_put_.default(_compact(x), chosen, values, accumulate)


def _one_for_each(values: Tensor, x: Tensor, indices: list[Tensor | None], dims: list[int], accumulate: bool) -> Tensor:
    """Reduce the values along expanded axes without an index to one: their sum (`accumulate`) or the last."""
    given = [d for d, index in enumerate(indices) if index is not None]
    rank = max(index.dim() for index in indices if index is not None)
    adjacent = given == [*range(given[0], given[-1] + 1)]  # then the result has the index axes in their place
    chosen = [None if index is None else index.to("meta") for index in indices]
    values = values.expand(torch.ops.aten.index.Tensor(torch.empty(x.shape, device="meta"), chosen).shape)
    for d in dims:
        before = sum(g < d for g in given)
        axis = d - before + rank if before or not adjacent else d
        if accumulate:
            values = values.sum(axis, keepdim=True, dtype=values.dtype)
        else:
            values = values.narrow(axis, values.shape[axis] - 1, 1)
    return values


def _foreach_copy_(targets: list[Tensor], sources: list[Tensor], non_blocking: bool = False) -> None:
    # One by one, as torch's composite does: a copy between two tensors of the same elements is a no-op.
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source, non_blocking)


_REWRITTEN: dict[str, Callable[..., None]] = {
    "index_fill_": _index_fill_,
    "index_put_": _index_put_,
    "_foreach_copy_": _foreach_copy_,
    "_index_put_impl_": _index_put_,
    "masked_fill_": _masked_fill_,
    "tril_": _tril_,
    "triu_": _triu_,
}
