"""`torch_xla.amp.syncfree.adam`."""

from __future__ import annotations

from . import Adam as Adam
