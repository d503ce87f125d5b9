"""What a spawned process finds as `torch_xla` before anything else: it gives way to `tenax.compat.torch_xla`."""

from __future__ import annotations

from tenax.compat.torch_xla import install

install()
