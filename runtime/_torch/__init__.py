"""The seam to torch: every private name of torch that the package uses is bound here once, under a public name.

Importing any part of it checks the release of torch. No other module uses a torch name that starts with an underscore
(`tests/structure/test_seams.py`); attributes that are replaced are rows of `tenax.changes`. The modules are split by
subject and by what they import, so that each layer loads only what it needs.
"""

from __future__ import annotations

import os

import torch

from ..releases import check_release

check_release("torch", torch.__version__)

NAME = os.environ.get("TENAX_DEVICE") or "jax"  # of the device, wherever it is compared or shown
