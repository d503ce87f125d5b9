"""`torch_xla._XLAC`: the functions of PyTorch/XLA's extension module that examples call."""  # noqa: N999 (PyTorch/XLA's name)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import torch

from ...dtypes import numpy_dtype
from ...interop.calls import call_jax
from ..statistics import count
from .backends import get_mat_mul_precision, set_mat_mul_precision
from .core.xla_model import get_rng_state, get_stablehlo, lowered, set_rng_state, unlazy
from .debug import metrics
from .devices import wait_device_ops, xla_devices, xla_real_devices
from .distributed.spmd.xla_sharded_tensor import sharding_on_mesh, xla_text
from .ordinals import local_device_count, xla_device
from .steps import end_step


def __getattr__(name: str) -> Any:
    """Raise AttributeError, of which programs ask by `hasattr`."""
    raise AttributeError(
        f"torch_xla._XLAC.{name}: most names of PyTorch/XLA's extension module are missing; `tenax doctor --xla "
        "script.py` lists what a script uses, and `tenax xla --names` what tenax has"
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


def _xla_get_tensor_id(tensor: torch.Tensor) -> int:
    """A number for the storage of a tensor, by which programs that save tensors find those that share memory."""
    return tensor.untyped_storage().data_ptr()


def _get_xla_sharding_spec(tensor: torch.Tensor) -> str:
    """The sharding of a tensor in XLA's notation; '' for a tensor on one device."""
    sharding = sharding_on_mesh(tensor)
    return "" if sharding is None else xla_text(sharding, tensor.dim())


def _get_xla_tensors_hlo(tensors: Sequence[torch.Tensor]) -> str:
    """The program that would compute recorded tensors, as HLO text.

    Raises:
        RuntimeError: nothing is recorded, as in eager mode.
    """
    return str(lowered(tensors).as_text(dialect="hlo"))


def _xla_dot_general(
    lhs: torch.Tensor,
    rhs: torch.Tensor,
    dim_numbers: Any,
    precision_config: Any = None,
    preferred_element_type: torch.dtype | None = None,
) -> torch.Tensor:
    """`jax.lax.dot_general` of tensors.

    Args:
        lhs: the first factor.
        rhs: the second factor.
        dim_numbers: ((contracted dimensions of both), (batch dimensions of both)).
        precision_config: not needed; the precision is that of `torch.set_float32_matmul_precision`.
        preferred_element_type: the dtype of the result.
    """
    (ours, others), batch = dim_numbers[0], dim_numbers[1] or ((), ())
    contracted = tuple(d % lhs.dim() for d in ours), tuple(d % rhs.dim() for d in others)
    dtype = None if preferred_element_type is None else numpy_dtype(preferred_element_type)
    return call_jax(jax.lax.dot_general, lhs, rhs, (contracted, batch), None, dtype)


_xla_metrics_report = metrics.metrics_report
_xla_counter_names = metrics.counter_names
_xla_counter_value = metrics.counter_value
_xla_metric_names = metrics.metric_names
_xla_metric_data = metrics.metric_data
_clear_xla_counters = metrics.clear_counters
_clear_xla_metrics = metrics.clear_metrics
_xla_num_devices = local_device_count
_xla_wait_device_ops = wait_device_ops
_xla_set_rng_seed = set_rng_state
_xla_get_rng_seed = get_rng_state
_xla_increment_counter = count
_xla_set_mat_mul_precision = set_mat_mul_precision
_xla_get_mat_mul_precision = get_mat_mul_precision
_get_xla_tensors_text = get_stablehlo
