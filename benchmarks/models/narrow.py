"""A perceptron of a hundred tiny layers: what a step costs for each parameter."""

from __future__ import annotations

import torch
from torch import nn


class Narrow(nn.Module):
    """(batch, width) to (batch, width)."""

    def __init__(self, layers: int = 101, width: int = 2) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).tanh()
        return x
