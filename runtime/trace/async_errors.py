"""Assertions of compiled programs, such as an index in range: computed with the results, raised when they are ready.

A program cannot raise. Its assertions are one more result, which is read once it is ready: in a later call, or in
`synchronize`, like device-side assertions in CUDA kernels. Reading it at once would make every call wait.
"""

from __future__ import annotations

import builtins
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

if TYPE_CHECKING:
    import jax


class Assertion(NamedTuple):
    """A condition on the values of one operation, with the error that torch raises when it fails."""

    kind: str
    message: str
    where: str
    ran: str = "in an earlier call of a compiled function"


def condition_error(kind: str, message: str) -> Exception:
    """The exception of a class named `kind`, in `builtins` or `torch.linalg`."""
    return (getattr(builtins, kind, None) or getattr(torch.linalg, kind))(message)


_lock = threading.Lock()
_pending: list[tuple[jax.Array, tuple[Assertion, ...]]] = []


def record_assertions(holds: jax.Array, conditions: tuple[Assertion, ...]) -> None:
    """Queue the outcome of a call's assertions; `holds` is bool[n], one element per assertion."""
    if holds.platform() != "cpu":
        holds.copy_to_host_async()  # a later call finds it there
    with _lock:
        _pending.append((holds, conditions))


def raise_failed_assertions(wait: bool = False) -> None:
    """Raise the error of the first failed assertion among the calls that have finished; with `wait`, among all calls.

    Raises:
        IndexError, RuntimeError, ...: the error that torch raises for such values.
    """
    while _pending:
        with _lock:
            if not _pending or not (wait or _pending[0][0].is_ready()):  # type: ignore[attr-defined]
                return
            holds, conditions = _pending.pop(0)
        for held, (kind, message, where, ran) in zip(np.asarray(holds), conditions, strict=True):
            if not held:
                raise condition_error(kind, f"{message} ({ran}{where})")
