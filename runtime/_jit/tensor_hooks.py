"""Tensor hooks, which backward calls: a trace is valid only while they are unchanged.

Existing hooks of a tensor are guarded like any container. A tensor without hooks is checked again only if the global
count of registrations has changed, for which two methods of `torch.Tensor` are wrapped.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .. import patches

_numbers = itertools.count(1)
count = 0


def _counted(register: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(register)
    def counting(*args: Any, **kwargs: Any) -> Any:
        global count
        count = next(_numbers)
        return register(*args, **kwargs)

    return counting


for _name in ("register_hook", "register_post_accumulate_grad_hook"):
    patches.wrap(f"torch.Tensor.{_name}", _counted)


def tables_of(tensor: torch.Tensor) -> list[dict[int, Any]]:
    """The dicts of a tensor's hooks, keyed by handle id; empty if no hook was ever registered."""
    tables = tensor._backward_hooks, tensor._post_accumulate_grad_hooks
    return [table for table in tables if table is not None]


def hooks_of(tensor: torch.Tensor) -> list[Any]:
    """A tensor's hooks."""
    return [hook for table in tables_of(tensor) for hook in table.values()]


@contextmanager
def unhooked(tensors: Iterable[torch.Tensor]) -> Iterator[None]:
    """Temporarily remove the hooks of some tensors."""
    saved = [(table, dict(table)) for t in tensors for table in tables_of(t)]
    for table, _ in saved:
        table.clear()
    try:
        yield
    finally:
        for table, hooks in saved:
            table.update(hooks)
