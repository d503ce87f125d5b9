"""The first `torch_xla` on the path of a spawned process; importing it installs `tenax.compat.torch_xla`."""

from __future__ import annotations

from tenax.compat.torch_xla import install

install()
