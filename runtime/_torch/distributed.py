"""Groups of torch.distributed that are made without its registry."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch

from ..releases import private_names

_dist: Any = torch.distributed


def host_group(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """A group for tensors on the CPU, with torch's gloo."""
    with private_names("torch", torch.__version__):
        store = _dist.PrefixStore("host", store)
        group = _dist.ProcessGroup(store, rank, size)
        gloo = _dist.ProcessGroupGloo(store, rank, size, timeout)
        group._set_default_backend(_dist.ProcessGroup.BackendType.GLOO)
        group._register_backend(torch.device("cpu"), _dist.ProcessGroup.BackendType.GLOO, gloo)
        return group
