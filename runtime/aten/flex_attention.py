"""`torch.nn.attention.flex_attention` on the device, through its reference implementation in torch operations.

This needs patches, because torch checks the device type against a list and has autocast rules for some devices only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .. import patches
from .._torch import NAME
from .._torch.dispatcher import DispatchKeySet, ExcludeKeys, key_of_name
from .._torch.flex_attention import operator


def _passing(check: Callable[..., None]) -> Callable[..., None]:
    def validate(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        if query.device.type != NAME:
            check(query, key, value)

    return validate


def install() -> None:
    """Let tensors of the device pass the check, and register an autocast rule for the operator."""
    patches.wrap("torch.nn.attention.flex_attention._validate_device", _passing)

    autocast_key: Any = key_of_name("AutocastPrivateUse1")

    @operator.py_impl(autocast_key)
    def autocast(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: Any) -> Any:
        dtype = torch.get_autocast_dtype(NAME)
        with ExcludeKeys(DispatchKeySet(autocast_key)):
            return operator(query.to(dtype), key.to(dtype), value.to(dtype), *rest)
