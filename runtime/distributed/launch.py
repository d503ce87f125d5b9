"""`tenax.launch`: run a function in several processes on this host."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch

dist: Any = torch.distributed

_TIMEOUT = timedelta(minutes=5)


def launch(fn: Callable[..., Any], nprocs: int, args: Sequence[Any] = (), timeout: timedelta = _TIMEOUT) -> None:
    """Call `fn(rank, *args)` in new processes on this host, which are the ranks of a default group of "tenax".

    Each process has `RANK`, `LOCAL_RANK` and `WORLD_SIZE` in its environment, as under `torchrun`.

    Args:
        fn: a function of a module, which the processes import.
        nprocs: the number of processes.
        args: further arguments of the function, which are pickled.
        timeout: the timeout of collectives.

    Raises:
        torch.multiprocessing.ProcessRaisedException: a rank raised; the message has its traceback. The other ranks
            have been terminated.
        torch.multiprocessing.ProcessExitedException: a rank was killed. The other ranks have been terminated.
    """
    store = dist.TCPStore("127.0.0.1", 0, nprocs, is_master=True, wait_for_workers=False)
    torch.multiprocessing.start_processes(  # type: ignore[attr-defined]
        _run, (fn, nprocs, tuple(args), store.port, timeout), nprocs, start_method="spawn"
    )


def _run(rank: int, fn: Callable[..., Any], nprocs: int, args: Sequence[Any], port: int, timeout: timedelta) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(nprocs)}
    store = dist.TCPStore("127.0.0.1", port, nprocs, is_master=False, timeout=timeout)
    dist.init_process_group("tenax", store=store, rank=rank, world_size=nprocs, timeout=timeout)
    fn(rank, *args)
    dist.barrier()
    dist.destroy_process_group()
