"""Serve a small Llama: a static key-value cache, continuous batching, and one compiled decode step.

    python examples/serve.py

Requests arrive with prompts of different lengths and wait for one of a few slots. Each step feeds one token of every
slot: the next token of its prompt, or the one that it generated. A request that is done leaves its slot to the next
one, so the batch stays full; the shapes never change, so there is one program. The same requests are served eagerly on
the device and on CPU torch, and the generated tokens are compared.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

import tenax

Step = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Config:
    """The sizes of the model, and of its cache."""

    vocabulary: int = 256
    width: int = 128
    hidden: int = 256
    layers: int = 4
    heads: int = 8
    kv_heads: int = 4
    slots: int = 4
    length: int = 64

    @property
    def head(self) -> int:
        return self.width // self.heads


@dataclass
class Request:
    """A prompt, and the tokens generated for it."""

    prompt: list[int]
    wanted: int
    answer: list[int] = field(default_factory=list)


class Attention(nn.Module):
    """Attention of one new token of each slot to the keys and values of its past, which are kept in buffers."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.q = nn.Linear(config.width, config.heads * config.head, bias=False)
        self.kv = nn.Linear(config.width, 2 * config.kv_heads * config.head, bias=False)
        self.out = nn.Linear(config.heads * config.head, config.width, bias=False)
        shape = config.slots, config.length, config.kv_heads, config.head
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(
        self, x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], positions: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        """x: (slots, width), positions: (slots), mask: (slots, 1, 1, length)."""
        slots = torch.arange(self.config.slots, device=x.device)
        q = rotated(self.q(x).unflatten(-1, (self.config.heads, -1)), *turn)
        k, v = self.kv(x).unflatten(-1, (2, self.config.kv_heads, -1)).unbind(1)
        self.keys[slots, positions] = rotated(k, *turn)
        self.values[slots, positions] = v
        past = (self.keys.transpose(1, 2), self.values.transpose(1, 2))
        found = nn.functional.scaled_dot_product_attention(q[:, :, None], *past, attn_mask=mask, enable_gqa=True)
        return self.out(found.flatten(1))


class Block(nn.Module):
    """Attention, then a gated perceptron, each after a norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(config.width) for _ in range(2))
        self.attention = Attention(config)
        self.gate = nn.Linear(config.width, config.hidden, bias=False)
        self.up = nn.Linear(config.width, config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, config.width, bias=False)

    def forward(
        self, x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], positions: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        x = x + self.attention(self.norms[0](x), turn, positions, mask)
        y = self.norms[1](x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """A Llama that decodes one token for each slot."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.width)

    def forward(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The next token of each slot: (slots,) from tokens and positions of shape (slots,)."""
        frequencies = 10000 ** (-torch.arange(0, 1, 2 / self.config.head, device=tokens.device))
        angles = (positions[:, None] * frequencies)[:, None]
        turn = angles.cos(), angles.sin()
        mask = (torch.arange(self.config.length, device=tokens.device) <= positions[:, None])[:, None, None]
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, turn, positions, mask)
        return (self.norm(x) @ self.embedding.weight.t()).argmax(-1)


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding: pairs of halves turned by the angle of the position."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def serve(step: Step, requests: list[Request], config: Config, device: str) -> float:
    """Serve requests by continuous batching; the generated tokens per second."""
    waiting = deque(requests)
    running: list[Request | None] = [None] * config.slots
    fed = [0] * config.slots
    started = time.perf_counter()
    while waiting or any(running):
        tokens = [0] * config.slots
        for slot, request in enumerate(running):
            if request is None and waiting:  # an old cache beyond the position is masked
                running[slot] = request = waiting.popleft()
            if request is not None:
                tokens[slot] = (request.prompt + request.answer)[fed[slot]]
        found = step(torch.tensor(tokens).to(device), torch.tensor(fed).to(device)).tolist()
        for slot, request in enumerate(running):
            if request is None:
                continue
            fed[slot] += 1
            if fed[slot] >= len(request.prompt):
                request.answer.append(found[slot])
            if len(request.answer) == request.wanted:
                running[slot], fed[slot] = None, 0
    return sum(len(r.answer) for r in requests) / (time.perf_counter() - started)


def arrivals(config: Config, count: int) -> list[Request]:
    """Requests with random prompts."""
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(2, config.length // 4, (count, 2), generator=generator).tolist()
    prompts = [torch.randint(0, config.vocabulary, (n,), generator=generator).tolist() for n, _ in lengths]
    return [Request(prompt, wanted) for prompt, (_, wanted) in zip(prompts, lengths, strict=True)]


def compare(config: Config, count: int) -> dict[str, tuple[float, list[list[int]]]]:
    """Tokens per second and the answers: compiled and eager on the device, and on CPU torch."""
    results = {}
    for name, device in (("tenax.jit", "jax"), ("eager", "jax"), ("CPU torch", "cpu")):
        torch.manual_seed(0)
        model = Llama(config).to(device).eval()
        step = tenax.jit(model) if name == "tenax.jit" else model
        with torch.no_grad():
            serve(step, arrivals(config, 2), config, device)  # compiles
            requests = arrivals(config, count)
            results[name] = serve(step, requests, config, device), [r.answer for r in requests]
    return results


def main() -> None:
    """Serve and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=12)
    results = compare(Config(), parser.parse_args().requests)
    table = Table("decode step", "tokens / s", "tokens as on the CPU")
    reference = results["CPU torch"][1]
    for name, (speed, answers) in results.items():
        pairs = [(a, b) for x, y in zip(answers, reference, strict=True) for a, b in zip(x, y, strict=True)]
        table.add_row(name, f"{speed:.0f}", f"{sum(a == b for a, b in pairs)} of {len(pairs)}")
    Console().print(table)


if __name__ == "__main__":
    main()
