"""`torchax.ops.op_base`: registration of a single function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .ops_registry import register_torch_function_op


def register_function(torch_func: Any, **kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: `register_torch_function_op` for one function."""
    return functools.partial(register_torch_function_op, torch_func, **kwargs)
