"""Lazy mode beside `tenax.jit` and eager mode: a training step, the first step of a process, and recording.

`python benchmarks/lazy.py` prints the tables; `--write` stores them, `--only MLP` selects models.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext

import torch
from clock import SETTLED, interleaved
from models.cases import CASES, Case
from models.training import train_step
from tables import MEDIANS, publish

import tenax

STEPS = (
    *("model", "jit, ms", "lazy, ms", "eager, ms", "lazy / jit", "lazy / eager", "loop, lazy / jit"),
    *("loop, lazy / eager", "CPU time, lazy / jit", "CPU time, lazy / eager", "first, lazy / eager"),
)
LOOP = 10  # steps between two waits for a loss
RECORDING = ("operation", "recorded, µs", "CPU torch, 1 element, µs")
MODES = ("jit", "lazy", "eager")
MODELS = ("MLP", "ResNet-18", "GPT, 12 layers")


def stepper(case: Case, mode: str, steps: int = 1) -> Callable[[], torch.Tensor]:
    """A function that trains some steps in a mode and waits for the device."""
    torch.manual_seed(0)
    module = case.module().to("jax")
    x, y = (part.to("jax") for part in case.batch())
    step = train_step(module, case.optimizer(module.parameters()))
    if mode == "jit":
        step = tenax.jit(step)

    def call() -> torch.Tensor:
        with tenax.lazy() if mode == "lazy" else nullcontext():
            for _ in range(steps):
                loss = step(x, y)
                tenax.sync()
        torch.jax.synchronize()
        return loss

    return call


def first(case: Case, mode: str) -> float:
    """Seconds of the first step in a process of its own."""
    command = [sys.executable, __file__, "--first", mode, "--only", case.name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def row(case: Case, seconds: float, cold: bool) -> tuple[str, ...]:
    """The measurements of a model."""
    used: dict[str, list[float]] = {mode: [] for mode in MODES}

    def counted(mode: str, call: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            begun = time.process_time()
            call()
            used[mode].append(time.process_time() - begun)

        return run

    times = interleaved({mode: counted(mode, stepper(case, mode)) for mode in MODES}, seconds)
    loops = interleaved({mode: stepper(case, mode, LOOP) for mode in MODES}, seconds)
    spent = {mode: statistics.median(used[mode][SETTLED + 1 :]) for mode in MODES}
    begun = f"{first(case, 'lazy') / first(case, 'eager'):.2f}" if cold else "-"
    ratios = [f"{found['lazy'] / found[other]:.2f}" for found in (times, loops, spent) for other in ("jit", "eager")]
    return case.name, *(f"{times[mode] / 1e3:.2f}" for mode in MODES), *ratios, begun


def recorded(count: int = 200) -> list[tuple[str, ...]]:
    """What recording an operation costs, beside the same operation of CPU torch on one element."""
    rows = []
    x, y, a, b = (torch.ones(8, 8, device=d) for d in ("jax", "jax", "cpu", "cpu"))
    a, b = a[:1, :1], b[:1, :1]
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "add": (lambda: torch.add(x, y), lambda: torch.add(a, b)),
        "mul by a number": (lambda: torch.mul(x, 1.5), lambda: torch.mul(a, 1.5)),
        "add_": (lambda: x.add_(y), lambda: a.add_(b)),
        "mm": (lambda: torch.mm(x, y), lambda: torch.mm(a, b)),
    }
    for name, (ours, theirs) in cases.items():
        times = []
        with tenax.lazy():
            for _ in range(20):
                started = time.perf_counter()
                for _ in range(count):
                    ours()
                times.append((time.perf_counter() - started) / count * 1e6)
                tenax.sync()
        cpu = interleaved({"cpu": theirs}, 0.3)["cpu"]
        rows.append((name, f"{sorted(times)[len(times) // 2]:.1f}", f"{cpu:.1f}"))
    return rows


def main() -> None:
    """Measure what the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the tables to their pages.")
    parser.add_argument("--seconds", type=float, default=6.0, help="Seconds per model.")
    parser.add_argument("--how", default=MEDIANS, help="How it was measured, for the docs.")
    parser.add_argument("--only", default="", help="Models whose names contain this.")
    parser.add_argument("--no-cold", action="store_true", help="Leave out first steps.")
    parser.add_argument("--first", choices=("lazy", "eager"), help="Print the seconds of the first step in a mode.")
    options = parser.parse_args()
    cases = [case for case in CASES if case.name in MODELS and options.only in case.name]
    if options.first:
        torch.ones(1, device="jax").add(1).item()  # JAX is there
        started = time.perf_counter()
        stepper(cases[0], options.first)()
        print(time.perf_counter() - started)
        return
    rows = [row(case, options.seconds, not options.no_cold) for case in cases]
    publish("lazy", STEPS, rows, write=options.write, how=options.how)
    publish("recording", RECORDING, recorded(), write=options.write, how=options.how)


if __name__ == "__main__":
    main()
