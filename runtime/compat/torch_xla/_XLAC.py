"""`torch_xla._XLAC`: the functions of PyTorch/XLA's extension module that examples call."""  # noqa: N999 (PyTorch/XLA's name)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .core.xla_model import get_rng_state, set_rng_state, unlazy
from .debug import metrics
from .devices import wait_device_ops, xla_device, xla_devices, xla_real_devices
from .distributed.spmd.xla_sharded_tensor import sharding_on_mesh, xla_text
from .ordinals import local_device_count
from .steps import end_step


def __getattr__(name: str) -> Any:
    """Raise AttributeError, of which programs ask by `hasattr`."""
    raise AttributeError(
        f"torch_xla._XLAC.{name}: most names of PyTorch/XLA's extension module are missing; `tenax doctor --xla "
        "script.py` lists what a script uses, and docs/from_pytorch_xla.md what tenax has"
    )


def _xla_get_default_device() -> str:
    """The current device, such as 'jax:0'."""
    return str(xla_device())


def _xla_get_devices() -> list[str]:
    """The devices of this process."""
    return [str(device) for device in xla_devices()]


def _xla_real_devices(devices: Sequence[str]) -> list[str]:
    """The platform's names of devices, such as 'CPU:0'."""
    return xla_real_devices(list(devices) or None)


def _xla_num_devices() -> int:
    """The number of devices of the processes on this host."""
    return local_device_count()


def _xla_step_marker(device: str, devices: Sequence[str], wait: bool = True, reset_scope: bool = True) -> None:
    """End the step; see `xm.mark_step`."""
    end_step(wait)


def _xla_sync_multi(
    tensors: Sequence[torch.Tensor], devices: Sequence[str], wait: bool = True, sync_xla_data: bool = True
) -> None:
    """Run the recorded operations; with `wait`, wait for the device."""
    unlazy(tensors)
    if wait:
        wait_device_ops()


def _xla_wait_device_ops(devices: Sequence[str]) -> None:
    """Wait until devices, by default all, have finished."""
    wait_device_ops(devices)


def _xla_set_rng_seed(seed: int, device: str | None = None) -> None:
    """Seed the device's random number generator."""
    set_rng_state(seed, device)


def _xla_get_rng_seed(device: str | None = None) -> int:
    """The seed of the device's random number generator."""
    return get_rng_state(device)


def _get_xla_sharding_spec(tensor: torch.Tensor) -> str:
    """The sharding of a tensor in XLA's notation; '' for a tensor on one device."""
    sharding = sharding_on_mesh(tensor)
    return "" if sharding is None else xla_text(sharding, tensor.dim())


def _get_xla_tensors_hlo(tensors: Sequence[torch.Tensor]) -> str:
    """The program that would compute recorded tensors, as HLO text.

    Raises:
        RuntimeError: nothing is recorded, as in eager mode.
    """
    from .core.xla_model import lowered

    return str(lowered(tensors).as_text(dialect="hlo"))


_xla_metrics_report = metrics.metrics_report
_xla_counter_names = metrics.counter_names
_xla_counter_value = metrics.counter_value
_xla_metric_names = metrics.metric_names
_xla_metric_data = metrics.metric_data
_clear_xla_counters = metrics.clear_counters
_clear_xla_metrics = metrics.clear_metrics
