"""Assertions of compiled programs, such as an index in range: computed with the results, raised when they are ready.

A program cannot raise. Its assertions are one more result, which a later call reads if it is ready. Whatever passes a
value to the host or to JAX waits for it, as for the assertions of CUDA kernels, and so does the end of the process.
"""

from __future__ import annotations

import builtins
import threading
from typing import NamedTuple

import jax
import numpy as np
import torch

from ..storage.memory_errors import as_torch_error
from ..storage.placement import no_jax_trace
from .core import current_trace, user_line


class Assertion(NamedTuple):
    """A condition on the values of one operation, with the error that torch raises when it fails."""

    kind: str
    message: str
    where: str
    ran: str = "in an earlier call of a compiled function"


def condition_error(kind: str, message: str) -> Exception:
    """The exception of a class named `kind`, in `builtins` or `torch.linalg`."""
    return (getattr(builtins, kind, None) or getattr(torch.linalg, kind))(message)


def add_assertion(holds: jax.Array, kind: str, message: str) -> None:
    """Add an assertion to the compiled function that is traced; a pure function has none."""
    trace = current_trace()
    if trace is not None and trace.asserts:
        trace.conditions.append((holds, Assertion(kind, message, user_line())))


_lock = threading.Lock()
_pending: list[tuple[jax.Array, tuple[Assertion, ...]]] = []


def record_assertions(holds: jax.Array, conditions: tuple[Assertion, ...]) -> None:
    """Queue the outcome of a call's assertions; `holds` is bool[n], one element per assertion.

    While a function is traced, the assertions become its own, if it has any.
    """
    if not no_jax_trace():
        outer = current_trace()
        if outer is not None and outer.asserts:
            outer.conditions += zip(holds, conditions, strict=True)
        return
    if holds.platform() != "cpu":
        holds.copy_to_host_async()  # a later call finds it there
    from .exit_report import report_at_exit

    report_at_exit(raise_failed_assertions, _pending.clear)
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
        try:
            held = np.asarray(holds)
        except jax.errors.JaxRuntimeError as error:  # the call itself has failed
            raise as_torch_error(error)  # noqa: B904 (it states its cause)
        for holds_one, (kind, message, where, ran) in zip(held, conditions, strict=True):
            if not holds_one:
                raise condition_error(kind, f"{message} ({ran}{where})")
