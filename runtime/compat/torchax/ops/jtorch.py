"""`torchax.ops.jtorch`: functions of arrays for torch functions."""

from __future__ import annotations

from .op_base import register_function as register_function
