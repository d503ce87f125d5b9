"""Whether results agree: with tolerances of the one table, or exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch

from tests.helpers.tolerances import Allowance, tolerance

Tensor = torch.Tensor

ARRAYS = Tensor | jax.Array | np.ndarray | np.generic
LEAVES = ARRAYS | bool | int | float | complex | None


def leaves(tree: Any) -> list[Any]:
    """The tensors, arrays and numbers of a tree that JAX or torch knows; dicts in the order of their keys."""
    return [leaf for _, leaf in _flat(tree) if leaf is not None]


def _flat(tree: Any, at: str = "") -> list[tuple[str, Any]]:
    """The leaves of a tree, `None` among them, each after its place."""
    found = []
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree, is_leaf=lambda x: x is None):
        place = at + jax.tree_util.keystr(path)
        if isinstance(leaf, LEAVES):
            found.append((place, leaf))
        else:  # a container that JAX does not know: a ModelOutput, a named tuple of torch
            inner = torch.utils._pytree.tree_leaves(leaf)
            assert inner != [leaf], f"{type(leaf).__name__}: expected a tree of tensors, arrays and numbers"
            found += _flat(inner, place)
    return found


def _on_host(leaf: Any) -> Tensor:
    """A leaf as a tensor of the CPU."""
    if isinstance(leaf, Tensor):
        return leaf.detach().cpu()
    array = np.array(leaf)
    if array.dtype.name == "bfloat16":  # which torch does not take from NumPy
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def close(found: Any, expected: Any, allowance: Allowance | None = None, *, nan: bool = False) -> None:
    """Two trees of tensors, arrays and numbers have the same shapes and near values.

    What is compared with a tensor has its dtype and, where that is one of the device, its device. Of other leaves the
    dtypes may differ, and the wider one of the two tolerances applies. `nan`: NaN is equal to NaN.
    """
    for (place, x), (_, y) in zip(_flat(found), _flat(expected), strict=True):
        if x is None or y is None:
            assert x is y, place
            continue
        typed = isinstance(x, Tensor | jax.Array) and isinstance(y, Tensor)
        if isinstance(x, Tensor) and isinstance(y, Tensor) and y.device.type == "jax":
            assert x.device == y.device, place
        a, b = _on_host(x), _on_host(y)
        # A Python number has the precision of the array that it is compared with.
        dtypes = [t.dtype for t, leaf in ((a, x), (b, y)) if isinstance(leaf, ARRAYS)] or [torch.float64]
        allowed = max((tolerance(dtype, allowance) for dtype in dtypes), key=lambda t: t.relative)
        torch.testing.assert_close(
            a,
            b,
            rtol=allowed.relative,
            atol=allowed.absolute,
            equal_nan=nan,
            check_dtype=typed,
            check_stride=False,
            msg=lambda text, place=place: f"{place}: {text}" if place else text,
        )


def agree(
    found: Any, expected: Any, allowance: Allowance | None = None, *, strides: bool = True, nan: bool = False
) -> None:
    """Results on the device and those of CPU torch: near values, and the same dtypes, shapes, strides and histories."""
    for x, y in zip(leaves(found), leaves(expected), strict=True):
        assert isinstance(x, Tensor) == isinstance(y, Tensor)
        if isinstance(x, Tensor):
            assert x.device.type == "jax"
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            assert not strides or x.stride() == y.stride()
            assert x.requires_grad == y.requires_grad
    close(found, expected, allowance, nan=nan)


def same(found: Tensor, expected: Tensor) -> None:
    """Two tensors are equal in every value, and in where they lie in their memory."""
    for attribute in ("dtype", "shape", "stride", "storage_offset", "_version"):
        a, b = (getattr(x, attribute) for x in (found, expected))
        assert (a() == b()) if callable(a) else (a == b), attribute
    assert torch.equal(found.cpu(), expected)


def compiled(f: Any, **options: Any) -> Any:
    return torch.compile(f, backend="tenax", **options)


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
            close(x, y)
            assert bool(x._version) == bool(y._version)  # torch counts the writes of a graph as one
        differentiable = [
            [x for x in leaves(r) if isinstance(x, Tensor) and x.requires_grad] for r in (expected, found)
        ]
        if differentiable[0]:
            for results in differentiable:
                sum(r.square().mean() for r in results).backward()  # type: ignore[union-attr]
            agree([x.grad for x in device], [x.grad for x in host])
