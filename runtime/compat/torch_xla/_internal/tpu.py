"""`torch_xla._internal.tpu`: the TPUs of this host, and their topology from environment variables.

JAX counts the chips. What PyTorch/XLA reads from the metadata server of Google Cloud is read from the variables that
`TPU_SKIP_MDS_QUERY` asks for, and otherwise raises `EnvironmentError`.
"""

from __future__ import annotations

import math
import os
import re
from typing import NamedTuple, TypedDict

from ...._jax import backends_are_initialized, tpu_chips
from ..devices import platform, xla_device_kind
from ..missing import names_of

__getattr__ = names_of(__name__)

_VARIABLES = {  # of each entry of the environment, the first that is set
    "ACCELERATOR_TYPE": ("TPU_ACCELERATOR_TYPE", "ACCELERATOR_TYPE"),
    "TPU_PROCESS_BOUNDS": ("TPU_PROCESS_BOUNDS", "TPU_HOST_BOUNDS"),
    "TPU_CHIPS_PER_PROCESS_BOUNDS": ("TPU_CHIPS_PER_PROCESS_BOUNDS", "TPU_CHIPS_PER_HOST_BOUNDS"),
    "WORKER_ID": ("CLOUD_TPU_TASK_ID", "TPU_WORKER_ID"),
}


class TpuEnv(TypedDict, total=False):
    """The topology of a slice; entries whose variables are not set are missing."""

    ACCELERATOR_TYPE: str
    TPU_PROCESS_BOUNDS: str
    TPU_CHIPS_PER_PROCESS_BOUNDS: str
    WORKER_ID: str


class MeshShape(NamedTuple):
    """The shape of a grid of chips or processes."""

    x: int
    y: int
    z: int

    @classmethod
    def from_string(cls, mesh: str) -> MeshShape:
        """Parse a shape such as '2,2,1'.

        Raises:
            ValueError: the text has not three numbers.
        """
        sizes = [int(size) for size in mesh.split(",")]
        if len(sizes) != 3:
            raise ValueError(f"MeshShape: {mesh!r}; expected three numbers, such as '2,2,1'")
        return cls(*sizes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __mul__(self, other: object) -> MeshShape:
        if not isinstance(other, MeshShape):
            return NotImplemented
        return MeshShape(self.x * other.x, self.y * other.y, self.z * other.z)


def num_available_chips() -> int:
    """The number of TPU chips of this host, which are not acquired."""
    return tpu_chips()


def get_tpu_env() -> TpuEnv:
    """The topology that environment variables state.

    Raises:
        EnvironmentError: none of them is set.
    """
    found: TpuEnv = {}
    for entry, names in _VARIABLES.items():
        value = next((os.environ[name] for name in names if name in os.environ), None)
        if value is not None:
            found[entry] = value  # type: ignore[literal-required]
    if not found:
        raise OSError(
            "Failed to get TPU metadata: tenax reads TPU_ACCELERATOR_TYPE, TPU_PROCESS_BOUNDS and TPU_WORKER_ID, and "
            "none is set; expected jax.devices(), or these variables"
        )
    return found


build_tpu_env_from_vars = get_tpu_env


def get_tpu_type() -> str:
    """The kind of TPU, such as 'v4' or 'v5litepod'.

    Raises:
        EnvironmentError: `TPU_ACCELERATOR_TYPE` is not set.
    """
    kind = get_tpu_env().get("ACCELERATOR_TYPE")
    if kind is None:
        raise OSError("Failed to get TPU metadata: TPU_ACCELERATOR_TYPE is not set; expected a value such as 'v4-8'")
    return kind.partition("-")[0]


def version() -> int:
    """The generation of the TPU, such as 4: that of JAX's devices once JAX has started on them.

    Raises:
        EnvironmentError: JAX has not started on TPUs, and `TPU_ACCELERATOR_TYPE` does not say it.
    """
    on_tpu = backends_are_initialized() and platform() == "TPU"
    text = xla_device_kind().lower() if on_tpu else get_tpu_type()
    found = re.search(r"(?:v|tpu ?v?)(\d+)", text)
    if found is None:
        raise OSError(f"Failed to parse TPU version from metadata: {text!r}; expected a text such as 'v4-8'")
    return int(found[1])


def num_logical_cores_per_chip() -> int:
    """The number of devices of a chip: 2 before TPU v4."""
    return 2 if version() < 4 else 1


def num_available_devices() -> int:
    """The number of TPU devices of this host."""
    chips = num_available_chips()
    return chips * num_logical_cores_per_chip() if chips else 0


def process_bounds_size() -> int | None:
    """The number of processes of all hosts; None if `TPU_PROCESS_BOUNDS` is not set."""
    bounds = os.environ.get("TPU_PROCESS_BOUNDS")
    return MeshShape.from_string(bounds).size if bounds else None


def num_local_processes() -> int:
    """The number of processes for the chips of this host."""
    chips, processes = num_available_chips(), process_bounds_size()
    return min(chips, processes) if processes else chips


def task_id() -> int | None:
    """The index of this process among those of the slice, `CLOUD_TPU_TASK_ID`."""
    value = os.environ.get("CLOUD_TPU_TASK_ID")
    return None if value is None else int(value)


def worker_id() -> int:
    """The index of this host.

    Raises:
        EnvironmentError: `TPU_WORKER_ID` is not set.
    """
    found = get_tpu_env().get("WORKER_ID")
    if found is None:
        raise OSError("Failed to get TPU metadata: TPU_WORKER_ID is not set; expected the number of this host")
    return int(found)


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


def discover_master_worker_ip(use_localhost: bool = True) -> str:
    """The address of the first host: 'localhost' for a single one, otherwise the first of `TPU_WORKER_HOSTNAMES`."""
    return get_worker_ips()[0]
