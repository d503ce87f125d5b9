"""`torch_xla.version`."""

from __future__ import annotations

__version__ = "2.9.0"  # the PyTorch/XLA release with these names
