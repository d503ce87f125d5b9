"""`torch.nn.attention.flex_attention` on the device, by the definition in torch's own operations.

torch checks the type of the device against a list, and has autocast rules for some types only.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._C import DispatchKey


def install() -> None:
    """Let tensors of the device pass the check, and give the operator their autocast rule."""
    from torch._higher_order_ops import flex_attention as operator
    from torch.nn.attention import flex_attention as module

    check = module._validate_device

    def validate(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        if query.device.type != "jax":
            check(query, key, value)

    module._validate_device = validate

    @operator.py_impl(DispatchKey.AutocastPrivateUse1)
    def autocast(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: Any) -> Any:
        dtype = torch.get_autocast_dtype("jax")
        inputs = (x.to(dtype) for x in (query, key, value))
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(DispatchKey.AutocastPrivateUse1)):
            return operator(*inputs, *rest)
