"""Functions of torch whose C++ code reads a value only to refuse it: in a trace the value counts as accepted.

A compiled function finds out when it runs (`async_errors.py`). Where JAX traces the function, nothing is checked.
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

_refusal: ContextVar[str | None] = ContextVar("refusal", default=None)  # of the function that is running

# They call `equal` once, and raise if it says yes.
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
    """What the operation `name` answers where its result is a number and unknown.

    Raises:
        TraceError: the answer is not only read to refuse it.
    """
    refusal, trace = _refusal.get(), current_trace()
    if refusal is None:
        return require_known(result, name)
    if trace is not None and trace.asserts:
        trace.conditions.append((jnp.logical_not(result), Assertion("RuntimeError", refusal, user_line())))
    return False
