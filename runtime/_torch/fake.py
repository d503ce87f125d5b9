"""The tensors that torch traces with, which have a size, a dtype and a device but no memory."""

from __future__ import annotations

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch._subclasses.fake_tensor import FakeTensor as FakeTensor
    from torch._subclasses.fake_tensor import is_fake as is_fake
    from torch._subclasses.functional_tensor import FunctionalTensor as FunctionalTensor
