"""`torch_xla._internal.pjrt`: functions on each device, in processes or in threads."""

from __future__ import annotations

import functools
import pickle
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import process
from ..device_type import jax_device
from ..devices import get_xla_supported_devices
from ..distributed.xla_multiprocessing import spawn as _spawn
from ..replicas import run_threads


def spawn(
    fn: Callable[..., Any], nprocs: int | None = None, start_method: str = "spawn", args: Sequence[Any] = ()
) -> None:
    """Call `fn(index, *args)` in one process per device; see `xmp.spawn`."""
    _spawn(fn, args, nprocs, start_method=start_method)


def run_multiprocess(fn: Callable[..., Any], *args: Any, start_method: str = "spawn", **kwargs: Any) -> dict[int, Any]:
    """Call `fn(*args, **kwargs)` in one process per device.

    Returns:
        The result of each process by its ordinal; results are pickled.

    Raises:
        torch.multiprocessing.ProcessRaisedException: a process raised; the others have been terminated.
    """
    with tempfile.TemporaryDirectory() as folder:
        _spawn(_stored, (functools.partial(fn, *args, **kwargs), folder), start_method=start_method)
        files = sorted(Path(folder).iterdir(), key=lambda file: int(file.name))
        return {int(file.name): pickle.loads(file.read_bytes()) for file in files}


def _stored(index: int, fn: Callable[[], Any], folder: str) -> None:
    (Path(folder) / str(index)).write_bytes(pickle.dumps(fn()))


def spawn_threads(fn: Callable[..., Any], args: Sequence[Any] = ()) -> None:
    """Call `fn(index, *args)` in one thread per device of this process. The threads are the replicas of collectives.

    Raises:
        Exception: the first exception of a thread.
    """
    devices = [jax_device(d) for d in get_xla_supported_devices() or []]
    run_threads(devices, "spawn_threads", lambda rank: fn(rank, *args))


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
