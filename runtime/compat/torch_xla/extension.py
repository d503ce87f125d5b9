"""Functions of PyTorch/XLA's extension module, `torch_xla._XLAC`, that examples call."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from . import sharded_tensor  # noqa: F401 (it adds `sharding_spec`)
from .exported import lowered
from .hardware import wait_device_ops, xla_devices, xla_real_devices
from .ordinals import xla_device
from .steps import mark_step, unlazy


def _xla_get_default_device() -> str:
    """The current device, such as 'jax:0'."""
    return str(xla_device())


def _xla_get_devices() -> list[str]:
    """The devices of this process."""
    return [str(device) for device in xla_devices()]


def _xla_real_devices(devices: Sequence[str]) -> list[str]:
    """The platform's names of devices, such as 'CPU:0'."""
    return xla_real_devices(list(devices) or None)


def _xla_step_marker(device: str, devices: Sequence[str], wait: bool = True, reset_scope: bool = True) -> None:
    """End the step; see `xm.mark_step`."""
    mark_step(wait)


def _xla_sync_multi(
    tensors: Sequence[torch.Tensor], devices: Sequence[str], wait: bool = True, sync_xla_data: bool = True
) -> None:
    """Run the recorded operations; with `wait`, wait for the device."""
    unlazy(tensors)
    if wait:
        wait_device_ops()


def _xla_get_tensor_id(tensor: torch.Tensor) -> int:
    """A number for the storage of a tensor, by which programs that save tensors find those that share memory."""
    return tensor.untyped_storage().data_ptr()


def _get_xla_sharding_spec(tensor: torch.Tensor) -> str:
    """The sharding of a tensor in XLA's notation; '' for a tensor on one device."""
    return getattr(tensor, "sharding_spec", "")


def _get_xla_tensors_hlo(tensors: Sequence[torch.Tensor]) -> str:
    """The program that would compute recorded tensors, as HLO text.

    Raises:
        RuntimeError: nothing is recorded, as in eager mode.
    """
    return str(lowered(tensors).as_text(dialect="hlo"))
