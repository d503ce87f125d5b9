"""`torch_xla.experimental.scan_layers`."""

from __future__ import annotations

from .scan import scan_layers as scan_layers
