"""Checks of the numbers of a call before it runs, for operators whose programs do not depend on these numbers: the
functions that `guard` in the specs names. They take the arguments by position, as autograd passes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import torch

from ..dispatch.signature import Signature


def index_in_axis(input_sizes: Sequence[int], dim: int, index: int) -> None:
    """Raise torch's error for an index beyond the axis that it selects from."""
    size = input_sizes[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {[*input_sizes]} at dimension "
            f"{dim % len(input_sizes)}"
        )


def slice_of_length(
    grad_output: torch.Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> None:
    """Raise torch's error for a gradient of another length than the slice."""
    count, shape = len(range(*slice(start, end, step).indices(input_sizes[dim]))), [*grad_output.shape]
    if count == shape[dim]:
        return
    dim %= len(input_sizes)
    if count == 1:
        part = [*input_sizes[:dim], 1, *input_sizes[dim + 1 :]]
        raise RuntimeError(f"output with shape {part} doesn't match the broadcast shape {shape}")
    raise RuntimeError(
        f"The size of tensor a ({count}) must match the size of tensor b ({shape[dim]}) at non-singleton dimension "
        f"{dim}"
    )


GUARDS: dict[str, Callable[..., None]] = {"index_in_axis": index_in_axis, "slice_of_length": slice_of_length}


def with_guard(signature: Signature, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an op whose spec has `guard`, called after the check."""
    word, *names = signature.row.guard
    check, picked = GUARDS[word], itemgetter(*[signature.names.index(name) for name in names])

    def guarded(*args: Any, **kwargs: Any) -> Any:
        passed = picked(signature.bind(args, kwargs) if kwargs else args)
        if torch.SymInt not in map(type, passed):  # the number of a trace, which it may not know
            check(*passed)
        return kernel(*args, **kwargs)

    return guarded
