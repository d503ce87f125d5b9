"""`torch_xla.core.xla_builder`, of which only `call_jax` exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....interop.calls import call_jax as _call_jax
from ..missing import names_of

__getattr__ = names_of(__name__)


def call_jax(
    jax_func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    name: str | None = None,
    override_hash: Any = None,
    name_override: str | None = None,
) -> Any:
    """Call a JAX function with tensors; see `tenax.call_jax`. The names and the hash are not needed."""
    return _call_jax(jax_func, *args, **(kwargs or {}))
