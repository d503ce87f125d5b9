"""The code that eager mode has XLA make for small arrays on the CPU, beside XLA's default.

`python benchmarks/quick_code.py` prints, for operations of each kind and size, the processor time of compilation, the
time of a call, both interleaved, and how many elements of the results differ; `--write` stores the table in
docs/benchmarks.md. Rows whose kind `tenax.xla.options` leaves to the default show why.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from clock import interleaved
from tables import publish

import tenax
from tenax.xla import options

QUICK = options._QUICK["cpu"]
SHAPES = ((8, 128), (128, 128), (512, 128), (2048, 128))
OPERATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "x + x": lambda x: x + x,
    "x * 2 + x": lambda x: x * 2 + x,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "sum(1)": lambda x: x.sum(1),
    "sum(0)": lambda x: x.sum(0),
    "softmax": lambda x: x.softmax(1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[1:]),
    "linear": lambda x: F.linear(x, x[:8], x[0, :8]),
    "randn_like": torch.randn_like,
    "cat": lambda x: torch.cat([x, x], 1),
    "transposed copy": lambda x: x.t().contiguous(),
    "index_add": lambda x: x.index_add(0, (x[:, 0].abs() * 4).long(), x),
}
TITLES = (
    "operation", "shape", "compilation [ms]", "quick [ms]", "quick / default", "call [us]", "quick [us]",
    "quick / default", "elements that differ",
)  # fmt: skip


def row(name: str, shape: tuple[int, ...], seconds: float) -> tuple[str, ...]:
    """Measure one operation."""
    operation = OPERATIONS[name]
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to("jax").jax()

    def lowered() -> jax.stages.Lowered:
        return jax.jit(lambda x: tenax.t2j(operation)(x, rng=jax.random.key(0))).lower(x)

    settings: dict[str, dict[str, Any] | None] = {"default": None, "quick": QUICK}
    costs: dict[str, list[float]] = {setting: [] for setting in settings}
    compiled = {}
    for _ in range(3):
        for setting, chosen in settings.items():
            program = lowered()
            start = time.process_time()
            compiled[setting] = program.compile(chosen)
            costs[setting].append(time.process_time() - start)
    calls = {setting: lambda f=f: jax.block_until_ready(f(x)) for setting, f in compiled.items()}
    results = [np.asarray(f(x)) for f in compiled.values()]
    default, quick = (min(costs[setting]) * 1e3 for setting in settings)
    times = interleaved(calls, seconds)
    a, b = times["default"], times["quick"]
    differing = f"{np.count_nonzero(results[0] != results[1])} of {results[0].size}"
    figures = (f"{default:.0f}", f"{quick:.0f}", f"{quick / default:.2f}", f"{a:.0f}", f"{b:.0f}", f"{b / a:.2f}")
    return (name, "x".join(map(str, shape)), *figures, differing)


def main() -> None:
    """Measure every operation in every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--seconds", type=float, default=0.3, help="Seconds of calls per row.")
    parser.add_argument("--only", default="", help="Part of the names of the operations to measure.")
    chosen = parser.parse_args()
    rows = [row(name, shape, chosen.seconds) for name in OPERATIONS if chosen.only in name for shape in SHAPES]
    how = "Compilation: least processor time of three; calls: medians, interleaved"
    publish("quick code", TITLES, rows, write=chosen.write, how=how)


if __name__ == "__main__":
    main()
