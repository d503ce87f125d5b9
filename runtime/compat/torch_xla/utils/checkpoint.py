"""`torch_xla.utils.checkpoint`: torch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.checkpoint import checkpoint as _checkpoint

from ..missing import names_of

__getattr__ = names_of(__name__)


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = True, **kwargs: Any) -> Any:
    """Call a function whose intermediate values are recomputed for the gradient."""
    return _checkpoint(function, *args, use_reentrant=use_reentrant, **kwargs)
