"""`torch.jax` for type checkers: `tenax.mypy_plugin` makes it a name of torch."""

from collections.abc import Sequence

import torch

from tenax.device.memory_statistics import empty_cache as empty_cache
from tenax.device.memory_statistics import get_device_capability as get_device_capability
from tenax.device.memory_statistics import get_device_name as get_device_name
from tenax.device.memory_statistics import get_device_properties as get_device_properties
from tenax.device.memory_statistics import ipc_collect as ipc_collect
from tenax.device.memory_statistics import max_memory_allocated as max_memory_allocated
from tenax.device.memory_statistics import max_memory_reserved as max_memory_reserved
from tenax.device.memory_statistics import mem_get_info as mem_get_info
from tenax.device.memory_statistics import memory_allocated as memory_allocated
from tenax.device.memory_statistics import memory_reserved as memory_reserved
from tenax.device.memory_statistics import memory_stats as memory_stats
from tenax.device.memory_statistics import memory_summary as memory_summary
from tenax.device.memory_statistics import reset_peak_memory_stats as reset_peak_memory_stats
from tenax.device.streams import Event as Event
from tenax.device.streams import Stream as Stream
from tenax.device.streams import StreamContext as StreamContext
from tenax.device.streams import current_stream as current_stream
from tenax.device.streams import set_stream as set_stream
from tenax.device.streams import stream as stream
from tenax.device.torch_jax import device as device
from tenax.device.torch_jax import device_of as device_of
from tenax.device.torch_jax import set_device as set_device
from tenax.device.torch_jax import synchronize as synchronize
from tenax.storage.ordinals import current_index as _current_index
from tenax.storage.ordinals import device_count as device_count
from tenax.storage.random import get_rng_state as get_rng_state
from tenax.storage.random import initial_seed as initial_seed
from tenax.storage.random import manual_seed as manual_seed
from tenax.storage.random import seed as seed
from tenax.storage.random import set_rng_state as set_rng_state

current_device = _current_index
default_stream = current_stream
manual_seed_all = manual_seed
seed_all = seed
OutOfMemoryError = torch.OutOfMemoryError

def is_available() -> bool: ...
def is_bf16_supported() -> bool: ...
def is_initialized() -> bool: ...
def get_amp_supported_dtype() -> list[torch.dtype]: ...
def get_rng_state_all() -> list[torch.Tensor]: ...
def set_rng_state_all(states: Sequence[torch.Tensor]) -> None: ...
def reset_accumulated_memory_stats(device: object = None) -> None: ...
