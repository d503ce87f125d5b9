"""`torch_xla.experimental.distributed_checkpoint.manager`."""

from __future__ import annotations

from . import CheckpointManager as CheckpointManager
