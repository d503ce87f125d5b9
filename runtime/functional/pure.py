"""Runs a torch program as a pure function of JAX arrays, for use with all JAX transformations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .custom_vjp import patched_apply
from .keys import DrawKey
from .tracing import trace_pure


def run_pure(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], draw: DrawKey) -> Any:
    """Call a torch function on trees of JAX arrays; its result is a tree of JAX arrays.

    Arrays, including tracers and NumPy arrays, become device tensors. Tensors among the results become their arrays.

    Args:
        function: a function of tensors.
        args, kwargs: trees of arrays and other values.
        draw: returns the key data of each random operation.

    Raises:
        TraceError: the function writes an outside tensor, or needs the value of a traced one.
        NotImplementedError: an array has symbolic dimensions, as under `jax.export`.
    """
    with patched_apply():
        return trace_pure(function, args, kwargs, draw)
