"""Gives gradients of sharded leaves the shardings of the leaves.

A gradient that XLA leaves replicated costs each device the memory of the whole weight, and so does the optimizer state
made from it. A hook before each leaf's accumulation reshards the gradient; a reduction then becomes a reduce-scatter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from ..storage.layout import lay_out
from ..storage.tensors import NAME, cell_of, covers_array


def placed_gradients(
    run: Callable[..., Any],
    results: Iterable[Any],
    given: Any,
    keep: bool,
    create: bool,
    inputs: Any,
    *args: Any,
    **options: Any,
) -> Any:
    """Run a backward pass of torch's engine, and give gradients the shardings of their leaves and inputs."""
    leaves = [(node, _sharding(node.variable)) for node in _leaves(results)]
    hooks = [node.register_prehook(_placing(sharding)) for node, sharding in leaves if sharding is not None]
    try:
        gradients = run(results, given, keep, create, inputs, *args, **options)
    finally:
        for hook in hooks:
            hook.remove()
    for tensor, gradient in zip(inputs, gradients or (), strict=False):
        if isinstance(tensor, torch.Tensor) and (sharding := _sharding(tensor)) is not None:
            _placing(sharding)((gradient,))
    return gradients


def _placing(sharding: Any) -> Any:
    def place(gradients: tuple[Any, ...]) -> None:
        for gradient in gradients:
            if gradient is not None and gradient.device.type == NAME and gradient.layout is torch.strided:
                lay_out(gradient, sharding)

    return place


def _sharding(leaf: torch.Tensor) -> Any:
    if leaf.device.type != NAME or leaf.layout is not torch.strided:
        return None
    try:
        cell = cell_of(leaf)
    except RuntimeError:  # a wrapper of torch.func, or a fake tensor
        return None
    return cell.aval.sharding if covers_array(leaf, cell) else None


def _leaves(results: Iterable[Any]) -> Iterator[Any]:
    """Yield the nodes that accumulate gradients of leaves in the graph of some results."""
    rest = [x.grad_fn for x in results if isinstance(x, torch.Tensor) and x.grad_fn is not None]
    seen = set(rest)
    while rest:
        node = rest.pop()
        if hasattr(node, "variable"):
            yield node
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                rest.append(following)
