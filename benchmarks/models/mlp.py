"""A perceptron of three layers."""

from __future__ import annotations

import torch
from torch import nn


class MLP(nn.Module):
    """(batch, inputs) to (batch, classes)."""

    def __init__(self, inputs: int = 256, width: int = 512, classes: int = 16) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.second(self.first(x).relu()).relu())
