"""Modes that intercept every call of torch's functions or operators, and the state of `torch.jit.trace`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch._higher_order_ops.utils import _in_hop_compile
    from torch.utils._device import _device_constructors
    from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode

    # A context that keeps function modes, such as a default device, from affecting torch's Python kernels.
    DisableTorchFunction = torch._C.DisableTorchFunction
    dispatch_mode_count = torch._C._len_torch_dispatch_stack
    function_mode_count = torch._C._len_torch_function_stack
    captures_control_flow: Callable[[], bool] = _in_hop_compile  # whether `torch.cond` or its kin calls Dynamo
    tracing_state: Callable[[], Any] = torch._C._get_tracing_state  # of torch.jit.trace
    device_constructors: Callable[[], set[Any]] = _device_constructors  # functions with an argument `device`
