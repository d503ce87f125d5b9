"""ResNet-18: a stem, four stages of two residual blocks, a mean and a linear layer."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch import nn


class Block(nn.Module):
    """Two 3x3 convolutions and what passes beside them."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(inputs, width, 1, stride, bias=False) if stride > 1 else None
        self.bn3 = nn.BatchNorm2d(width) if stride > 1 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.conv3 is not None:
            x = self.bn3(self.conv3(x))
        return F.relu(x + y)


class ResNet(nn.Module):
    """(batch, 3, height, width of the image) to (batch, classes)."""

    def __init__(self, width: int = 16, classes: int = 10) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, width, 7, 2, padding=3, bias=False)
        self.bn = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, padding=1)
        widths = (width, width, 2 * width, 4 * width, 8 * width)
        blocks = []
        for i, (inputs, outputs) in enumerate(pairwise(widths)):
            blocks += [Block(inputs, outputs, 2 if i else 1), Block(outputs, outputs, 1)]
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(8 * width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(F.relu(self.bn(self.conv(x))))
        return self.head(self.blocks(x).mean((2, 3)))
