"""Tells the files of the user's program from those of libraries, and shortens tracebacks to the former."""

from __future__ import annotations

import contextlib
import functools
import os
import types
from importlib.util import find_spec
from typing import Any

FULL = os.environ.get("TENAX_TRACEBACK") == "full"
_PACKAGES = ("tenax", "tenax.generated", "torch", "jax", "jaxlib", "numpy")
_NOTE_OF_JAX = "--------------------\nFor simplicity, JAX has removed its internal frames"
_GENERATED = ("<tenax", "<frozen", "<eval_with_key>", "<__array_function__")  # the third is torch.fx, the last NumPy


@functools.lru_cache(maxsize=1 << 12)
def is_of_library(file: str) -> bool:
    """Whether code of this file, as tracebacks name it, belongs to tenax or to a library below it."""
    return file.startswith(_library_files())


def line_of(equation: Any) -> str:
    """The innermost line of the user's program that led to an equation of a jaxpr, `file:line`; empty if none did."""
    traceback = equation.source_info.traceback
    frames: Any = traceback.frames if traceback else ()
    return next((f"{f.file_name}:{f.line_num}" for f in frames if not is_of_library(f.file_name)), "")


@functools.cache
def _library_files() -> tuple[str, ...]:
    """The beginnings of the files' names."""
    specs = [find_spec(name) for name in _PACKAGES]
    folders = [folder for spec in specs if spec for folder in spec.submodule_search_locations or ()]
    return (*_GENERATED, *[f"{folder}{os.sep}" for folder in folders], contextlib.__file__, functools.__file__)


def shortened(error: BaseException) -> BaseException:
    """Reduce an error's traceback to the frames of user code, without JAX's note about its own frames and without the
    errors that libraries handled before; `TENAX_TRACEBACK=full` keeps all.

    Called at the entry points of tenax; the caller raises the returned error.
    """
    if FULL:
        return error
    context = error.__context__
    while context and context.__traceback__ and is_of_library(context.__traceback__.tb_frame.f_code.co_filename):
        context = context.__context__
    error.__context__ = context
    if notes := getattr(error, "__notes__", None):
        error.__notes__ = [note for note in notes if not note.startswith(_NOTE_OF_JAX)]
    shown, entries = None, []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    for entry in reversed(entries):
        if not is_of_library(entry.tb_frame.f_code.co_filename):
            shown = types.TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return error.with_traceback(shown)
