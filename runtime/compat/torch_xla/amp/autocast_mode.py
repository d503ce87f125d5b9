"""`torch_xla.amp.autocast_mode`."""

from __future__ import annotations

from . import autocast as autocast
