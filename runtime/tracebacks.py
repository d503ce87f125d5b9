"""Tracebacks that end where the user's program does: without the frames of tenax, and of torch and JAX below them."""

from __future__ import annotations

import os
import types

FULL = os.environ.get("TENAX_TRACEBACK") == "full"
_HIDDEN = frozenset({"tenax", "torch", "jax", "contextlib", "functools"})


def shortened(error: BaseException) -> BaseException:
    """The error, whose traceback has the frames of user code alone; `TENAX_TRACEBACK=full` keeps all.

    It is called where tenax was entered, and the caller raises what it returns.
    """
    if FULL:
        return error
    shown, entries = None, []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    for entry in reversed(entries):
        module = entry.tb_frame.f_globals.get("__name__", "tenax")
        if module.partition(".")[0] not in _HIDDEN:
            shown = types.TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return error.with_traceback(shown)
