"""`torchax.ops.jlibrary`: operators as named functions in exported StableHLO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ....interop.convert import t2j
from .jaten import op


def register_jax_composite(composite_name: str, impl: Callable[..., Any], *ops: Any, **jit_args: Any) -> None:
    """Compute operators by a function of arrays that an exported program calls by name.

    Args:
        composite_name: the name of the function in the program.
        impl: the function.
        ops: overloads or packets.
        jit_args: options of `jax.jit`.
    """

    def composite(*args: Any, **kwargs: Any) -> Any:
        return impl(*args, **kwargs)

    composite.__name__ = composite.__qualname__ = composite_name
    op(*ops)(jax.jit(composite, **jit_args))


def register_torch_composite(composite_name: str, impl: Callable[..., Any], *ops: Any, **jit_args: Any) -> None:
    """Compute operators by a function of tensors that an exported program calls by name."""
    register_jax_composite(composite_name, t2j(impl), *ops, **jit_args)
