"""The cost of lowerings under `jax.jit`, compared with the same function hand-written in JAX and with CPU torch.

Every row is measured at three sizes, on one core: its times are the least processor times of a call among many
interleaved rounds, so that a busy machine gives the same numbers. `python benchmarks/lowerings.py` prints the table;
`--write` stores it in benchmarks/results/, and `--only pool` selects families. A row whose results differ is an error.
"""

from __future__ import annotations

import argparse
import os
import time

import jax
import numpy as np
import torch
from cases import CASES, Case
from clock import interleaved
from rich.progress import track
from tables import publish

SIZES = ("small", "medium", "large")
# Limits for the large size: the ratio of the lowering to hand-written JAX, and to CPU torch.
HAND, TORCH = 1.1, 3.0


def measure(case: Case, scale: int, seconds: float) -> dict[str, float]:
    """The least processor microseconds of a call of the three contenders at one size.

    Raises:
        AssertionError: the results of the contenders differ.
    """
    torch.manual_seed(0)
    tensors = list(case.inputs(scale))
    with jax.enable_x64(True):
        arrays = [jax.device_put(t.numpy()) for t in tensors]
    ours, hand = jax.jit(case.ours), jax.jit(case.hand)
    expected = case.torch(*tensors).numpy()
    for result in (ours(*arrays), hand(*arrays)):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=case.tolerance, atol=case.tolerance)
    contenders = {
        "tenax": lambda: jax.block_until_ready(ours(*arrays)),
        "hand": lambda: jax.block_until_ready(hand(*arrays)),
        "torch": lambda: case.torch(*tensors),
    }
    return interleaved(contenders, seconds, clock=time.process_time, summary=min)


def main() -> None:
    """Measure every case and print the ratios; rows beyond the limits at the large size are marked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the table to benchmarks/results/lowerings.md.")
    parser.add_argument("--seconds", type=float, default=0.5, help="Seconds per size of each case.")
    parser.add_argument("--only", help="Families to measure, separated by commas.")
    options = parser.parse_args()
    chosen = [c for c in CASES if not options.only or c.family in options.only.split(",")]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before JAX counts the cores
    torch.set_num_threads(1)
    titles = ("family", "op", *(f"{s}: µs, / hand, / torch" for s in SIZES), "beyond")
    torch.empty(0, device="jax").jax()  # from then on JAX honours explicit 64-bit dtypes
    rows = []
    for case in track(chosen, description="measuring"):
        cells, beyond = [], ""
        for size, scale in zip(SIZES, (1, 4, 16), strict=True):
            times = measure(case, scale, options.seconds)
            ratios = [times["tenax"] / times[other] for other in ("hand", "torch")]
            cells.append(f"{times['tenax']:.0f}, {ratios[0]:.2f}, {ratios[1]:.2f}")
            if size == "large":
                beyond = " ".join(
                    name for name, r, limit in zip(("hand", "torch"), ratios, (HAND, TORCH), strict=True) if r > limit
                )
        rows.append((case.family, case.name, *cells, beyond))
    publish("lowerings", titles, rows, write=options.write, how="The least processor time of a call")


if __name__ == "__main__":
    main()
