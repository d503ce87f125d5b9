"""Settings that a program reads by calling a function of C: what the function says is compared before each call."""

from __future__ import annotations

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
    np.geterr: lambda: repr(np.geterr()),
    np.get_printoptions: lambda: repr(np.get_printoptions()),
    torch.get_num_threads: torch.get_num_threads,
    torch.get_num_interop_threads: torch.get_num_interop_threads,
    torch.get_float32_matmul_precision: torch.get_float32_matmul_precision,
}
_BY_ID = {id(function): read for function, read in _READERS.items()}


def reader_of(value: Any) -> Callable[[], Any] | None:
    """What tells what a function says, if it is one that reports a setting."""
    return _BY_ID.get(id(value))
