"""`torch_xla._internal.utils`."""

from __future__ import annotations

from ..devices import parse_xla_device as parse_xla_device
