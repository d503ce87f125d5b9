"""`torch_xla.experimental.distributed_checkpoint.planners`."""

from __future__ import annotations

from . import SPMDLoadPlanner as SPMDLoadPlanner
from . import SPMDSavePlanner as SPMDSavePlanner
