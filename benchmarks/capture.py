"""The capture of a whole training step: by `tenax.jit`, which traces it, and by torch's Dynamo, which reads bytecode.

Dynamo captures the forward pass and the optimizer as graphs of their own, and breaks at `backward()`. The table shows
how many graphs a step becomes, how long the first call takes, and what a later call costs. `python
benchmarks/capture.py` prints it; `--write` stores it in benchmarks/results/calls.md.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable
from typing import Any

import torch
from clock import interleaved
from tables import publish
from torch import nn
from torch._dynamo.utils import counters

import tenax

TITLES = ("layers", "capture", "graphs", "first call, s", "later call, µs", "ratio")


def training(module: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    """A step of SGD."""
    optimizer = torch.optim.SGD(module.parameters(), 0.01)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = module(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def compiled(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step by `torch.compile`."""
    return torch.compile(step, backend="tenax")


def rows(layers: int, seconds: float) -> list[tuple[str, ...]]:
    """The measurements of a perceptron."""
    module = nn.Sequential(*[nn.Sequential(nn.Linear(32, 32), nn.ReLU()) for _ in range(layers)])
    x, first, graphs, calls = torch.randn(16, 32, device="jax"), {}, {"tenax.jit": 1}, {}
    for name, capture in (("tenax.jit", tenax.jit), ("torch.compile", compiled)):
        step = capture(training(copy.deepcopy(module).to("jax")))
        counters.clear()
        start = time.perf_counter()
        step(x).item()
        first[name] = time.perf_counter() - start
        for _ in range(3):
            step(x).item()
        graphs.setdefault(name, counters["stats"]["unique_graphs"])
        calls[name] = lambda step=step: step(x).item()
    times = interleaved(calls, seconds)
    return [
        (str(layers), name, str(graphs[name]), f"{first[name]:.2f}", f"{t:.0f}", f"{t / times['tenax.jit']:.2f}")
        for name, t in times.items()
    ]


def main() -> None:
    """Measure both captures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the table to benchmarks/results/calls.md.")
    parser.add_argument("--seconds", type=float, default=4.0, help="Seconds per model.")
    options = parser.parse_args()
    rows(1, 0.1)  # imports and first compilations
    publish("capture", TITLES, [row for n in (4, 16, 64) for row in rows(n, options.seconds)], write=options.write)


if __name__ == "__main__":
    main()
