"""`torch_xla.torch_xla`: the functions of the package."""

from __future__ import annotations

from . import compile as compile  # noqa: A004
from . import device as device
from . import device_count as device_count
from . import devices as devices
from . import launch as launch
from . import manual_seed as manual_seed
from . import real_devices as real_devices
from . import step as step
from . import sync as sync
