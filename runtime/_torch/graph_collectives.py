"""Functional collectives of torch.distributed, and breaks, in graphs of TorchDynamo, which inlines this file."""

from __future__ import annotations

import torch


def all_reduced(tensor: torch.Tensor, operation: str, group: str) -> torch.Tensor:
    """The reduction ('sum', 'product', 'min', 'max', 'band', 'bor') of a tensor over the group of a name."""
    operators = torch.ops._c10d_functional
    return operators.wait_tensor(operators.all_reduce(tensor, operation, group))


def break_graph(message: str) -> None:
    """Call the rest of the function without TorchDynamo, which raises the message under `fullgraph=True`."""
    torch._dynamo.graph_break(msg=message)
