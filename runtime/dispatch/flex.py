"""`torch.nn.attention.flex_attention` on the device, by the definition in torch's own operations.

torch checks the type of the device against a list, and has autocast rules for some types only.
"""

from __future__ import annotations

from typing import Any

import torch


def install() -> None:
    """Let tensors of the device pass the check, and give the operator their autocast rule."""
    from torch._higher_order_ops import flex_attention as operator
    from torch.nn.attention import flex_attention as module

    check = module._validate_device

    def validate(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        if query.device.type != "jax":
            check(query, key, value)

    module._validate_device = validate

    autocast_key: Any = torch._C._parse_dispatch_key("AutocastPrivateUse1")

    @operator.py_impl(autocast_key)
    def autocast(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: Any) -> Any:
        dtype = torch.get_autocast_dtype("jax")
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(autocast_key)):
            return operator(query.to(dtype), key.to(dtype), value.to(dtype), *rest)
