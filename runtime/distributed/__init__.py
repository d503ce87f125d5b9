"""`torch.distributed` on device "jax": the backend "tenax", one process per rank, over `jax.distributed`.

For meshes in a single program there are also `tenax.distributed.axis_group`, the devices along an axis as a process
group, and `tenax.distributed.plan`, which estimates the resources of a step without the devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..planning.chips import CHIPS as CHIPS
    from ..planning.chips import Chip as Chip
    from ..planning.planner import plan as plan
    from ..planning.report import StepPlan as StepPlan
    from .axes import axis_group as axis_group

_LAZY = {
    "CHIPS": "..planning.chips",
    "Chip": "..planning.chips",
    "StepPlan": "..planning.report",
    "axis_group": ".axes",
    "plan": "..planning.planner",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from ..aten.registration import register_all

    register_all()
    return getattr(importlib.import_module(_LAZY[name], __name__), name)
