"""Whether a function compiled for the device agrees with CPU torch."""

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor


def compiled(f: Any, **options: Any) -> Any:
    return torch.compile(f, backend="tenax", **options)


def leaves(tree: Any) -> list[Tensor]:
    return [x for x in torch.utils._pytree.tree_leaves(tree) if isinstance(x, Tensor)]


def agree(found: Any, expected: Any) -> None:
    """Results on the device and on the CPU, with their strides."""
    for x, y in zip(leaves(found), leaves(expected), strict=True):
        assert x.device.type == "jax"
        assert (x.dtype, x.shape, x.stride()) == (y.dtype, y.shape, y.stride())
        assert x.requires_grad == y.requires_grad
        torch.testing.assert_close(x.detach().cpu(), y.detach(), rtol=1e-4, atol=1e-5)


def on_device(x: Tensor) -> Tensor:
    return x.detach().to("jax").requires_grad_(x.requires_grad)


def check(f: Callable[..., Any], *inputs: Tensor, calls: int = 2, **options: Any) -> None:
    """A function: its results, its writes to the inputs and its gradients, over a few calls."""
    g = compiled(f, **options)
    for _ in range(calls):
        host = [x.detach().clone(memory_format=torch.preserve_format).requires_grad_(x.requires_grad) for x in inputs]
        device = [on_device(x) for x in host]
        expected, found = f(*host), g(*device)
        agree(found, expected)
        for x, y in zip(device, host, strict=True):
            torch.testing.assert_close(x.detach().cpu(), y.detach(), rtol=1e-4, atol=1e-5)
            assert bool(x._version) == bool(y._version)  # torch counts the writes of a graph as one
        if any(y.requires_grad for y in leaves(expected)):
            for results in (expected, found):
                sum(r.square().mean() for r in leaves(results) if r.requires_grad).backward()  # type: ignore[union-attr]
            agree([x.grad for x in device], [x.grad for x in host])
