"""The functions that torch calls for the backend "tenax": group creation, and the rendezvous `jax://`."""

from __future__ import annotations

import functools
import os
import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlparse

import jax
import numpy as np
import torch
from jax.experimental import multihost_utils

from .. import patches
from .._torch.distributed import skip_flight_recorder
from ..trace.ranks import set_compiler
from .compiled import compile_for_ranks
from .data_parallel import telling, with_parameter_of_the_host, with_traces
from .group import JaxProcessGroup
from .jaxprs import axes_among
from .traced_batch_norm import traced_batch_norm
from .world import World, make_world

dist: Any = torch.distributed

_worlds: list[World] = []  # that of the current default group, if any


def create_group(options: Any, backend_options: Any) -> JaxProcessGroup:
    """Create the default group, which joins the processes, or a group of some of its ranks."""
    _install()
    ranks, store = list(options.global_ranks_in_group), _of_this_attempt(options.store)
    if not ranks:
        _worlds[:] = [make_world(store, options.group_rank, options.group_size, options.timeout)]
        ranks = list(range(options.group_size))
    if not _worlds:
        raise RuntimeError('new_group: the default group has no backend "tenax"; expected init_process_group("tenax")')
    return JaxProcessGroup(store, options.group_rank, ranks, _worlds[0], options.timeout, options.group_id)


@functools.cache
def _install() -> None:
    """Have torch and traces accept groups of "tenax"."""
    for owner in ("torch.distributed", "torch.distributed.distributed_c10d"):
        patches.delegate(owner, "monitored_barrier", "tenax.distributed.agreement")
    patches.wrap("torch.distributed.Reducer", with_parameter_of_the_host)
    patches.wrap("torch.nn.parallel.DistributedDataParallel._ddp_init_helper", telling)
    patches.wrap("torch.nn.parallel.DistributedDataParallel.forward", with_traces)
    patches.wrap("torch.nn.modules._functions.SyncBatchNorm.forward", traced_batch_norm)
    set_compiler(axes_among, compile_for_ranks)
    skip_flight_recorder()


def _of_this_attempt(store: Any) -> Any:
    """The store without the keys of earlier attempts of `torchrun --max-restarts`: torch 2.13 keeps one for all."""
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return store if attempt == "0" else dist.PrefixStore(f"attempt {attempt}", store)


def _given(url: str) -> dict[str, int | None]:
    """The rank and world size that the program passed, which torch writes into the URL."""
    query = dict(parse_qsl(urlparse(url).query))
    return {name: int(query[name]) if name in query else None for name in ("rank", "world_size")}


def rendezvous(url: str, timeout: timedelta, **kwargs: Any) -> Iterator[tuple[Any, int, int]]:
    """Store, rank and world size of `init_method="jax://"`, from JAX's own cluster detection (`jax.distributed`).

    Raises:
        ValueError: the program passed another rank or world size.
    """
    if not jax.distributed.is_initialized():
        jax.distributed.initialize(initialization_timeout=max(1, int(timeout.total_seconds())))
    rank, size = jax.process_index(), jax.process_count()
    for (name, given), found in zip(_given(url).items(), (rank, size), strict=True):
        if given not in (None, found):
            raise ValueError(
                f'init_process_group: {name}={given} with init_method="jax://", where JAX has found {found}; expected '
                "none, because JAX assigns ranks"
            )
    store = dist.TCPStore("0.0.0.0", 0, size, is_master=True, wait_for_workers=False) if rank == 0 else None
    text = np.zeros(256, np.uint8)
    if store is not None:
        address = f"{socket.gethostname()} {store.port}".encode()
        text[: len(address)] = np.frombuffer(address, np.uint8)
    host, port = bytes(multihost_utils.broadcast_one_to_all(text)).rstrip(b"\0").decode().split()
    if store is None:
        store = dist.TCPStore(host, int(port), size, is_master=False, wait_for_workers=False, timeout=timeout)
    yield store, rank, size
    raise RuntimeError('init_process_group: "jax://" cannot find other processes later')
