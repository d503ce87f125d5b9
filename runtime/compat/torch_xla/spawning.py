"""Functions on each device, in processes or in threads."""

from __future__ import annotations

import functools
import os
import pickle
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from . import process
from .collectives import broadcast_master_param, rendezvous
from .device_type import jax_device
from .hardware import xla_devices
from .replicas import current, run_threads


def spawn(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int | None = None,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Call `fn(index, *args)` in one process per device of this host.

    Args:
        fn: a function of a module, which the processes import.
        args: further arguments, which are pickled.
        nprocs: None for as many processes as there are devices, or 1 to call the function in this process. On the CPU,
            the environment variable `CPU_NUM_DEVICES` is the number of devices.
        join: wait for the processes.
        daemon: end the processes with this one.
        start_method: "spawn". "fork" and "forkserver" are accepted, but processes are always spawned, because JAX does
            not survive a fork.

    Returns:
        None, or without `join` a context with a method `join`.

    Raises:
        ValueError: `nprocs` is neither 1 nor the number of devices, or there is no such `start_method`.
        torch.multiprocessing.ProcessRaisedException: a process raised; the others have been terminated.
    """
    if start_method not in ("spawn", "fork", "forkserver"):
        raise ValueError(f"xmp.spawn: cannot find context for start_method {start_method!r}; expected 'spawn'")
    if nprocs == 1:
        return _call(fn, args)
    most = process.most_processes()
    if nprocs not in (None, most):
        raise ValueError(
            f"xmp.spawn: nprocs={nprocs}; expected 1, or None for {most}, the number of devices of this host "
            "(CPU_NUM_DEVICES=n makes n of a CPU)"
        )
    return _call(fn, args) if most == 1 else process.start(fn, args, most, join, daemon)


def _call(fn: Callable[..., Any], args: Sequence[Any]) -> None:
    fn(0, *args)


def create_optimized_replica_groups() -> None:
    """None: XLA orders the devices of a collective by itself."""


class MpModelWrapper:
    """A model that is created in each process, and moved to the device with the values of the first process."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model

    def to(self, device: Any) -> torch.nn.Module:
        """Move the model to a device, with the same values in all processes."""
        model = self._model.to(device)
        broadcast_master_param(model)
        return model


class MpSerialExecutor:
    """Runs a function, such as one that downloads data, in one process after the other."""

    def run(self, fn: Callable[[], Any]) -> Any:
        """Call the function in each process in turn, and return its result."""
        result = None
        for turn in range(current().size):
            if turn == current().rank:
                result = fn()
            rendezvous("torch_xla.distributed.xla_multiprocessing.MpSerialExecutor")
        return result


def run_multiprocess(fn: Callable[..., Any], *args: Any, start_method: str = "spawn", **kwargs: Any) -> dict[int, Any]:
    """Call `fn(*args, **kwargs)` in one process per device.

    Returns:
        The result of each process by its ordinal; results are pickled.

    Raises:
        torch.multiprocessing.ProcessRaisedException: a process raised; the others have been terminated.
    """
    with tempfile.TemporaryDirectory() as folder:
        spawn(_stored, (functools.partial(fn, *args, **kwargs), folder), start_method=start_method)
        files = sorted(Path(folder).iterdir(), key=lambda file: int(file.name))
        return {int(file.name): pickle.loads(file.read_bytes()) for file in files}


def _stored(index: int, fn: Callable[[], Any], folder: str) -> None:
    (Path(folder) / str(index)).write_bytes(pickle.dumps(fn()))


def spawn_threads(fn: Callable[..., Any], args: Sequence[Any] = ()) -> None:
    """Call `fn(index, *args)` in one thread per device of this process. The threads are the replicas of collectives.

    Raises:
        Exception: the first exception of a thread.
    """
    run_threads([jax_device(d) for d in xla_devices()], "spawn_threads", lambda rank: fn(rank, *args))


def initialize_singleprocess() -> None:
    """Do nothing: a process that has not been spawned is a single one."""


def initialize_multiprocess(local_rank: int, local_world_size: int) -> None:
    """Do nothing in a process of `xmp.spawn` or `torchrun`, which knows its place.

    Raises:
        NotImplementedError: this process was started in another way.
    """
    if process.spawned() is None and not process.launched():
        raise NotImplementedError(
            "initialize_multiprocess: this process was not started by xmp.spawn or torchrun; expected "
            "torch_xla.launch(fn), or torchrun"
        )


def launch(
    fn: Callable[..., Any], args: Any = (), start_method: str = "spawn", debug_single_process: bool = False
) -> None:
    """Call `fn(index, *args)` in one process per device; under `torchrun`, call it here with the local rank."""
    if process.launched():
        fn(int(os.environ["LOCAL_RANK"]), *args)
    else:
        spawn(fn, args, nprocs=1 if debug_single_process else None, start_method=start_method)
