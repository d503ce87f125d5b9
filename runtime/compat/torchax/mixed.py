"""A mode in which CPU tensors, even 0-d ones, are rejected in operations of the device."""

from __future__ import annotations

from typing import Any

import torch

from ..._torch import NAME, pytree
from ..._torch.modes import TorchDispatchMode

_TRANSFERS = ("copy_", "_copy_from", "_to_copy", "set_", "_has_compatible_shallow_copy_type")


class NoMixedMath(TorchDispatchMode):
    """Raises for an operation that mixes device and CPU tensors, other than a transfer.

    Raises:
        RuntimeError: at such an operation.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        devices = {x.device.type for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)}
        if devices >= {"cpu", NAME} and func._schema.name.removeprefix("aten::") not in _TRANSFERS:
            raise RuntimeError(
                f"{func.name()}: got tensors of cpu and of {NAME}, and allow_mixed_math_with_scalar_tensor is off; "
                f"expected tensor.to({NAME!r})"
            )
        return func(*args, **kwargs)
