"""`torch_xla._patched_functions`, of which nothing is patched."""

from __future__ import annotations

from torch.nn.utils import clip_grad_norm_ as clip_grad_norm_
