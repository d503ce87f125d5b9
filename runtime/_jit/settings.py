"""Settings that a program reads by calling a function; the function's result is compared before each call."""

from __future__ import annotations

import abc
import gc
import inspect
import locale
import logging
import os
import sys
import threading
import types
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

_READERS: dict[Any, Callable[[], Any]] = {
    os.getenv: lambda: repr([*os.environ.items()]),
    gc.get_threshold: lambda: repr(gc.get_threshold()),
    np.geterr: lambda: repr(np.geterr()),
    np.get_printoptions: lambda: repr(np.get_printoptions()),
    **dict.fromkeys((isinstance, issubclass), abc.get_cache_token),  # changed by registering a virtual subclass
    **dict.fromkeys((threading.enumerate, threading.active_count), lambda: repr(threading.enumerate())),
    **dict.fromkeys((threading.current_thread, threading.get_ident, threading.get_native_id), threading.get_ident),
    **dict.fromkeys((locale.getlocale, locale.localeconv, locale.setlocale), lambda: locale.setlocale(locale.LC_ALL)),
    **{
        function: function
        for function in (
            *(os.getcwd, sys.getrecursionlimit, gc.isenabled, torch.initial_seed, torch.is_warn_always_enabled),
            *(torch.get_num_threads, torch.get_num_interop_threads, torch.get_float32_matmul_precision),
            *(torch.is_deterministic_algorithms_warn_only_enabled, torch.backends.cuda.flash_sdp_enabled),
            *(torch.backends.cuda.mem_efficient_sdp_enabled, torch.backends.cuda.math_sdp_enabled),
            torch.backends.cuda.cudnn_sdp_enabled,
        )
    },
}
_BY_ID = {id(function): read for function, read in _READERS.items()}
_DECIMAL = ("getcontext", "Decimal", "localcontext")  # by name, because most programs never import the module


class Flag:
    """An attribute stored in C or in a library, such as those of `torch.backends`."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name

    def read(self) -> str:
        """Its current value, as text."""
        return repr(getattr(self.owner, self.name, None))


@cache
def flag_of(owner: Any, name: str) -> Flag | None:
    """The flag of a name: a property of a module that has its own class, or an attribute of a `torch.backends` object.

    None if the name is not a settable attribute.
    """
    if name.startswith("__"):
        return None
    if isinstance(owner, types.ModuleType):
        is_flag = hasattr(type(inspect.getattr_static(type(owner), name, None)), "__set__")
    else:
        is_flag = type(owner).__module__.startswith("torch.backends") and hasattr(owner, name)
    return Flag(owner, name) if is_flag else None


def reader_of(value: Any) -> Callable[[], Any] | None:
    """A function that reads the setting that a function or flag reports; None if it does not report one."""
    if isinstance(value, Flag):
        return value.read
    if isinstance(value, logging.Logger):
        return lambda: repr((value.disabled, value.manager.disable, value.level, value.getEffectiveLevel()))
    decimal = sys.modules.get("decimal")
    if decimal is not None and any(value is getattr(decimal, name) for name in _DECIMAL):
        return lambda: repr(decimal.getcontext())
    return _BY_ID.get(id(value))
