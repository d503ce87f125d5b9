"""Settings that a program reads by calling a function of C: what the function says is compared before each call."""

from __future__ import annotations

import abc
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

_READERS: dict[Any, Callable[[], Any]] = {
    os.getcwd: os.getcwd,
    os.getenv: lambda: repr([*os.environ.items()]),
    sys.getrecursionlimit: sys.getrecursionlimit,
    gc.get_threshold: lambda: repr(gc.get_threshold()),
    gc.isenabled: gc.isenabled,
    **dict.fromkeys((isinstance, issubclass), abc.get_cache_token),  # which a class registered with another changes
    np.geterr: lambda: repr(np.geterr()),
    np.get_printoptions: lambda: repr(np.get_printoptions()),
    torch.get_num_threads: torch.get_num_threads,
    torch.get_num_interop_threads: torch.get_num_interop_threads,
    torch.get_float32_matmul_precision: torch.get_float32_matmul_precision,
}
_BY_ID = {id(function): read for function, read in _READERS.items()}
_DECIMAL = ("getcontext", "Decimal", "localcontext")  # of a module that most programs never import


def reader_of(value: Any) -> Callable[[], Any] | None:
    """What tells what a function says, if it is one that reports a setting."""
    decimal = sys.modules.get("decimal")
    if decimal is not None and any(value is getattr(decimal, name) for name in _DECIMAL):
        return lambda: repr(decimal.getcontext())
    return _BY_ID.get(id(value))
