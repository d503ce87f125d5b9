"""`torch_xla.experimental.gradient_accumulation`: gradients of several small batches, added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def gradient_accumulation(
    accumulated_step: Callable[..., Any],
    iterable_tensors: Sequence[torch.Tensor],
    model: torch.nn.Module,
    *carried_tensors: torch.Tensor,
) -> Any:
    """Call a step on each slice of tensors along their leading dimension, and add up its gradients.

    Args:
        accumulated_step: `step(*slices, *carried)` returns the loss, or the loss and the next `carried`.
        iterable_tensors: of one leading size `n`. The losses are divided by it.
        model: its parameters get the gradients.
        carried_tensors: what the first step takes.

    Returns:
        The average loss, with the last `carried` where there are some.
    """
    sizes = {x.shape[0] for x in iterable_tensors}
    if len(sizes) != 1:
        raise ValueError(f"gradient_accumulation: leading sizes {sorted(sizes)}; expected one size")
    count = sizes.pop()
    total: torch.Tensor | None = None
    carried: Sequence[Any] = carried_tensors
    for i in range(count):
        result = accumulated_step(*(x[i] for x in iterable_tensors), *carried)
        if isinstance(result, tuple):
            result, *carried = result
        loss = result / count
        loss.backward()
        total = loss.detach() if total is None else total + loss.detach()
    return (total, *carried) if carried else total
