"""`torch_xla.experimental.eager`: the device is eager, and a function is compiled where the program says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..compiling import compiled


def eager_mode(enable: bool) -> None:
    """Do nothing: operations run when they are called."""


def is_eager_mode() -> bool:
    """True: operations run when they are called."""
    return True


@contextmanager
def eager_mode_context(enable: bool) -> Iterator[None]:
    """Do nothing: operations run when they are called."""
    yield


def compile(func: Callable[..., Any]) -> Callable[..., Any]:  # noqa: A001 (the name of PyTorch/XLA)
    """A function as one program for each signature; see `tenax.jit`."""
    return compiled(func, None)
