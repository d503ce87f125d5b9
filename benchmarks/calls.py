"""The cost of one call of a compiled function, compared with a `jax.jit` call with the same leaves.

The programs compute almost nothing, so the time is call overhead: a sum over all parameters, and an update of all
parameters, which donates them. `python benchmarks/calls.py` prints the table; `--write` stores it in
benchmarks/results/calls.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import jax
import jax.numpy as jnp
import torch
from clock import interleaved
from tables import publish
from torch import nn

import tenax

TITLES = ("call", "parameters", "tenax µs", "jax.jit µs", "above jax.jit, µs")
COUNTS = (10, 100, 500)


class Parameters(nn.Module):
    """A module whose forward pass sums its parameters."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.held = nn.ParameterList(torch.ones(4) for _ in range(count))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + sum(p[0] for p in self.held)


def read(count: int) -> dict[str, Callable[[], object]]:
    """A call that reads the parameters: a module in eval mode, by tenax and by JAX."""
    module = tenax.jit(Parameters(count).to("jax").requires_grad_(False))
    x = torch.ones(4, device="jax")
    jitted = jax.jit(lambda held, x: x + sum(p[0] for p in held))
    held, y = [jnp.ones(4) for _ in range(count)], jnp.ones(4)
    return {"tenax": lambda: module(x).jax().block_until_ready(), "jax": lambda: jitted(held, y).block_until_ready()}


def write(count: int) -> dict[str, Callable[[], object]]:
    """A call that replaces every parameter, by tenax and by JAX."""
    module = Parameters(count).to("jax").requires_grad_(False)

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        for p in module.held:
            p.mul_(0.5)
        return x + 1

    def update(held: list[jax.Array], y: jax.Array) -> tuple[list[jax.Array], jax.Array]:
        return [p * 0.5 for p in held], y + 1

    jitted = jax.jit(update, donate_argnums=0)
    x, y, held = torch.ones(4, device="jax"), jnp.ones(4), [jnp.ones(4) for _ in range(count)]

    def call() -> None:
        nonlocal held
        held, result = jitted(held, y)
        result.block_until_ready()

    return {"tenax": lambda: step(x).jax().block_until_ready(), "jax": call}


def main() -> None:
    """Measure both programs at several numbers of parameters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the table to benchmarks/results/calls.md.")
    parser.add_argument("--seconds", type=float, default=4.0, help="Seconds per row.")
    options = parser.parse_args()
    rows = []
    for name, make in (("read", read), ("write, donated", write)):
        for count in COUNTS:
            times = interleaved(make(count), options.seconds)
            above = times["tenax"] - times["jax"]
            rows.append((name, str(count), f"{times['tenax']:.0f}", f"{times['jax']:.0f}", f"{above:.0f}"))
    publish("calls", TITLES, rows, write=options.write)


if __name__ == "__main__":
    main()
