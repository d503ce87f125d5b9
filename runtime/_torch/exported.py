"""Private parts of `torch.export`: the order of keyword arguments, and unbounded sizes."""

from __future__ import annotations

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch.export._tree_utils import reorder_kwargs as reorder_kwargs
    from torch.utils._sympy.numbers import int_oo as int_oo  # the upper bound of an unbounded size
