"""Global hooks of torch's modules and optimizers, and private names of state dicts, schedulers and scalers."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from ..releases import private_names

with private_names("torch", torch.__version__):
    EXTRA_STATE_SUFFIX: str = modules._EXTRA_STATE_KEY_SUFFIX  # of the state dict key of `get_extra_state`

__all__ = ["EXTRA_STATE_SUFFIX", "GLOBAL_HOOKS", "SCALER_NUMBERS", "SCHEDULER_MARKS"]

# The tables of hooks that every module or every optimizer calls, by name.
GLOBAL_HOOKS: dict[str, Any] = {
    f"{place.__name__}.{name}": table
    for place in (modules, optimizers)
    for name, table in vars(place).items()
    if name.startswith("_global_") and name.endswith("_hooks")
}
# The attributes that a scheduler sets on its optimizer.
SCHEDULER_MARKS = ("_opt_called", "_step_count")
# The numbers that a gradient scaler's update passes to the device.
SCALER_NUMBERS = ("_enabled", "_growth_factor", "_backoff_factor", "_growth_interval")
