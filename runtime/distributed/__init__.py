"""`torch.distributed` on device "jax": the backend "tenax", one process per rank, over `jax.distributed`.

`tenax.distributed.plan` is the same for meshes of one program, before there are devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..planning.chips import CHIPS as CHIPS
    from ..planning.chips import Chip as Chip
    from ..planning.planner import plan as plan
    from ..planning.report import StepPlan as StepPlan

_LAZY = {"CHIPS": "chips", "Chip": "chips", "StepPlan": "report", "plan": "planner"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from ..aten.registration import register_all

    register_all()
    return getattr(importlib.import_module(f"..planning.{_LAZY[name]}", __name__), name)
