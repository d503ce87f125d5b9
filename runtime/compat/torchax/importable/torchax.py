"""The first `torchax` on the path of a spawned process; importing it installs `tenax.compat.torchax`."""

from __future__ import annotations

from tenax.compat.torchax import install

install()
