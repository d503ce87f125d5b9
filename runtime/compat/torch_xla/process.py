"""The processes of `xmp.spawn`: how a rank starts, and the process group, also under `torchrun`.

A rank of `xmp.spawn` joins JAX before the program runs, because JAX joins processes only when it starts. The default
group of `torch.distributed` is created when the program needs it, by `init_process_group("xla")` or a collective.
"""

from __future__ import annotations

import functools
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jax
import torch

from ... import patches
from ..._jax import backends_are_initialized
from ..._torch import NAME

dist: Any = torch.distributed

JAX_PLATFORMS = {"CPU": "cpu", "GPU": "cuda,rocm", "CUDA": "cuda", "ROCM": "rocm", "TPU": "tpu"}
_FORCED = "--xla_force_host_platform_device_count"

TIMEOUT = timedelta(seconds=float(os.environ.get("TENAX_XLA_TIMEOUT", "300")))
_COUNTS = ("CPU_NUM_DEVICES", "GPU_NUM_DEVICES", "TPU_NUM_DEVICES")
_COUNT = "import jax; print(jax.local_device_count())"


@dataclass(frozen=True)
class _Spawned:
    """A process of `xmp.spawn`."""

    rank: int
    size: int
    store: Any

    @property
    def local_rank(self) -> int:
        """The rank: all processes are on this host."""
        return self.rank


_spawned: list[_Spawned] = []
_made: list[Any] = []  # the default group, if the program has not made it itself
groups = 0  # how often the program has made a default group, which may change this replica's place


@functools.cache
def most_processes() -> int:
    """The number of processes that `xmp.spawn` starts: the devices of this host, or `CPU_NUM_DEVICES` and its like.

    A separate process counts the devices, because this one must not acquire them.
    """
    for name in _COUNTS:
        if name in os.environ:
            return int(os.environ[name])
    return int(subprocess.run([sys.executable, "-c", _COUNT], capture_output=True, text=True, check=True).stdout)


def start(fn: Callable[..., Any], args: Sequence[Any], size: int, join: bool, daemon: bool) -> Any:
    """Call `fn(rank, *args)` in new processes; see `xmp.spawn`."""
    store = dist.TCPStore("127.0.0.1", 0, size, is_master=True, wait_for_workers=False)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    context = torch.multiprocessing.start_processes(  # type: ignore[attr-defined]
        _run, (fn, tuple(args), size, store.port, port), size, join=join, daemon=daemon, start_method="spawn"
    )
    if context is not None:
        context.store = store  # to keep it alive as long as the processes need it
    return context


def _run(rank: int, fn: Callable[..., Any], args: Sequence[Any], size: int, port: int, free: int) -> None:
    from ...distributed.world import make_world

    if backends_are_initialized():
        raise RuntimeError(
            "xmp.spawn: a new process has used the device before it joined the others, while it imported the module of "
            f"{getattr(fn, '__name__', fn)}; expected tensors and devices inside functions, or below "
            "`if __name__ == '__main__':`"
        )
    _one_device()
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": str(size)}
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(free))  # for `init_method="env://"`
    store = dist.TCPStore("127.0.0.1", port, size, is_master=False, timeout=TIMEOUT)
    make_world(dist.PrefixStore("join", store), rank, size, TIMEOUT)
    _spawned.append(_Spawned(rank, size, store))
    fn(rank, *args)
    if group() is not None:
        dist.barrier()
        dist.destroy_process_group()


def take_environment() -> None:
    """Apply `PJRT_DEVICE` and `CPU_NUM_DEVICES`, unless JAX has started or is configured otherwise.

    PyTorch/XLA reads them at the first use of a device, so programs may set them after the import.
    """
    if backends_are_initialized() or _spawned:
        return
    platform = os.environ.get("PJRT_DEVICE", "").upper()
    if platform in JAX_PLATFORMS and "JAX_PLATFORMS" not in os.environ:
        jax.config.update("jax_platforms", JAX_PLATFORMS[platform])
    if "CPU_NUM_DEVICES" in os.environ and _FORCED not in os.environ.get("XLA_FLAGS", ""):
        jax.config.update("jax_num_cpu_devices", int(os.environ["CPU_NUM_DEVICES"]))


def _one_device() -> None:
    """Configure a single CPU device, since each of several processes has one."""
    flags = [f for f in os.environ.get("XLA_FLAGS", "").split() if not f.startswith(_FORCED)]
    os.environ["XLA_FLAGS"] = " ".join(flags)
    jax.config.update("jax_num_cpu_devices", 1)


def spawned() -> _Spawned | None:
    """The rank and the number of processes of `xmp.spawn`; None in other processes."""
    return _spawned[0] if _spawned else None


def launched() -> bool:
    """Whether `torchrun` started this process."""
    return not _spawned and "TORCHELASTIC_RUN_ID" in os.environ


def group() -> Any:
    """`torch.distributed` if it has a default group, which is created in a process of `xmp.spawn`; otherwise None."""
    if not dist.is_available() or (not dist.is_initialized() and not _spawned):
        return None
    if not dist.is_initialized():
        it = _spawned[0]
        store = dist.PrefixStore("default", it.store)
        dist.init_process_group("tenax", store=store, rank=it.rank, world_size=it.size, timeout=TIMEOUT)
        _made[:] = [dist.group.WORLD]
    return dist


def required_group() -> Any:
    """`torch.distributed` with a default group, of one rank if the program has no other."""
    if group() is None:
        dist.init_process_group("tenax", store=dist.HashStore(), rank=0, world_size=1)
        _made[:] = [dist.group.WORLD]
    return dist


def rendezvous(url: str, timeout: timedelta = TIMEOUT, **_: Any) -> Iterator[tuple[Any, int, int]]:
    """Store, rank and world size of `init_method="xla://"`."""
    if _spawned:
        yield dist.PrefixStore("xla", _spawned[0].store), _spawned[0].rank, _spawned[0].size
    elif "RANK" in os.environ:
        yield from dist.rendezvous("env://", timeout=timeout)
    else:
        yield dist.HashStore(), 0, 1
    raise RuntimeError('init_process_group: "xla://" cannot find other processes later')


def _create_group(*args: Any) -> Any:
    from ...distributed.create import create_group

    return create_group(*args)


def _replacing(plain: Any) -> Any:
    """`init_process_group`, which replaces a default group that the program has not made."""

    @functools.wraps(plain)
    def init_process_group(*args: Any, **kwargs: Any) -> None:
        global groups
        groups += 1
        if _made and dist.is_initialized() and dist.group.WORLD is _made[0]:
            dist.destroy_process_group()
        _made.clear()
        plain(*args, **kwargs)

    return init_process_group


@functools.cache
def register_backend() -> None:
    """Register backend "xla" and rendezvous `xla://`, which create groups of the backend "tenax". A group that the
    program makes replaces the one of earlier collectives of `xla_model`."""
    if dist.is_available():
        dist.Backend.register_backend("xla", _create_group, extended_api=True, devices=[NAME])
        for scheme in ("xla", "pjrt"):  # the second is its older name
            dist.register_rendezvous_handler(scheme, rendezvous)
        patches.wrap("torch.distributed.init_process_group", _replacing)
