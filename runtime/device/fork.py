"""Forked child processes: JAX does not survive a fork, so every tensor of the device raises in the child."""

from __future__ import annotations

import os
import sys
import warnings

_forked = False


def is_forked_child() -> bool:
    """Whether this process was forked from one in which JAX was imported."""
    return _forked


def _after_fork() -> None:
    global _forked
    _forked = "jax" in sys.modules
    if _forked:
        from ..storage.cell import poison

        poison()


def install() -> None:
    """Make every cell raise in forked children, and silence JAX's warning about the workers of a `DataLoader`."""
    os.register_at_fork(after_in_child=_after_fork)
    warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning, r"multiprocessing\.popen_fork")
