"""`torch_xla.distributed.xla_backend`: importing it registers the backend "xla", as importing `torch_xla` does."""

from __future__ import annotations

from ..process import register_backend

register_backend()
