"""`torch_xla.experimental`."""

from __future__ import annotations

from typing import Any

from ..missing import names_of
from .eager import compile as compile  # noqa: A004
from .eager import eager_mode as eager_mode
from .eager import is_eager_mode as is_eager_mode

__getattr__ = names_of(__name__)


def eager_mode_context(enable: bool) -> Any:
    """A context manager that sets `eager_mode(enable)` and restores the mode."""
    from .eager import eager_mode_context

    return eager_mode_context(enable)
