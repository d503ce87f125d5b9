"""`torch_xla._internal.rendezvous`: `init_method="xla://"` and its older name "pjrt://"."""

from __future__ import annotations

from ..missing import names_of
from ..process import rendezvous as pjrt_rendezvous_handler

__getattr__ = names_of(__name__)
__all__ = ["pjrt_rendezvous_handler"]
