"""`torchax.view`: views are device tensors like all others."""

from __future__ import annotations

from .tensor import View as View
