"""torch's Meta kernels in Python, called without an import of TorchDynamo, which takes a second.

Nearly all of them call functions that TorchDynamo must not trace. The mark that says so imports it on the first call.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import torch

from ..releases import private_names

_EXCLUDED = "__dynamo_disable"  # the attribute of a marked function with what TorchDynamo made of it

with private_names("torch", torch.__version__):
    from torch._decomp import global_decomposition_table

    _MARKED = torch._disable_dynamo(lambda: None).__code__  # type: ignore[attr-defined]


def _wrapped(function: FunctionType) -> Any:
    """What a decorated function calls. `__wrapped__` leaves out the decorators that name another function there."""
    held = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return held["fn"].cell_contents if "fn" in held else getattr(function, "__wrapped__", None)


def _marked() -> Iterator[Any]:
    """The marked functions of torch's references and Meta kernels."""
    tables = [table.values() for table in global_decomposition_table.values()]
    modules = [m for name, m in sys.modules.items() if name.startswith("torch._refs") and m is not None]
    for functions in (*tables, *(vars(m).values() for m in modules)):
        for function in [*functions]:
            inner: Any = function
            while isinstance(inner, FunctionType):
                code, inner = inner.__code__, _wrapped(inner)
                if code is _MARKED and isinstance(inner, FunctionType):
                    yield inner


def call_without_dynamo() -> None:
    """Let marked functions be called as they are until TorchDynamo is imported."""
    if "torch._dynamo" not in sys.modules:
        for function in _marked():
            if not hasattr(function, _EXCLUDED):
                setattr(function, _EXCLUDED, function)


def call_with_dynamo() -> None:
    """Undo `call_without_dynamo`, once TorchDynamo has been imported."""
    for function in _marked():
        if getattr(function, _EXCLUDED, None) is function:
            delattr(function, _EXCLUDED)
