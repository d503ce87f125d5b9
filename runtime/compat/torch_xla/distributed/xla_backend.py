"""`torch_xla.distributed.xla_backend`: its import makes the backend "xla" known, as that of `torch_xla` has done."""

from __future__ import annotations

from ..process import register_backend

register_backend()
