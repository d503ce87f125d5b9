"""A decoder-only transformer in the shape of GPT-2."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch import nn


class Attention(nn.Module):
    """Causal self-attention with one matrix for queries, keys and values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def parts(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Queries, keys and values, each (batch, heads, length, size of a head)."""
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        return [part.view(shape).transpose(1, 2) for part in self.inputs(x).chunk(3, -1)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.scaled_dot_product_attention(*self.parts(x), is_causal=True)
        return self.output(y.transpose(1, 2).reshape(x.shape))


class SplitAttention(Attention):
    """The same with three matrices, which tensor parallelism can split by heads."""

    def __init__(self, width: int, heads: int) -> None:
        nn.Module.__init__(self)
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def parts(self, x: torch.Tensor) -> list[torch.Tensor]:
        shape = (*x.shape[:2], self.heads, x.shape[-1] // self.heads)
        return [project(x).view(shape).transpose(1, 2) for project in (self.query, self.key, self.value)]


class Block(nn.Module):
    """Attention and a perceptron, each behind a layer norm and added to what came in."""

    def __init__(self, width: int, heads: int, split: bool) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = (SplitAttention if split else Attention)(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def perceptron(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.perceptron(x + self.attention(self.norm1(x)))


class GPT(nn.Module):
    """Tokens (batch, length) to logits (batch, length, vocabulary). The head is the embedding."""

    def __init__(
        self,
        layers: int,
        width: int = 64,
        heads: int = 4,
        length: int = 64,
        vocabulary: int = 512,
        split: bool = False,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, split) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for table in (self.tokens, self.positions):
            nn.init.normal_(table.weight, std=0.02)

    def embed(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return self.tokens(tokens) + self.positions(positions)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(self.norm(x), self.tokens.weight)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens, torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.logits(x)
