"""The processes of the program: joining `jax.distributed`, the device of each rank, and notices of those that ended."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jax
import torch
from torch.distributed import DistBackendError

from .. import _jax_coordinator
from .._jax import backends_are_initialized

dist: Any = torch.distributed
_GRACE = 1.0  # seconds


class Peers:
    """The ranks of the program that have ended, by rank, with `died` or `left`."""

    def __init__(self, host: str, port: int, rank: int) -> None:
        self.ended: dict[int, str] = {}
        self._ended_at: dict[int, float] = {}
        self.changed = threading.Event()
        self.on_change: Callable[[], None] = lambda: None
        self.connection = socket.create_connection((host, port))
        self.connection.sendall(f"{rank}\n".encode())
        threading.Thread(target=self._listen, name="tenax peers", daemon=True).start()
        self.pid = os.getpid()
        atexit.register(self.leave)

    def long_gone(self, rank: int) -> bool:
        """Whether a rank ended more than a grace period ago, so that a call still waiting for it will never finish."""
        return rank in self.ended and time.monotonic() - self._ended_at[rank] > _GRACE

    def leave(self) -> None:
        """Tell the coordinator that this process ends normally, unless an exception ends it."""
        if getattr(sys, "last_value", None) is None and os.getpid() == self.pid:
            try:
                self.connection.sendall(b"bye\n")
            except OSError:
                return  # the coordinator was killed

    def _listen(self) -> None:
        try:
            for line in self.connection.makefile():
                rank, how = line.split()
                self._ended_at[int(rank)] = time.monotonic()
                self.ended[int(rank)] = how
                self.changed.set()
                self.on_change()
        except OSError:
            return


@dataclass(frozen=True)
class World:
    """The ranks of the default group."""

    devices: tuple[jax.Device, ...]  # by rank
    peers: Peers | None  # None for a single rank, or if the user called `jax.distributed.initialize`


_joined: list[tuple[int, int, Peers | None]] = []  # (rank, world size, peers) of `_join`, at most once per process


def make_world(store: Any, rank: int, size: int, timeout: timedelta) -> World:
    """Join the processes of the default group, and find the device of each rank.

    Raises:
        RuntimeError: JAX has already started in this process, alone or with other processes.
    """
    peers = None
    if size > 1:
        if jax.distributed.is_initialized():
            peers = _joined_before(rank, size)
        else:
            peers = _join(store, rank, size, timeout)
    store.set(f"process/{rank}", str(jax.process_index()))
    keys = [f"process/{r}" for r in range(size)]
    store.wait(keys, timeout)
    processes = [int(store.get(key)) for key in keys]
    if len(set(processes)) != size:
        raise RuntimeError(f"tenax: ranks {processes} share a JAX process; expected one process per rank")
    return World(tuple(jax.local_devices(process_index=p)[0] for p in processes), peers)


def _joined_before(rank: int, size: int) -> Peers | None:
    if jax.process_count() != size:
        raise RuntimeError(
            f"init_process_group: jax.distributed runs with {jax.process_count()} processes, and the default group has "
            f"{size} ranks; expected as many. JAX cannot join other processes later"
        )
    return next((peers for r, n, peers in _joined if (r, n) == (rank, size)), None)


def _join(store: Any, rank: int, size: int, timeout: timedelta) -> Peers:
    if backends_are_initialized():
        raise RuntimeError(
            "init_process_group: JAX has started in this process and cannot join others any more; expected the call "
            "before the first tensor on the device and the first JAX computation"
        )
    if rank == 0:
        service, own = _start_coordinator(size)
        store.set("coordinator", f"{_host(store)} {service} {own}")
    store.wait(["coordinator"], timeout)
    host, service_port, own_port = store.get("coordinator").decode().split()
    _take_one_accelerator()
    seconds = max(1, int(timeout.total_seconds()))
    try:
        _jax_coordinator.join_coordinator(f"{host}:{service_port}", rank, size, seconds)
        jax.devices()  # the processes exchange their device lists
    except (RuntimeError, ValueError) as error:
        raise DistBackendError(
            f"init_process_group: rank {rank} of {size} could not join the others: {error}"
        ) from error
    peers = Peers(host, int(own_port), rank)
    _joined.append((rank, size, peers))
    return peers


def _start_coordinator(world_size: int) -> tuple[int, int]:
    """Start the coordinator as a child process, which ends with the last rank, and return its two ports."""
    child = subprocess.Popen(
        [sys.executable, "-I", _jax_coordinator.__file__, str(world_size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is meant for the ranks
        text=True,
    )
    assert child.stdout is not None
    ports = child.stdout.readline().split()
    if len(ports) != 2:
        raise DistBackendError(f"tenax: the coordinator of jax.distributed did not start (exit code {child.wait()})")
    # The thread keeps its standard input open until this process ends.
    threading.Thread(target=child.wait, name="tenax coordinator", daemon=True).start()
    return int(ports[0]), int(ports[1])


def _take_one_accelerator() -> None:
    """Assign each rank of a host its own GPU, unless the launcher has done so."""
    local = os.environ.get("LOCAL_RANK")
    for option, variable in _VISIBLE.items():
        if local is not None and "," in os.environ.get(variable, ",") and option.upper() not in os.environ:
            jax.config.update(option, local)


_VISIBLE = {"jax_cuda_visible_devices": "CUDA_VISIBLE_DEVICES", "jax_rocm_visible_devices": "ROCR_VISIBLE_DEVICES"}


def _host(store: Any) -> str:
    """The address at which other ranks reach this process, which is rank 0."""
    while isinstance(store, dist.PrefixStore):
        store = store.underlying_store
    if isinstance(store, dist.TCPStore):
        return store.host  # at which all ranks have reached the store; rank 0 is on the same host
    return "localhost" if isinstance(store, dist.HashStore | dist.FileStore) else socket.gethostname()
