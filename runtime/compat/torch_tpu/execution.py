"""`torch.tpu.eager_mode`: operations run at their call, wait for the device as well, or are recorded and fused."""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..._lazy.mode import lazy
from ..._torch.modes import TorchDispatchMode
from ...device.torch_jax import synchronize


class EagerMode(enum.Enum):
    """How this thread runs operations outside of compiled functions."""

    DEFER_NEVER = 0
    DEFER_NEVER_AND_LAUNCH_BLOCKING = 1
    DEFER_AND_FUSE = 2  # `tenax.lazy`


class _Waiting(TorchDispatchMode):
    """Waits after each operation, so that an error of the device is raised at its line."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        synchronize()
        return result


class _Entered(threading.local):
    def __init__(self) -> None:
        self.mode, self.contexts = EagerMode.DEFER_NEVER, ExitStack()


_entered = _Entered()


def mode() -> EagerMode:
    """The mode of this thread."""
    return _entered.mode


def enter(mode: EagerMode) -> None:
    """Change the mode of this thread."""
    mode = EagerMode(mode)
    _entered.contexts.close()
    if mode is not EagerMode.DEFER_NEVER:
        _entered.contexts.enter_context(lazy() if mode is EagerMode.DEFER_AND_FUSE else _Waiting())
    _entered.mode = mode


@contextmanager
def set_eager_mode(mode: EagerMode) -> Iterator[None]:
    """Change the mode of this thread within a block."""
    before = _entered.mode
    enter(mode)
    try:
        yield
    finally:
        enter(before)
