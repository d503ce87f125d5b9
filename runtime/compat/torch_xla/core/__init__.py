"""`torch_xla.core`."""

from __future__ import annotations

from ..submodules import submodules_of

__getattr__ = submodules_of(__name__)
