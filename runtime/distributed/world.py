"""The processes of the program: joining `jax.distributed`, and the device of each rank."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jax
import torch

from .._jax import backends_are_initialized
from .._jax_coordinator import join_coordinator
from .errors import DistributedError
from .peers import Peers, start_coordinator

dist: Any = torch.distributed


@dataclass(frozen=True)
class World:
    """The ranks of the default group."""

    rank: int
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
    return World(rank, tuple(jax.local_devices(process_index=p)[0] for p in processes), peers)


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
        service, own = start_coordinator(size)
        store.set("coordinator", f"{_host(store)} {service} {own}")
    store.wait(["coordinator"], timeout)
    host, service_port, own_port = store.get("coordinator").decode().split()
    _take_one_accelerator()
    seconds = max(1, int(timeout.total_seconds()))
    try:
        join_coordinator(f"{host}:{service_port}", rank, size, seconds)
        jax.devices()  # the processes exchange their device lists
    except (RuntimeError, ValueError) as error:
        raise DistributedError(
            f"init_process_group: rank {rank} of {size} could not join the others: {error}"
        ) from error
    peers = Peers(host, int(own_port), rank)
    _joined.append((rank, size, peers))
    return peers


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
