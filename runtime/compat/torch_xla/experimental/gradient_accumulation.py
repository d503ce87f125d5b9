"""`torch_xla.experimental.gradient_accumulation`: accumulated gradients of several small batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..missing import names_of

__getattr__ = names_of(__name__)


def gradient_accumulation(
    accumulated_step: Callable[..., Any],
    iterable_tensors: Sequence[torch.Tensor],
    model: torch.nn.Module,
    *carried_tensors: torch.Tensor,
) -> Any:
    """Call a step on each slice of tensors along their leading dimension, and accumulate its gradients.

    Args:
        accumulated_step: `step(*slices, *carried)` returns the loss, or the loss and the next `carried`.
        iterable_tensors: tensors with the same leading size `n`, by which the losses are divided.
        model: the module whose parameters receive the gradients.
        carried_tensors: the initial `carried`.

    Returns:
        The average loss, and the last `carried` if there are any.
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
