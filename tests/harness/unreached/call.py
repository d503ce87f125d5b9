"""Call: the arguments of one overload, on any device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree


@dataclass
class Call:
    """Arguments on the CPU, and a reference in place of the overload itself where CPU torch has no kernel."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def on(self, device: str, tracked: bool = False) -> Call:
        """Copies on a device; float32 tensors as float64 leaves of a graph if `tracked`."""

        def move(x: Any) -> Any:
            if isinstance(x, torch.Tensor):
                moved = x.detach().clone().to(device)
                return moved.double().requires_grad_() if tracked and x.dtype == torch.float32 else moved
            return torch.device(device) if isinstance(x, torch.device) else x

        return Call(*pytree.tree_map(move, (self.args, self.kwargs)))

    def tensors(self) -> list[torch.Tensor]:
        return [x for x in pytree.tree_leaves((self.args, self.kwargs)) if isinstance(x, torch.Tensor)]

    def run(self, function: Callable[..., Any]) -> Any:
        return function(*self.args, **self.kwargs)


Maker = Callable[[], Call]


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


def r(*shape: int) -> torch.Tensor:
    """Normal numbers."""
    return torch.randn(*shape)


def u(*shape: int) -> torch.Tensor:
    """Numbers within (0.1, 0.9)."""
    return torch.rand(*shape) * 0.8 + 0.1


def i(*values: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """Whole numbers."""
    return torch.tensor(values, dtype=dtype)


def overload(name: str) -> Any:
    """`add.Tensor` to torch's overload."""
    base, _, variant = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), variant or "default")
