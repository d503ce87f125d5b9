"""`torch_xla._internal.jax_workarounds`, of which nothing is needed: JAX is the runtime."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

import jax

from ..experimental.custom_kernel import jax_import_guard as jax_import_guard


def requires_jax(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function."""
    return func


def jax_env_context() -> AbstractContextManager[None]:
    """A context manager that does nothing."""
    return nullcontext()


def maybe_get_jax(log: bool = True) -> ModuleType:
    """The module `jax`."""
    return jax


def maybe_get_torchax() -> ModuleType:
    """The module `tenax.compat.torchax`."""
    from ... import torchax

    return torchax
