"""An eager training step on the device, compared with CPU torch: models of `models/`, at two batch sizes.

`python benchmarks/eager_steps.py` prints the table; `--write` stores it in docs/benchmarks.md, `--only MLP` selects
models. With `--cores 1` the process and its threads stay on one core.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

COLUMNS = ("model", "batch", "cores", "CPU torch ms", "eager ms", "eager / torch", "tenax.jit ms", "tenax.jit / torch")
SETTLED = 40  # steps until a compiled function has settled
TAKEOVER = 12.0  # seconds of eager steps until good code has taken over where it matters


def arguments() -> argparse.Namespace:
    """What the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--seconds", type=float, default=4.0, help="Seconds per row.")
    parser.add_argument("--only", default="", help="Models whose names contain this.")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="Cores that the process may use.")
    return parser.parse_args()


OPTIONS = arguments()
if OPTIONS.cores < (os.cpu_count() or 1):  # before torch and JAX count them
    os.sched_setaffinity(0, range(OPTIONS.cores))

import torch  # noqa: E402
from clock import interleaved  # noqa: E402
from models.beginnings import bert  # noqa: E402
from models.cases import CASES, Batch, Case, classified, text  # noqa: E402
from models.training import finished, train_step  # noqa: E402
from tables import publish  # noqa: E402

import tenax  # noqa: E402

BATCHES: dict[str, tuple[Callable[[], Batch], ...]] = {
    "MLP": (lambda: classified(16, 64, 256), lambda: classified(16, 1024, 256)),
    "ResNet-18": (lambda: classified(10, 8, 3, 64, 64), lambda: classified(10, 32, 3, 64, 64)),
    "GPT, 4 layers": (lambda: text(512, 4, 64), lambda: text(512, 16, 64)),
    "LSTM": (lambda: text(256, 16, 32), lambda: text(256, 64, 64)),
}


def stepper(case: Case, batch: Batch, mode: str) -> Callable[[], float]:
    """A training step and all its work, after as many as it takes to settle."""
    torch.manual_seed(0)
    device = "cpu" if mode == "torch" else "jax"
    module = case.module().to(device)
    x, y = (part.to(device) for part in batch)
    step = train_step(module, case.optimizer(module.parameters()))
    step = tenax.jit(step) if mode == "jit" else step
    return settled(finished(lambda: step(x, y).item(), device), mode)


def settled(run: Callable[[], float], mode: str) -> Callable[[], float]:
    """`run`, after as many steps as it takes to settle."""
    ends = time.perf_counter() + (TAKEOVER if mode == "eager" else 0)
    for _ in range(SETTLED):
        run()
    while time.perf_counter() < ends:
        run()
    return run


def row(name: str, size: str, contenders: dict[str, Callable[[], object]]) -> tuple[str, ...]:
    """The measurements of a model."""
    time.sleep(1.0)  # threads that compile end
    found = interleaved(contenders, OPTIONS.seconds)
    ratios = {mode: f"{found[mode] / found['torch']:.2f}" for mode in ("eager", "jit")}
    ms = {mode: f"{microseconds / 1e3:.1f}" for mode, microseconds in found.items()}
    return name, size, str(OPTIONS.cores), ms["torch"], ms["eager"], ratios["eager"], ms["jit"], ratios["jit"]


def main() -> None:
    """Measure what the command line selects."""
    modes = ("torch", "eager", "jit")
    rows = []
    for case in CASES:
        if case.name not in BATCHES or OPTIONS.only not in case.name:
            continue
        for make in BATCHES[case.name]:
            batch = make()
            size = " x ".join(map(str, batch[0].shape))
            rows.append(row(case.name, size, {mode: stepper(case, batch, mode) for mode in modes}))
    if OPTIONS.only in "BERT, 4 layers":
        makers = {"torch": ("cpu", _as_is), "eager": ("jax", _as_is), "jit": ("jax", tenax.jit)}
        runs = {mode: settled(bert(*maker), mode) for mode, maker in makers.items()}
        rows.append(row("BERT, 4 layers", "4 x 64", runs))
    publish("eager steps", COLUMNS, rows, write=OPTIONS.write, only=3)


def _as_is(function: Callable) -> Callable:
    return function


if __name__ == "__main__":
    main()
