"""`torch_xla.experimental.distributed_checkpoint.util`."""

from __future__ import annotations

from . import prime_optimizer as prime_optimizer
