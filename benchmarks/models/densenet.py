"""DenseNet-121: each layer reads the results of all layers before it in its block."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch import nn


class Layer(nn.Module):
    """A point-wise convolution to a bottleneck, and a 3x3 one to the channels that are added."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.bn2, self.conv2 = nn.BatchNorm2d(4 * growth), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, self.conv2(F.relu(self.bn2(self.conv1(F.relu(self.bn1(x))))))], 1)


class DenseNet(nn.Module):
    """(batch, 3, height, width of the image) to (batch, classes)."""

    def __init__(self, growth: int = 32, blocks: tuple[int, ...] = (6, 12, 24, 16), classes: int = 1000) -> None:
        super().__init__()
        width = 2 * growth
        layers: list[nn.Module] = [
            nn.Conv2d(3, width, 7, 2, padding=3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, padding=1),
        ]
        for i, depth in enumerate(blocks):
            if i:
                halved = nn.Conv2d(width, width // 2, 1, bias=False)
                layers += [nn.BatchNorm2d(width), nn.ReLU(), halved, nn.AvgPool2d(2)]
                width //= 2
            layers += [Layer(width + j * growth, growth) for j in range(depth)]
            width += depth * growth
        self.layers = nn.Sequential(*layers, nn.BatchNorm2d(width), nn.ReLU())
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x).mean((2, 3)))
