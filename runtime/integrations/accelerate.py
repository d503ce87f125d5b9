"""Importing this module makes Accelerate, and the trainers built on it, choose the device "jax".

It sets ACCELERATE_TORCH_DEVICE, Accelerate's variable for choosing a device, unless it is already set. It must be
imported before the first `Accelerator` or `TrainingArguments` is created. `tenax run script.py` also sets the variable.
"""

from __future__ import annotations

import os

from .._torch import NAME

os.environ.setdefault("ACCELERATE_TORCH_DEVICE", NAME)
