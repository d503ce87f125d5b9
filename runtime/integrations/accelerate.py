"""Importing this module makes Accelerate, and the trainers built on it, choose the device "jax".

It sets ACCELERATE_TORCH_DEVICE, unless it is set: the variable by which Accelerate is told a device. It must be
imported before the first `Accelerator` or `TrainingArguments` is made. `tenax run script.py` sets the variable too.
"""

from __future__ import annotations

import os

os.environ.setdefault("ACCELERATE_TORCH_DEVICE", "jax")
