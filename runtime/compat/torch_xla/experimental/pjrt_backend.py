"""`torch_xla.experimental.pjrt_backend`, whose import is enough: `init_method="pjrt://"` is "xla://"."""

from __future__ import annotations

import torch

from ..process import rendezvous

if torch.distributed.is_available():
    torch.distributed.register_rendezvous_handler("pjrt", rendezvous)
