"""Modes that see every call of torch's functions or operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch.utils._device import _device_constructors
    from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode

    # Without it a mode, such as a default device, reaches into torch's kernels in Python.
    DisableTorchFunction = torch._C.DisableTorchFunction
    dispatch_mode_count = torch._C._len_torch_dispatch_stack
    function_mode_count = torch._C._len_torch_function_stack
    device_constructors: Callable[[], set[Any]] = _device_constructors  # functions with an argument `device`
