"""Shape and dtype of the result of a sparse op, inferred by calling CPU torch on placeholder tensors without data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import torch

from .._torch.operators import overload_named
from ..trace.core import SYMBOLIC_TYPES

Tensor = torch.Tensor


class ResultMeta(NamedTuple):
    """Shape and dtype of a result."""

    shape: torch.Size
    dtype: torch.dtype


def _hashable_meta(value: Any) -> Any:
    """A hashable description of the parts of an argument that determine errors and result shapes."""
    if isinstance(value, (list, tuple)):
        return list, tuple(_hashable_meta(v) for v in value)
    if type(value) in SYMBOLIC_TYPES:  # a symbolic number, whose value does not matter here
        return SYMBOLIC_TYPES[type(value)], 1
    if not isinstance(value, Tensor):
        return type(value), value
    if value.layout is torch.strided:
        return value.layout, value.shape, value.dtype
    blocked = value.layout in (torch.sparse_bsr, torch.sparse_bsc)
    block = tuple(value.values().shape[value.dim() - value.dense_dim() - 1 :][:2]) if blocked else None
    return value.layout, value.shape, value.dtype, value.sparse_dim(), value.dense_dim(), block


def _stand_in(described: Any) -> Any:
    """Build a host value from its description; sparse tensors store no elements, strided ones a single 0."""
    kind, *rest = described
    if kind is list:
        return [_stand_in(d) for d in rest[0]]
    if not isinstance(kind, torch.layout):
        return rest[0]
    size, dtype, *dims = rest
    if kind is torch.strided:
        return torch.zeros((), dtype=dtype, device="cpu").expand(size)
    if kind is torch.sparse_coo:
        return torch.sparse_coo_tensor(
            torch.empty((dims[0], 0), dtype=torch.int64, device="cpu"),
            torch.empty((0, *size[dims[0] :]), dtype=dtype, device="cpu"),
            size,
            is_coalesced=True,
            check_invariants=False,
        )
    return torch.zeros(size, dtype=dtype, device="cpu").to_sparse(layout=kind, blocksize=dims[2], dense_dim=dims[1])


@lru_cache(maxsize=1 << 12)
def _infer_result(name: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> Any:
    result = overload_named(name)(*(_stand_in(a) for a in args), **{k: _stand_in(v) for k, v in kwargs})
    return (
        ResultMeta(result.shape, result.dtype)
        if isinstance(result, Tensor)
        else tuple(ResultMeta(f.shape, f.dtype) for f in result)
    )


def infer_result(name: str, args: Any, kwargs: Any) -> Any:
    """Infer the shapes and dtypes of the results by calling CPU torch on placeholders for the arguments.

    Raises CPU torch's errors.
    """
    return _infer_result(
        name, tuple(_hashable_meta(a) for a in args), tuple((k, _hashable_meta(v)) for k, v in kwargs.items())
    )
