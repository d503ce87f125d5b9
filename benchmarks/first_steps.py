"""Seconds until a training loop has taken 1, 10, 100 and 1,000 steps, compilation included.

`python benchmarks/first_steps.py` prints the table for each model of `models/` in eager mode, in lazy mode, under
`tenax.jit` and under `torch.compile`, written by hand in JAX, and on CPU torch; `--write` stores each row in
docs/benchmarks.md when it is measured. Each figure is of a process of its own: a cold one, whose folder of programs is
empty, and for tenax a second one, which finds what the first has compiled. Time begins when model and batch are on
their device. A run ends after `--seconds`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

STEPS = (1, 10, 100, 1000)
MODES = ("JAX by hand", "tenax.jit", "torch.compile", "lazy", "eager", "CPU torch")


class Times(NamedTuple):
    """Seconds until each of `STEPS` that was reached, of the longest step after the first, and of a late step."""

    reached: list[float]
    longest: float
    settled: float


def stepper(name: str, mode: str) -> Callable[[], Any]:
    """The training step of a model, which waits until its work is done."""
    import torch
    from models.cases import CASES
    from models.training import train_step

    case = next(c for c in CASES if c.name == name)
    if mode == "CPU torch":
        torch.manual_seed(0)
        module = case.module()
        batch = case.batch()
        step = train_step(module, case.optimizer(module.parameters()))
        return lambda: step(*batch)
    from models.programs import by_hand, in_torch

    if mode == "JAX by hand":
        return by_hand(case, "training step").call
    return in_torch(case, "training step", {"tenax.jit": "tenax", "torch.compile": "compile"}.get(mode, "eager")).call


def measured(name: str, mode: str, seconds: float) -> Times:
    """Take the steps in this process."""
    if mode == "lazy":
        import tenax

        recording: contextlib.AbstractContextManager[Any] = tenax.lazy()
    else:
        recording = contextlib.nullcontext()
    step = stepper(name, mode)
    reached, times, begun = [], [], time.perf_counter()
    with recording:
        for number in range(1, STEPS[-1] + 1):
            started = time.perf_counter()
            step()
            ended = time.perf_counter()
            times.append(ended - started)
            if number in STEPS:
                reached.append(ended - begun)
            if ended - begun > seconds:
                break
    return Times(reached, max(times[1:], default=0.0), sorted(times[len(times) // 2 :])[len(times) // 4])


def in_process(name: str, mode: str, seconds: float, folder: str) -> Times:
    """Take the steps in a process of its own, which keeps its programs in a folder."""
    settings = {"TENAX_CACHE": "1", "TENAX_CACHE_DIR": folder, "TENAX_QUIET": "1"}
    command = [sys.executable, "-W", "ignore", __file__, "--run", name, "--mode", mode, "--seconds", str(seconds)]
    done = subprocess.run(command, env=os.environ | settings, check=True, capture_output=True, text=True)
    return Times(**json.loads(done.stdout.splitlines()[-1]))


def row(name: str, mode: str, seconds: float) -> tuple[str, ...]:
    """The measurements of a model in one mode."""
    with tempfile.TemporaryDirectory() as folder:
        cold = in_process(name, mode, seconds, folder)
        second = None if mode in ("JAX by hand", "CPU torch") else in_process(name, mode, 0, folder)
    reached = [f"{t:.2f}" for t in cold.reached] + ["-"] * (len(STEPS) - len(cold.reached))
    later = f"{second.reached[0]:.2f}" if second else "-"
    return name, mode, *reached, f"{cold.longest * 1e3:.0f}", f"{cold.settled * 1e3:.1f}", later


def main() -> None:
    """Measure what the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--only", default="", help="Models whose names contain this.")
    parser.add_argument("--seconds", type=float, default=30.0, help="Seconds after which a run ends.")
    parser.add_argument("--run", help="Print the times of one model, as JSON.")
    parser.add_argument("--mode", choices=MODES, help="Only in this mode.")
    options = parser.parse_args()
    if options.run:
        print(json.dumps(measured(options.run, options.mode, options.seconds)._asdict()))
        return
    from models.cases import CASES
    from tables import publish

    titles = ("model", "mode", *(f"to step {n:,}, s" for n in STEPS))
    titles += ("longest later step, ms", "settled, ms", "second process: step 1, s")
    for case in CASES:
        for mode in MODES:
            if options.only in case.name and options.mode in (None, mode):
                rows = [row(case.name, mode, options.seconds)]
                publish("first steps", titles, rows, write=options.write, how="Each in a process of its own", only=2)


if __name__ == "__main__":
    main()
