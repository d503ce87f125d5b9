"""`torch_xla.core.xla_model`, which programs import as `xm`."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import jax
import torch

from ...._lazy.mode import own_tape, sync
from ....storage import random
from ....storage.tensors import cell_of
from ..collectives import REDUCE_AND as REDUCE_AND
from ..collectives import REDUCE_MAX as REDUCE_MAX
from ..collectives import REDUCE_MIN as REDUCE_MIN
from ..collectives import REDUCE_MUL as REDUCE_MUL
from ..collectives import REDUCE_OR as REDUCE_OR
from ..collectives import REDUCE_SUM as REDUCE_SUM
from ..collectives import all_gather as all_gather
from ..collectives import all_gather_bucketized as all_gather_bucketized
from ..collectives import all_reduce as all_reduce
from ..collectives import all_reduce_bucketized_gradients as all_reduce_bucketized_gradients
from ..collectives import all_to_all as all_to_all
from ..collectives import broadcast_master_param as broadcast_master_param
from ..collectives import bucketized_reduce_gradients as bucketized_reduce_gradients
from ..collectives import collective_broadcast as collective_broadcast
from ..collectives import collective_permute as collective_permute
from ..collectives import do_on_ordinals as do_on_ordinals
from ..collectives import fetch_gradients as _fetch_gradients  # noqa: F401 (examples call it)
from ..collectives import mesh_reduce as mesh_reduce
from ..collectives import reduce_gradients as reduce_gradients
from ..collectives import reduce_scatter as reduce_scatter
from ..collectives import reduce_scatter_bucketized as reduce_scatter_bucketized
from ..collectives import rendezvous as rendezvous
from ..collectives import xla_rendezvous as xla_rendezvous
from ..devices import MemoryInfo as MemoryInfo
from ..devices import get_memory_info as get_memory_info
from ..devices import get_xla_supported_devices as get_xla_supported_devices
from ..devices import parse_xla_device as parse_xla_device
from ..devices import send_cpu_data_to_device as send_cpu_data_to_device
from ..devices import wait_device_ops as wait_device_ops
from ..devices import xla_device_hw as xla_device_hw
from ..devices import xla_device_kind as xla_device_kind
from ..devices import xla_real_devices as xla_real_devices
from ..missing import names_of
from ..ordinals import get_local_ordinal as get_local_ordinal
from ..ordinals import get_ordinal as get_ordinal
from ..ordinals import is_master_ordinal as is_master_ordinal
from ..ordinals import is_xla_tensor as is_xla_tensor
from ..ordinals import xla_device as xla_device
from ..ordinals import xrt_world_size as xrt_world_size
from ..spmd_mode import mode
from ..steps import add_step_closure as add_step_closure
from ..steps import end_step
from ..transfers import mapped, on_cpu
from ..transfers import save as save

__getattr__ = names_of(__name__)
_print_lock = threading.Lock()


def optimizer_step(
    optimizer: torch.optim.Optimizer,
    barrier: bool = False,
    optimizer_args: Mapping[str, Any] | None = None,
    groups: Any = None,
    pin_layout: bool = True,
) -> Any:
    """Average the gradients over the replicas, and step.

    Args:
        optimizer: an optimizer whose parameters are on the device.
        barrier: end the step with `mark_step`; loaders of `parallel_loader` do so themselves.
        optimizer_args: keyword arguments of `optimizer.step`.
        groups: lists of ordinals among which gradients are averaged.

    Returns:
        The result of `optimizer.step`.
    """
    reduce_gradients(optimizer, groups)
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


def mark_step(wait: bool = False, reset_scope: bool = True) -> None:
    """End the step: run recorded operations and closures of `add_step_closure`; with `wait`, wait for the device."""
    end_step(wait)


def unlazy(tensors: Sequence[torch.Tensor]) -> None:
    """Run the recorded operations, so that the tensors have their values."""
    sync()


def _maybe_convert_to_cpu(data: Any, convert: bool = True) -> Any:
    """A tree with its tensors copied to the CPU, or with `convert=False` the tree itself; examples call it."""
    sync()
    return on_cpu(data) if convert else data


def set_rng_state(seed: int, device: Any = None) -> None:
    """Seed the device's random number generator, or restore a state of `get_rng_state`."""
    offset, seed = divmod(int(seed), 1 << 64) if seed >= 1 << 64 else (0, int(seed))
    random.manual_seed(seed)
    if offset:
        random.restore((seed, offset))


def get_rng_state(device: Any = None) -> int:
    """The state of the device's random number generator: its seed, plus `n << 64` after `n` random operations."""
    seed = random.initial_seed()  # raises within a compiled function, which does not know its state
    return random.state()[1] << 64 | seed


@contextmanager
def fork_rng(device: Any = None, enabled: bool = True) -> Iterator[None]:
    """Restore the device's random state at the end of a block."""
    state = random.get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            random.set_rng_state(state)


def check_view_sharing(obj: Any) -> None:
    """Raise if two tensors of a tree share memory.

    Raises:
        RuntimeError: two tensors share memory; the message has their dtypes and shapes.
    """
    seen: dict[Any, torch.Tensor] = {}

    def check(tensor: torch.Tensor) -> torch.Tensor:
        other = seen.setdefault(tensor.untyped_storage()._cdata, tensor)
        if other is not tensor:
            first, second = (f"{t.dtype}{[*t.shape]}" for t in (tensor, other))
            raise RuntimeError(f"Tensor ({first}) is sharing a view with tensor ({second}); expected tensors apart")
        return tensor

    mapped(obj, check)


def set_replication(device: torch.device | str, devices: Sequence[torch.device | str]) -> None:
    """Do nothing: a process has one replica, on `device`, or with `xr.use_spmd()` on all of its devices.

    Raises:
        NotImplementedError: `devices` has several replicas.
    """
    if len(devices) > 1 and not mode.spmd:
        raise NotImplementedError(
            f"xm.set_replication: {len(devices)} devices; expected one in each process of torchrun"
        )


def optimization_barrier_(tensors: Sequence[torch.Tensor]) -> None:
    """Do nothing: XLA may fuse and move operations as in the rest of the program."""


def master_print(*args: Any, fd: Any = None, local: bool = False, flush: bool = False) -> None:
    """Print on the first of all replicas, or with `local=True` on the first of each host."""
    if is_master_ordinal(local=local):
        with _print_lock:
            print(*args, file=fd or sys.stdout, flush=flush)


class RateTracker:
    """The rate of items counted by `add`, overall and smoothed."""

    def __init__(self, smooth_factor: float | None = None) -> None:
        """The default of `smooth_factor` is the variable RATE_TRACKER_SMOOTHING, or 0.4."""
        default = float(os.environ.get("RATE_TRACKER_SMOOTHING", "0.4"))
        self._smooth_factor = default if smooth_factor is None else smooth_factor
        self._start_time = self._partial_time = time.time()
        self._count = self._partial_count = 0.0
        self._partial_rate: float | None = None

    def add(self, count: float) -> None:
        """Add to the count."""
        self._count += count
        self._partial_count += count

    def rate(self) -> float:
        """The rate since the last call, smoothed with earlier ones."""
        now = time.time()
        elapsed = max(now - self._partial_time, 1e-9)
        rate = self._partial_count / elapsed
        if self._partial_rate is not None:
            rate = self._smooth_factor * self._partial_rate + (1 - self._smooth_factor) * rate
        self._partial_time, self._partial_count, self._partial_rate = now, 0.0, rate
        return rate

    def global_rate(self) -> float:
        """The rate since creation."""
        return self._count / max(time.time() - self._start_time, 1e-9)


def get_stablehlo(tensors: Sequence[torch.Tensor] | None = None) -> str:
    """The program that would compute tensors, as StableHLO text. Nothing is computed.

    Args:
        tensors: recorded tensors that have not been computed; by default, all.

    Raises:
        RuntimeError: nothing is recorded, as in eager mode.
    """
    return str(lowered(tensors).as_text())


def get_stablehlo_bytecode(tensors: Sequence[torch.Tensor] | None = None) -> bytes:
    """The program that would compute tensors, as StableHLO bytecode; see `get_stablehlo`."""
    file = BytesIO()
    module: Any = lowered(tensors).compiler_ir("stablehlo")
    module.operation.write_bytecode(file)
    return file.getvalue()


def lowered(tensors: Sequence[torch.Tensor] | None) -> jax.stages.Lowered:
    """The program that would compute recorded tensors, by default all, as JAX lowers it.

    Raises:
        RuntimeError: nothing is recorded, as in eager mode.
    """
    try:
        return own_tape().lowered([cell_of(t).pending for t in tensors or ()])
    except ValueError as error:
        raise RuntimeError(
            f"xm.get_stablehlo: {error}; expected tensors of lazy mode (tenax.lazy, tenax xla), or "
            "tenax.export.to_stablehlo of a torch.export.export'ed module"
        ) from None
