"""`torchax.ops.jaten`: functions of arrays for torch operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ops_registry import register_torch_dispatch_op


def op(*aten: Any, **kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: `register_torch_dispatch_op` for each operator."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for one in aten:
            register_torch_dispatch_op(one, function, **kwargs)
        return function

    return register
