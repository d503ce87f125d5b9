"""`tenax.lazy` and `tenax.sync`."""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from typing import Any

from ..storage.recording import recording, run_compiled_ahead
from .tape import Tape


class _Own(threading.local):
    def __init__(self) -> None:
        self.tape = Tape()


_own = _Own()  # the tape of each thread, with its history and the place where its loop is cut


class lazy(ContextDecorator):  # noqa: N801 (used as a function)
    """Record the operations of this thread, and run them as one compiled program when a value is needed, at
    `tenax.sync()`, and at the end.

    A context manager and a decorator: `with tenax.lazy():`, `@tenax.lazy()`. With `TENAX_LAZY=1` in the environment all
    threads record from their first operation on.

    Raises:
        IndexError, RuntimeError, ...: at the end, if a data-dependent check failed; the message names the line.
    """

    def __init__(self) -> None:
        self._outer: list[tuple[Any, bool]] = []

    def __enter__(self) -> None:
        self._outer.append((recording.tape, _own.tape.paused))
        recording.tape, _own.tape.paused = _own.tape, False

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        recording.tape, _own.tape.paused = self._outer.pop()
        if error is None:
            _own.tape.flush(barrier=True, wait=True, cause="the end of tenax.lazy")
        elif isinstance(error, Exception):
            try:  # run what was recorded; otherwise a failed check would be raised by a later program
                _own.tape.flush(barrier=True, wait=True, cause="an error in tenax.lazy")
            except Exception as failed:
                error.add_note(f"tenax.lazy: before that, a recorded operation failed: {failed}")

    def _recreate_cm(self) -> lazy:
        return lazy()  # calls of a decorated function may overlap


def sync(wait: bool = False) -> None:
    """End a step of lazy mode: run what this thread has recorded. A no-op in eager mode.

    Arrays that were overwritten since the last step are reused if nothing else holds them.

    Args:
        wait: wait for data-dependent checks (an index in range), and raise the error of the first that failed;
            otherwise such an error is raised by a later `sync`, or when a value is read.
    """
    if _own.tape.paused:
        run_compiled_ahead()
        _own.tape.flush(wait=wait)
        _own.tape.ended()
        return
    tape = recording.tape
    if tape is not None and not tape.ahead:
        tape.cuts.barrier(len(tape.ops))
        tape.flush(barrier=True, wait=wait)


def own_tape() -> Tape:
    """The tape of this thread."""
    return _own.tape


def record_everywhere() -> None:
    """Turn on lazy mode on this thread and on new threads, for `TENAX_LAZY=1`."""
    type(recording).make = staticmethod(own_tape)
    recording.tape = own_tape()


def record_nowhere() -> None:
    """Turn off lazy mode on this thread and on new threads."""
    type(recording).make = staticmethod(lambda: None)
    own_tape().flush()
    recording.tape, own_tape().paused = None, False
