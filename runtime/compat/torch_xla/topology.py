"""The TPUs of this host, and their topology from environment variables.

JAX counts the chips. What PyTorch/XLA reads from the metadata server of Google Cloud is read from the variables that
`TPU_SKIP_MDS_QUERY` asks for, and otherwise raises `EnvironmentError`.
"""

from __future__ import annotations

import math
import os
import re

from ..._jax import backends_are_initialized, tpu_chips
from .hardware import platform, xla_device_kind

_VARIABLES = {  # of each entry of the environment, the first that is set
    "ACCELERATOR_TYPE": ("TPU_ACCELERATOR_TYPE", "ACCELERATOR_TYPE"),
    "TPU_PROCESS_BOUNDS": ("TPU_PROCESS_BOUNDS", "TPU_HOST_BOUNDS"),
    "TPU_CHIPS_PER_PROCESS_BOUNDS": ("TPU_CHIPS_PER_PROCESS_BOUNDS", "TPU_CHIPS_PER_HOST_BOUNDS"),
    "WORKER_ID": ("CLOUD_TPU_TASK_ID", "TPU_WORKER_ID"),
}


def num_available_chips() -> int:
    """The number of TPU chips of this host, which are not acquired."""
    return tpu_chips()


def get_tpu_env() -> dict[str, str]:
    """The topology that environment variables state; entries whose variables are not set are missing.

    Raises:
        EnvironmentError: none of them is set.
    """
    found = {e: os.environ[name] for e, names in _VARIABLES.items() for name in names[::-1] if name in os.environ}
    if not found:
        raise OSError(
            "Failed to get TPU metadata: tenax reads TPU_ACCELERATOR_TYPE, TPU_PROCESS_BOUNDS and TPU_WORKER_ID, and "
            "none is set; expected jax.devices(), or these variables"
        )
    return found


def _entry(name: str, variable: str) -> str:
    value = get_tpu_env().get(name)
    if value is None:
        raise OSError(f"Failed to get TPU metadata: {variable} is not set; expected this variable, or jax.devices()")
    return value


def version() -> int:
    """The generation of the TPU, such as 4: that of JAX's devices once JAX has started on them.

    Raises:
        EnvironmentError: JAX has not started on TPUs, and `TPU_ACCELERATOR_TYPE` does not say it.
    """
    on_tpu = backends_are_initialized() and platform() == "TPU"
    text = xla_device_kind().lower() if on_tpu else _entry("ACCELERATOR_TYPE", "TPU_ACCELERATOR_TYPE")
    found = re.search(r"(?:v|tpu ?v?)(\d+)", text)
    if found is None:
        raise OSError(f"Failed to parse TPU version from metadata: {text!r}; expected a text such as 'v4-8'")
    return int(found[1])


def num_available_devices() -> int:
    """The number of TPU devices of this host: two of each chip before TPU v4."""
    chips = num_available_chips()
    return chips * (2 if version() < 4 else 1) if chips else 0


def process_bounds_size() -> int | None:
    """The number of processes of all hosts; None if `TPU_PROCESS_BOUNDS` is not set."""
    bounds = os.environ.get("TPU_PROCESS_BOUNDS")
    return math.prod(map(int, bounds.split(","))) if bounds else None


def num_local_processes() -> int:
    """The number of processes for the chips of this host."""
    return min(num_available_chips(), process_bounds_size() or num_available_chips())


def task_id() -> int | None:
    """The index of this process among those of the slice, `CLOUD_TPU_TASK_ID`."""
    value = os.environ.get("CLOUD_TPU_TASK_ID")
    return None if value is None else int(value)


def worker_id() -> int:
    """The index of this host.

    Raises:
        EnvironmentError: `TPU_WORKER_ID` is not set.
    """
    return int(_entry("WORKER_ID", "TPU_WORKER_ID"))


def get_worker_ips() -> list[str]:
    """The hosts of the slice, `TPU_WORKER_HOSTNAMES`; ['localhost'] for a single one."""
    names = os.environ.get("TPU_WORKER_HOSTNAMES", "").split(",")
    return names if len(names) > 1 else ["localhost"]


def num_tpu_workers() -> int:
    """The number of hosts of the slice."""
    return len(get_worker_ips())


def num_expected_global_devices() -> int:
    """The number of TPU devices of the slice."""
    return num_available_devices() * num_tpu_workers()
