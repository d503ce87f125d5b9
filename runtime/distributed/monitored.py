"""`monitored_barrier`: a barrier through the store of a group, whose error names the ranks that do not arrive in time.

The messages are those of gloo, which programs match. gloo itself would have to connect all ranks first, and would not
name those that are missing then.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch.distributed import DistBackendError

from .agreement import appears

dist: Any = torch.distributed


class MonitoredBarriers:
    """The barriers of one rank of a group."""

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self.store, self.rank, self.size = store, rank, size
        self.count = 0

    def meet(self, timeout: timedelta, wait_all_ranks: bool) -> None:
        """Wait for all ranks, on this thread.

        Raises:
            DistBackendError: on the first rank, another one did not arrive in time; with `wait_all_ranks`, the error
                names all of these. On other ranks, the first one did not answer, or reported an error.
        """
        self.count += 1
        prefix, seconds = f"monitored/{self.count}", timeout.total_seconds()
        if self.rank:
            self.store.set(f"{prefix}/{self.rank}", "")
            if not appears(self.store, f"{prefix}/met", seconds) or self.store.get(f"{prefix}/met") != b"all":
                raise DistBackendError(
                    f"Rank {self.rank} successfully reached monitoredBarrier, but received errors while waiting for "
                    "send/recv from rank 0. Please check rank 0 logs for faulty rank."
                )
            return
        error = self._missing(prefix, seconds, wait_all_ranks)
        self.store.set(f"{prefix}/met", error or "all")
        if error:
            raise DistBackendError(f"[Rank 0]: {error}")

    def _missing(self, prefix: str, seconds: float, wait_all_ranks: bool) -> str:
        """What the first rank reports; empty if all ranks arrive."""
        deadline = time.monotonic() + seconds
        arrived: list[int] = []
        missing: list[int] = []
        text = f"{seconds * 1000:.0f} ms"
        for other in range(1, self.size):
            left = deadline - time.monotonic()
            if left <= 0 and not wait_all_ranks:
                return (
                    f"Rank 0 timed out in monitoredBarrier after {text}. Ranks that have arrived: "
                    f"{', '.join(map(str, arrived)) or 'none'}."
                )
            if appears(self.store, f"{prefix}/{other}", left):
                arrived.append(other)
            elif not wait_all_ranks:
                return f"Rank {other} failed to pass monitoredBarrier in {text}"
            else:
                missing.append(other)
        if not missing:
            return ""
        return f"Ranks {', '.join(map(str, missing))} failed to pass monitoredBarrier in {text}"


def monitored_barrier(
    plain: Callable[..., Any], group: Any = None, timeout: Any = None, wait_all_ranks: bool = False
) -> Any:
    """`dist.monitored_barrier`, as `plain`, which also accepts groups of "tenax"."""
    chosen = dist.group.WORLD if group is None else group
    if getattr(chosen, "getBackendName", str)() != "tenax":
        return plain(group, timeout, wait_all_ranks)
    if isinstance(timeout, float):
        warnings.warn(
            f"Please specify timeout arg as a timedelta. Converting current value of {timeout} assuming it represents "
            "seconds",
            stacklevel=3,
        )
        timeout = timedelta(seconds=timeout)
    if not isinstance(timeout, timedelta | None):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return chosen.monitored_barrier(timeout, wait_all_ranks)
