"""Finds the source line for errors that are raised after the function has run."""

from __future__ import annotations

import dis
import functools
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

import torch

from ..errors import TraceError
from .libraries import is_own
from .state_graph import StateGraph

_LINE = re.compile(r"\(.+:\d+, in ")


def line_naming(state: StateGraph, name: str) -> str:
    """The first line in the program's functions that names a variable or attribute, as text; empty if none does."""
    for node in state.nodes.values():
        function = node.value
        if isinstance(function, types.FunctionType) and is_own(function.__module__):
            for code, line in _lines(function.__code__, name):
                return f" ({code.co_filename}:{line}, in {code.co_name})"
    return ""


def _lines(code: types.CodeType, name: str) -> Iterator[tuple[types.CodeType, int]]:
    for step in dis.get_instructions(code):
        if step.argval == name and step.positions is not None and step.positions.lineno is not None:
            yield code, step.positions.lineno
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _lines(constant, name)


def locate(error: TraceError, function: Any) -> None:
    """Append the function's location to an error that names no line."""
    if _LINE.search(str(error)):
        return
    code = _code_of(function)
    if code is not None:
        error.args = (f"{error} ({code.co_filename}:{code.co_firstlineno}, in {code.co_name})",)


def module_called_by(function: Any) -> torch.nn.Module | None:
    """The module whose call a function is, as `tenax.jit(module)` makes it; None if it is none."""
    first = function.args[0] if isinstance(function, functools.partial) and function.args else None
    return first if isinstance(first, torch.nn.Module) and function.func is type(first).__call__ else None


def name_of(function: Any) -> str:
    """The name of a function or module that `tenax.jit` compiles."""
    if (module := module_called_by(function)) is not None:
        return type(module).__name__
    function = function.func if isinstance(function, functools.partial) else function
    return getattr(function, "__qualname__", type(function).__name__)


def _code_of(function: Any) -> types.CodeType | None:
    if (module := module_called_by(function)) is not None:
        function = module
    elif isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(function, types.FunctionType):
        function = getattr(type(function), "forward", None) or type(function).__call__
    return getattr(function, "__code__", None)
