"""Registration of `torch.autocast("jax")`; its kernels (autocast_kernels.py) are imported when first called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import patches
from .._torch.dispatcher import operator_names
from .registry import when_called


def _kernel(name: str, policy: Any) -> Callable[..., Any]:
    from .autocast_kernels import kernel_of

    return kernel_of(name, policy)


def _clear_with(clear: Callable[[], None]) -> Callable[[], None]:
    def clear_autocast_cache() -> None:
        kernels = sys.modules.get(f"{__package__}.autocast_kernels")
        if kernels is not None:
            kernels.clear_cache()
        clear()

    return clear_autocast_cache


def install(library: Any) -> None:
    """Register the policies with torch's dispatcher, and make clearing torch's weight cache clear the device's too."""
    from tenax.generated.autocast import POLICIES

    held = set(operator_names())  # of this torch release; the table covers several
    for name in (name for name in POLICIES if f"aten::{name}" in held):
        library.impl(name, when_called(partial(_kernel, name, POLICIES[name])), "AutocastPrivateUse1")
    patches.wrap("torch.clear_autocast_cache", _clear_with)
