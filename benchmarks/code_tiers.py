"""First code of eager operations on the CPU, beside good code, which is XLA's default.

`python benchmarks/code_tiers.py` prints, for operations of each kind and size, the processor time of compilation, the
time of a call, both interleaved, after how many calls good code repays its compilation, and how many elements of the
results differ; `--write` stores the table in benchmarks/results/code_tiers.md.
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
    "operation", "shape", "good: compilation, ms", "first / good", "good: call, us", "first / good", "repays, calls",
    "differ",
)  # fmt: skip


def row(name: str, shape: tuple[int, ...], seconds: float) -> tuple[str, ...]:
    """Measure one operation."""
    operation = OPERATIONS[name]
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to("jax").jax()

    def lowered() -> jax.stages.Lowered:
        return jax.jit(lambda x: tenax.t2j(operation)(x, rng=jax.random.key(0))).lower(x)

    settings: dict[str, dict[str, Any] | None] = {"good": None, "first": options.first_code("", []).options}
    costs: dict[str, list[float]] = {setting: [] for setting in settings}
    compiled = {}
    for _ in range(3):
        for setting, chosen in settings.items():
            program = lowered()
            start = time.process_time()
            compiled[setting] = program.compile(chosen)
            costs[setting].append(time.process_time() - start)
    calls = {setting: lambda f=f: jax.block_until_ready(f(x)) for setting, f in compiled.items()}
    results = {setting: np.asarray(f(x)) for setting, f in compiled.items()}
    compilation, run = {s: min(c) for s, c in costs.items()}, interleaved(calls, seconds)
    cells = [name, "x".join(map(str, shape))]
    for times, unit in ((compilation, 1e3), (run, 1)):
        cells += [f"{times['good'] * unit:.0f}", f"{times['first'] / times['good']:.2f}"]
    lost = run["first"] - run["good"]  # in microseconds
    cells += [f"{compilation['good'] * 1e6 / lost:.0f}" if lost > 0.02 * run["good"] else ""]
    cells += [f"{np.count_nonzero(results['good'] != results['first'])} of {results['good'].size}"]
    return tuple(cells)


def main() -> None:
    """Measure every operation in every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to benchmarks/results/code_tiers.md.")
    parser.add_argument("--seconds", type=float, default=0.3, help="Seconds of calls per row.")
    parser.add_argument("--only", default="", help="Part of the names of the operations to measure.")
    chosen = parser.parse_args()
    rows = [row(name, shape, chosen.seconds) for name in OPERATIONS if chosen.only in name for shape in SHAPES]
    how = "Compilation: least processor time of three; calls: medians, interleaved"
    publish("code tiers", TITLES, rows, write=chosen.write, how=how)


if __name__ == "__main__":
    main()
