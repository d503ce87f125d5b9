"""`torch_xla.distributed.xla_backend`: importing it registers the backend "xla", as importing `torch_xla` does."""

from __future__ import annotations

from ....distributed.group import JaxProcessGroup
from ..missing import names_of
from ..process import register_backend

__getattr__ = names_of(__name__)

ProcessGroupXla = JaxProcessGroup
register_backend()
