"""Tracebacks with only the user's frames, without those of tenax, torch and JAX."""

from __future__ import annotations

import os
import types

FULL = os.environ.get("TENAX_TRACEBACK") == "full"
_HIDDEN = frozenset({"tenax", "torch", "jax", "contextlib", "functools"})


def shortened(error: BaseException) -> BaseException:
    """Reduce an error's traceback to the frames of user code; `TENAX_TRACEBACK=full` keeps all.

    Called at the entry points of tenax; the caller raises the returned error.
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
