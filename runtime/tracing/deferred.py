"""Conditions of compiled programs, such as an index in range: found out with the results, raised when these are there.

A program cannot raise. Its conditions are one more result, and reading it at once would wait for the device in every
call. So it is read when it is ready: at a later call, or in `synchronize`, as the assertions of CUDA kernels are.
"""

from __future__ import annotations

import builtins
import threading
from typing import NamedTuple

import jax
import numpy as np
import torch


class Condition(NamedTuple):
    """What must hold of the values of one operation, and the error of torch if it does not."""

    kind: str
    message: str
    where: str


_lock = threading.Lock()
_pending: list[tuple[jax.Array, tuple[Condition, ...]]] = []


def defer(holds: jax.Array, conditions: tuple[Condition, ...]) -> None:
    """Note what a call of a program found of its conditions: bool[n]."""
    with _lock:
        _pending.append((holds, conditions))


def verify(wait: bool = False) -> None:
    """Raise for the first condition that did not hold, of the calls that are done; with `wait`, of all.

    Raises:
        IndexError, RuntimeError, ...: what torch raises of such values.
    """
    while _pending:
        with _lock:
            if not _pending or not (wait or _pending[0][0].is_ready()):  # type: ignore[attr-defined]
                return
            holds, conditions = _pending.pop(0)
        for held, (kind, message, where) in zip(np.asarray(holds), conditions, strict=True):
            if not held:
                error = getattr(builtins, kind, None) or getattr(torch.linalg, kind)
                raise error(f"{message} (in an earlier call of a compiled function{where})")
