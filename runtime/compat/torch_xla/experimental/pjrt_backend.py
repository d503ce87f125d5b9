"""`torch_xla.experimental.pjrt_backend`, whose import is enough: `init_method="pjrt://"` is "xla://"."""

from __future__ import annotations

from typing import Any

import torch

from ..process import rendezvous

dist: Any = torch.distributed
if dist.is_available():
    dist.register_rendezvous_handler("pjrt", rendezvous)
