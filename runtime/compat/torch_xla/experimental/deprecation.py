"""`torch_xla.experimental.deprecation`: functions that warn once of their new name."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

Function = Callable[..., Any]


def deprecated(
    module: ModuleType, new: Function, old_name: str | None = None, extra_msg: str | None = None
) -> Function:
    """A function that calls `new`, and logs a warning at its first call."""
    text = f"{module.__name__}.{old_name or new.__name__} is deprecated. Use {new.__module__}.{new.__name__} instead."
    warned: list[bool] = []

    @functools.wraps(new)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not warned:
            warned.append(True)
            logging.warning("%s", f"{text} {extra_msg}" if extra_msg else text)
        return new(*args, **kwargs)

    return call


def mark_deprecated(new: Function, extra_msg: str | None = None) -> Callable[[Function], Function]:
    """A decorator that replaces a function by `new`, with a warning."""
    return lambda function: deprecated(sys.modules[function.__module__], new, function.__name__, extra_msg)


def register_deprecated(module: ModuleType, new: Function) -> None:
    """Add `new` to a module under its own name, with a warning."""
    setattr(module, new.__name__, deprecated(module, new))
