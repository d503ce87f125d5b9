"""The models and batches of the scripts, and their training with plain torch on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

STEPS = 20
Batches = list[tuple[torch.Tensor, torch.Tensor]]


class Residual(nn.Module):
    """A block of a small ResNet, with a normalization that does not depend on the batch."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.GroupNorm(2, channels), nn.GroupNorm(2, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(self.conv1(x)).relu()
        return torch.relu(x + self.norm2(self.conv2(y)))


class Bert(nn.Module):
    """An encoder with a classifier on its first token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(32, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classifier = nn.Linear(16, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.encoder(self.embedding(tokens))[:, 0])


class LlamaBlock(nn.Module):
    """A feed-forward block with a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(16)
        self.gate_proj, self.up_proj = nn.Linear(16, 32, bias=False), nn.Linear(16, 32, bias=False)
        self.down_proj = nn.Linear(32, 16, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        return x + self.down_proj(nn.functional.silu(self.gate_proj(y)) * self.up_proj(y))


def mnist() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4))


def resnet() -> nn.Module:
    head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 4)
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), Residual(4), nn.MaxPool2d(2), Residual(4), *head)


def llama() -> nn.Module:
    return nn.Sequential(nn.Embedding(32, 16), LlamaBlock(), LlamaBlock(), nn.Linear(16, 4, bias=False))


MODELS: dict[str, Callable[[], nn.Module]] = {"mnist": mnist, "resnet": resnet, "bert": Bert, "llama": llama}


def build(name: str) -> nn.Module:
    """A model with its initial values."""
    torch.manual_seed(3)
    return MODELS[name]()


def batches(name: str, size: int = 16) -> Batches:
    """Pictures or tokens, with their classes."""
    generator = torch.Generator().manual_seed(5)
    if name in ("mnist", "resnet"):
        inputs = [torch.randn(size, 1, 8, 8, generator=generator) for _ in range(STEPS)]
    else:
        inputs = [torch.randint(0, 32, (size, 6), generator=generator) for _ in range(STEPS)]
    shape = (size, 6) if name == "llama" else (size,)
    return [(x, torch.randint(0, 4, shape, generator=generator)) for x in inputs]


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The loss of a batch."""
    return nn.functional.cross_entropy(model(x).flatten(0, -2), y.flatten())


def optimizer_of(name: str, parameters: Iterable[Any]) -> torch.optim.Optimizer:
    """The optimizer of a script."""
    if name in ("bert", "llama"):
        return torch.optim.AdamW(parameters, lr=1e-3, eps=1e-3)  # where a gradient is only rounding, it moves little
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


def trained_on_the_cpu(name: str) -> dict[str, Any]:
    """The losses and the final parameters."""
    model = build(name)
    optimizer = optimizer_of(name, model.parameters())
    losses = []
    for x, y in batches(name):
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return {"losses": torch.stack(losses), "model": model.state_dict()}
