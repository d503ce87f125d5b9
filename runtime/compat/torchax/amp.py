"""`torchax.amp`: torch's own autocast on device "jax"."""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import Any

import torch

from tenax.generated.autocast import POLICIES

from ..._torch import NAME
from ..._torch.dispatcher import operator_names
from ..._torch.operators import overload_named

# How autocast converts the arguments of an operator.
CastPolicy = enum.Enum(
    "CastPolicy", "LOWER_PRECISION_FP FP32 FP32_SET_OPT_DTYPE FP32_APPEND_DTYPE PROMOTE", module=__name__, start=0
)
_HELD = {name.removeprefix("aten::") for name in operator_names()}  # a release of torch may lack operators
# The policies of CUDA's operators, by overload. They cannot be set, because torch's dispatcher has them.
autocast_policy = MappingProxyType(
    {
        overload_named(name): CastPolicy[policy.kind.upper()]
        for name, policy in POLICIES.items()
        if name in _HELD and policy.kind != "banned"
    }
)


def autocast(device: str = NAME, dtype: torch.dtype = torch.bfloat16, env: Any = None, **options: Any) -> Any:
    """`torch.autocast` for the device; a context manager or decorator."""
    return torch.autocast(device, dtype=dtype, **options)
