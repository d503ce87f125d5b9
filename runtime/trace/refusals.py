"""Functions of torch whose C++ code reads a value only to reject it; in a trace the value is assumed to be valid.

A compiled function checks it when it runs (`async_errors.py`). In a pure function nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

import jax.numpy as jnp
import torch

from .async_errors import Assertion
from .core import current_trace, require_known, user_line

_refusal: ContextVar[str | None] = ContextVar("refusal", default=None)  # the message of the running function

# These call `equal` once, and raise if it returns True.
_OVERLAP = "istft: window overlap add min: 1"
_REFUSING: dict[Callable[..., Any], str] = {torch.istft: _OVERLAP, torch.Tensor.istft: _OVERLAP}


def _called(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    before = _refusal.set(_REFUSING[function])
    try:
        return function(*args, **kwargs)
    finally:
        _refusal.reset(before)


REFUSING = {function: partial(_called, function) for function in _REFUSING}


def answer_unknown(result: Any, name: str) -> Any:
    """The result of an operation `name` that returns a Python number, if the number may be unknown.

    Raises:
        TraceError: it is unknown, and not read by one of the functions above.
    """
    refusal, trace = _refusal.get(), current_trace()
    if refusal is None:
        return require_known(result, name)
    if trace is not None and trace.asserts:
        trace.conditions.append((jnp.logical_not(result), Assertion("RuntimeError", refusal, user_line())))
    return False
