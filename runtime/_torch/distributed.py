"""Groups of torch.distributed that are made without its registry."""

from __future__ import annotations

from collections.abc import Mapping
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


def register_group(name: Any, group: Any) -> None:
    """Let functional collectives find a group by its name, unless they do.

    Raises:
        ValueError: another group has the name.
    """
    with private_names("torch", torch.__version__):
        from torch._C._distributed_c10d import _register_process_group, _resolve_process_group
    try:
        found = _resolve_process_group(name)
    except RuntimeError:  # torch forgets all groups with destroy_process_group()
        _register_process_group(name, group)
        return
    if found is not group:
        raise ValueError(f"a process group is named {name!r} already; expected an axis of another name")


def register_ranks(group: Any, ranks: Mapping[int, int]) -> None:
    """Tell torch the ranks of a group, as it asks for them in `dist.get_process_group_ranks` and `permute_tensor`."""
    with private_names("torch", torch.__version__):
        _dist.distributed_c10d._world.pg_group_ranks[group] = ranks


def permute_tensor(tensor: torch.Tensor, destinations: list[int], group: Any) -> torch.Tensor:
    """What each rank receives where rank `i` sends a tensor to `destinations[i]`."""
    with private_names("torch", torch.__version__):
        from torch.distributed import _functional_collectives
    return _functional_collectives.permute_tensor(tensor, destinations, group)


def sequence_is_balanced() -> bool:
    """Whether `context_parallel` gives each rank an early and a late part of the sequence."""
    with private_names("torch", torch.__version__):
        from torch.distributed.tensor.experimental._context_parallel._attention import _cp_options
    return _cp_options.enable_load_balance
