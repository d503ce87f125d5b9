"""Calls in another process, for what may end its process."""

from __future__ import annotations

import atexit
import functools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

_SERVE = f"from {__name__} import serve; serve()"


class ProcessEndedError(RuntimeError):
    """A call ended the process that it ran in."""


@functools.cache
def _process() -> subprocess.Popen[bytes]:
    return interpreter(_SERVE)


def interpreter(program: str, **options: Any) -> subprocess.Popen[bytes]:
    """A Python process with pipes, which ends with this one; `options` are those of `subprocess.Popen`."""
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with process:  # closes the pipes, and waits
        pass


def serve() -> None:
    """Answer calls from standard input until it ends. What they print goes to standard error."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            function, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result: tuple[object, BaseException | None] = function(*args), None
        except Exception as error:
            result = None, error
        pickle.dump(result, results)
        results.flush()


def call(function: Callable[..., Result], *args: object) -> Result:
    """What a function of a module returns in the other process; function, arguments and result are pickled.

    Raises:
        ProcessEndedError: the process ended before the function returned. The next call starts another one.
        Exception: what the function raised.
    """
    process = _process()
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump((function, args), process.stdin)
        process.stdin.flush()
        result, error = pickle.load(process.stdout)
    except (BrokenPipeError, EOFError) as ended:
        _process.cache_clear()
        raise ProcessEndedError(f"{function.__name__} ended its process with status {process.wait()}") from ended
    if error is not None:
        raise error
    return result
