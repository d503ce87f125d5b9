"""The seam to torch: every private name of torch that the package uses has one home here, under a name of its own.

Importing any part of it checks the release of torch. No other module touches a name of torch that starts with an
underscore (`tests/test_seams.py`); attributes that it replaces are rows of `tenax.patches`. The modules are split by
subject and by what they import, so that each layer loads only what it needs.
"""

from __future__ import annotations

import torch

from ..releases import check_release

check_release("torch", torch.__version__)
