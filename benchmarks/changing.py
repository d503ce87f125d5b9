"""Operators whose result shapes depend on data, in eager mode, with another number of results in each call.

tenax is compared with the same function in eager JAX, which compiles programs for each number, and with CPU torch.
`python benchmarks/changing.py` prints the table; `--write` stores it in benchmarks/results/changing.md.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import torch
from clock import interleaved
from tables import publish

import tenax  # noqa: F401

TITLES = ("op", "tenax µs", "JAX µs", "CPU torch µs", "tenax / JAX", "tenax / torch")
ROWS = 2000


def put(x: torch.Tensor, mask: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """A clone of `x` with the rows of a mask replaced."""
    x = x.clone()
    x[mask] = rows
    return x


# The operator in torch and in JAX, of: x [ROWS, 8], a mask and integers [ROWS], and one row for each place of the mask.
OPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "read by mask": (lambda x, m, i, r: x[m], lambda x, m, i, r: x[m]),
    "write by mask": (lambda x, m, i, r: put(x, m, r), lambda x, m, i, r: x.at[m].set(r)),
    "nonzero": (lambda x, m, i, r: m.nonzero(), lambda x, m, i, r: jnp.argwhere(m)),
    "unique, with inverse": (
        lambda x, m, i, r: torch.unique(i, return_inverse=True),
        lambda x, m, i, r: jnp.unique(i, return_inverse=True),
    ),
    "unique_consecutive": (
        lambda x, m, i, r: torch.unique_consecutive(i),
        lambda x, m, i, r: i[jnp.concatenate([jnp.ones(1, bool), i[1:] != i[:-1]])],
    ),
    "bincount": (lambda x, m, i, r: torch.bincount(i), lambda x, m, i, r: jnp.bincount(i)),
    "repeat_interleave": (
        lambda x, m, i, r: torch.repeat_interleave(m.long()),
        lambda x, m, i, r: jnp.repeat(jnp.arange(ROWS), m.astype(int)),
    ),
}


def contenders(name: str) -> dict[str, Callable[[], object]]:
    """The operator on the three sides, each of which meets the numbers of results in the same order."""
    torch.manual_seed(0)
    x, places = torch.randn(ROWS, 8), torch.randperm(ROWS)
    counts = [int(n) for n in torch.randperm(ROWS - 1)[:200] + 1]
    on_device, function = OPS[name]

    def arguments(count: int) -> tuple[torch.Tensor, ...]:
        mask = torch.zeros(ROWS, dtype=torch.bool)
        mask[places[:count]] = True
        return x, mask, places % count, x[:count]

    def side(call: Callable[..., Any], convert: Callable[[torch.Tensor], Any]) -> Callable[[], object]:
        upcoming = itertools.cycle([[convert(a) for a in arguments(count)] for count in counts])
        return lambda: call(*next(upcoming))

    def to_jax(a: torch.Tensor) -> jax.Array:
        return jnp.asarray(a.numpy())

    return {
        "tenax": side(on_device, lambda a: a.to("jax")),
        "jax": side(lambda *a: jax.block_until_ready(function(*a)), to_jax),
        "torch": side(on_device, lambda a: a),
    }


def main() -> None:
    """Measure each operator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to benchmarks/results/changing.md.")
    parser.add_argument("--seconds", type=float, default=6.0, help="Seconds per row.")
    options = parser.parse_args()
    rows = []
    for name in OPS:
        ours, by_jax, on_cpu = interleaved(contenders(name), options.seconds).values()
        cells = (f"{ours:.0f}", f"{by_jax:.0f}", f"{on_cpu:.0f}", f"{ours / by_jax:.3f}", f"{ours / on_cpu:.1f}")
        rows.append((name, *cells))
    publish("changing", TITLES, rows, write=options.write)


if __name__ == "__main__":
    main()
