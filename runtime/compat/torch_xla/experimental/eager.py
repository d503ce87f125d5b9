"""`torch_xla.experimental.eager`: whether operations run when they are called, or at the end of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...._lazy.mode import record_everywhere, record_nowhere
from ....storage.recording import recording
from ..compiling import compiled


def eager_mode(enable: bool) -> None:
    """Run operations when they are called, or record them until the end of the step."""
    (record_nowhere if enable else record_everywhere)()


def is_eager_mode() -> bool:
    """Whether operations run when they are called, and are not recorded by `install()`, `tenax xla` or `tenax.lazy`."""
    return recording.tape is None or recording.tape.ahead


@contextmanager
def eager_mode_context(enable: bool) -> Iterator[None]:
    """A context manager that sets `eager_mode(enable)` and restores the mode."""
    before = is_eager_mode()
    eager_mode(enable)
    try:
        yield
    finally:
        eager_mode(before)


def compile(func: Callable[..., Any]) -> Callable[..., Any]:  # noqa: A001 (the name of PyTorch/XLA)
    """Compile a function to one program per signature; see `tenax.jit`."""
    return compiled(func, None)
