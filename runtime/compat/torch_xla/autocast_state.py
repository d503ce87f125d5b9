"""Autocast of device type "xla", which is that of device "jax".

torch keeps a state for each type, and only that of "jax" has an effect. So a region of "xla" is one of "jax", and sets
both states; so do torch's setters for type "xla". `torch.is_autocast_enabled("xla")` and `torch.get_autocast_dtype` are
functions of C that read the state of "xla", also in graphs of TorchDynamo. What is set for "jax" does not appear there.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from ... import patches
from ...storage.ordinals import NAME

TYPE = "xla"


def follow() -> None:
    """Make the state of type "xla" that of device "jax"."""
    region = "torch.amp.autocast_mode.autocast"
    patches.wrap(f"{region}.__init__", _init)
    patches.wrap(f"{region}.__enter__", _enter)
    patches.wrap(f"{region}.__exit__", _exit)
    for kind in ("", "xla_"):
        for state in ("enabled", "dtype"):
            patches.wrap(f"torch.set_autocast_{kind}{state}", _both)


def _init(plain: Any) -> Any:
    @functools.wraps(plain)
    def init(self: Any, device_type: str, dtype: torch.dtype | None = None, *args: Any, **kwargs: Any) -> None:
        if device_type == TYPE:
            self._states_before = []
            device_type, dtype = NAME, torch.get_autocast_dtype(TYPE) if dtype is None else dtype
        plain(self, device_type, dtype, *args, **kwargs)

    return init


def _enter(plain: Any) -> Any:
    @functools.wraps(plain)
    def enter(self: Any) -> Any:
        entered = plain(self)
        if hasattr(self, "_states_before"):
            self._states_before.append(_state(TYPE))
            _set(*_state(NAME))
        return entered

    return enter


def _exit(plain: Any) -> Any:
    @functools.wraps(plain)
    def leave(self: Any, *error: Any) -> Any:
        if hasattr(self, "_states_before"):
            _set(*self._states_before.pop())  # and that of "jax", which the region restores
        return plain(self, *error)

    return leave


def _state(kind: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)


def _set(enabled: bool, dtype: torch.dtype) -> None:
    torch.set_autocast_dtype(TYPE, dtype)
    torch.set_autocast_enabled(TYPE, enabled)


def _both(plain: Any) -> Any:
    """A setter, which for type "xla" sets the state of "jax" as well. Deprecated ones do not name the type."""

    @functools.wraps(plain)
    def set_both(*args: Any, **kwargs: Any) -> None:
        plain(*args, **kwargs)
        if TYPE in plain.__name__ or TYPE in (kwargs.get("device_type"), *args[:1]):
            enabled, dtype = _state(TYPE)
            torch.set_autocast_enabled(NAME, enabled)
            torch.set_autocast_dtype(NAME, dtype)

    return set_both
