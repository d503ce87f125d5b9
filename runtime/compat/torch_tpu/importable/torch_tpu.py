"""The first `torch_tpu` on the path of a spawned process; importing torch installs `tenax.compat.torch_tpu`."""

from __future__ import annotations

from tenax.compat.torch_tpu import install

install()
