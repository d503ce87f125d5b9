"""Forked child processes: JAX does not survive a fork, so every tensor of the device raises in the child."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

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


def without_warning(plain: Callable[..., None]) -> Callable[..., None]:
    """Silence JAX's fork warning while a `DataLoader` starts its workers, which cannot use the device anyway."""

    @functools.wraps(plain)
    def init(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            plain(*args, **kwargs)

    return init


def install() -> None:
    """Make every cell raise in forked children."""
    os.register_at_fork(after_in_child=_after_fork)
