"""`torch_xla.test`."""

from __future__ import annotations

from ..missing import names_of

__getattr__ = names_of(__name__)
