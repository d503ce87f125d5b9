"""Private parts of torch.distributed: process groups and their registries, and settings of context parallelism."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import torch

from ..releases import private_names

_dist: Any = torch.distributed


def host_group(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """Create a group for CPU tensors with torch's gloo, without registering it."""
    with private_names("torch", torch.__version__):
        store = _dist.PrefixStore("host", store)
        group = _dist.ProcessGroup(store, rank, size)
        gloo = _dist.ProcessGroupGloo(store, rank, size, timeout)
        group._set_default_backend(_dist.ProcessGroup.BackendType.GLOO)
        group._register_backend(torch.device("cpu"), _dist.ProcessGroup.BackendType.GLOO, gloo)
        return group


def skip_flight_recorder() -> None:
    """Let torch 2.15 attach no flight recorder to groups of these backends: it asks for a backend written in C++."""
    backends: Any = getattr(_dist.distributed_c10d, "_FR_SELF_RECORDING_BACKENDS", None)
    if backends is not None:
        backends.update(("tenax", "xla", "tpu", "tpu_dist"))


def register_group(name: Any, group: Any) -> None:
    """Register a group under a name for functional collectives, unless it is registered already.

    Raises:
        ValueError: another group has the name.
    """
    with private_names("torch", torch.__version__):
        from torch._C._distributed_c10d import _register_process_group, _resolve_process_group
    try:
        found = _resolve_process_group(name)
    except RuntimeError:  # not registered, or unregistered by destroy_process_group()
        _register_process_group(name, group)
        return
    if found is not group:
        raise ValueError(f"a process group is named {name!r} already; expected an axis of another name")


def register_ranks(group: Any, ranks: Mapping[int, int]) -> None:
    """Register the ranks of a group for `dist.get_process_group_ranks` and `permute_tensor`."""
    with private_names("torch", torch.__version__):
        _dist.distributed_c10d._world.pg_group_ranks[group] = ranks


def permute_tensor(tensor: torch.Tensor, destinations: list[int], group: Any) -> torch.Tensor:
    """Send the tensor of rank `i` to rank `destinations[i]`, and return the received tensor."""
    with private_names("torch", torch.__version__):
        from torch.distributed import _functional_collectives
    return _functional_collectives.permute_tensor(tensor, destinations, group)


def sequence_is_balanced() -> bool:
    """Whether `context_parallel` balances load by assigning each rank an early and a late part of the sequence."""
    with private_names("torch", torch.__version__):
        from torch.distributed.tensor.experimental._context_parallel._attention import _cp_options
    return _cp_options.enable_load_balance
