"""A tiny Llama: rotary embeddings in complex numbers, grouped queries, RMSNorm, SwiGLU."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

WIDTH, HEADS, GROUPS, WORDS, LENGTH = 16, 4, 2, 31, 8
HEAD = WIDTH // HEADS


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wq = nn.Linear(WIDTH, WIDTH, bias=False)
        self.wk = nn.Linear(WIDTH, GROUPS * HEAD, bias=False)
        self.wv = nn.Linear(WIDTH, GROUPS * HEAD, bias=False)
        self.wo = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, rotations: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = (w(x).view(batch, length, -1, HEAD) for w in (self.wq, self.wk, self.wv))
        q, k = (rotated(t, rotations[:length]) for t in (q, k))
        q, k, v = q.transpose(1, 2), *(t.repeat_interleave(HEADS // GROUPS, 2).transpose(1, 2) for t in (k, v))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(batch, length, WIDTH))


def rotated(x: torch.Tensor, rotations: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * rotations[None, :, None]).flatten(3).type_as(x)


def rotations() -> torch.Tensor:
    angles = torch.outer(torch.arange(LENGTH), 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD))
    return torch.polar(torch.ones_like(angles), angles)


class FeedForward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w1 = nn.Linear(WIDTH, 24, bias=False)
        self.w2 = nn.Linear(24, WIDTH, bias=False)
        self.w3 = nn.Linear(WIDTH, 24, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(functional.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention, self.feed_forward = Attention(), FeedForward()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(WIDTH, 1e-5), nn.RMSNorm(WIDTH, 1e-5)

    def forward(self, x: torch.Tensor, rotations: torch.Tensor, mask: Any = None) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), rotations)
        return x + self.feed_forward(self.ffn_norm(x))


class Llama(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleDict({str(i): Block() for i in range(layers)})
        self.norm = nn.RMSNorm(WIDTH, 1e-5)
        self.output = nn.Linear(WIDTH, WORDS, bias=False)
        self.register_buffer("freqs_cis", rotations())

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            x = layer(x, self.freqs_cis)
        return self.output(self.norm(x))
