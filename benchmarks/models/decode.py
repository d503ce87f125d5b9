"""Greedy decoding: a GPT that takes one token at a time and keeps keys and values in buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch import nn

from .gpt import GPT


class Decoder(nn.Module):
    """One token (batch, 1) at a position (1,) to the likeliest next one and its position."""

    def __init__(self, gpt: GPT, batch: int = 1) -> None:
        super().__init__()
        self.gpt = gpt
        length, width = gpt.positions.weight.shape
        heads = gpt.blocks[0].attention.heads
        for i in range(len(gpt.blocks)):
            for name in ("keys", "values"):
                self.register_buffer(f"{name}{i}", torch.zeros(batch, heads, length, width // heads))

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.gpt.embed(token, position)
        seen = torch.arange(self.gpt.positions.num_embeddings, device=token.device) <= position
        for i, block in enumerate(self.gpt.blocks):
            query, key, value = block.attention.parts(block.norm1(x))
            keys = self.get_buffer(f"keys{i}").index_copy_(2, position, key)
            values = self.get_buffer(f"values{i}").index_copy_(2, position, value)
            y = F.scaled_dot_product_attention(query, keys, values, attn_mask=seen[None])
            x = block.perceptron(x + block.attention.output(y.transpose(1, 2).reshape(x.shape)))
        return self.gpt.logits(x).argmax(-1), position + 1


def decode(step: Callable[..., Any], token: Any, position: Any, count: int) -> list[Any]:
    """The `count` tokens that follow, each the result of one call of `step`."""
    found = []
    for _ in range(count):
        token, position = step(token, position)
        found.append(token)
    return found
