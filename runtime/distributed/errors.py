"""The error of a collective that could not finish, and the description of collectives in errors and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch.distributed as dist

from ..errors import TraceError

DistributedError = dist.DistBackendError


class DifferentTracesError(DistributedError, TraceError):
    """The ranks have traced different programs. All of them raise it, so their group remains usable."""


def describe(name: str, arrays: Sequence[Any], **details: Any) -> str:
    """Describe a collective, such as `all_reduce(op=SUM) of float32[4], int64[2, 3]`."""
    shown = ", ".join(f"{key}={value}" for key, value in details.items() if value is not None)
    shapes = ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in arrays[:8])
    more = f", and {len(arrays) - 8} more" if len(arrays) > 8 else ""
    return f"{name}({shown}) of {shapes}{more}"
