"""An eager training step on the device, compared with CPU torch: models of `models/`, at two batch sizes.

`python benchmarks/eager_steps.py` prints the table; `--write` stores it in docs/benchmarks.md, `--only MLP` selects
models. With `--cores 1` the process and its threads stay on one core. On a GPU, `--cuda PYTHON` names the interpreter
of a PyTorch for CUDA, which is the reference then, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

SETTLED = 40  # steps until a compiled function has settled
TAKEOVER = 12.0  # seconds of eager steps until good code has taken over where it matters


def arguments() -> argparse.Namespace:
    """What the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--seconds", type=float, default=4.0, help="Seconds per row.")
    parser.add_argument("--only", default="", help="Models whose names contain this.")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="Cores that the process may use.")
    parser.add_argument("--cuda", metavar="PYTHON", help="The interpreter of a PyTorch for CUDA, the reference.")
    parser.add_argument("--on-cuda", action="store_true", help="Print the reference's times on CUDA, as JSON.")
    return parser.parse_args()


OPTIONS = arguments()
if OPTIONS.cores < (os.cpu_count() or 1):  # before torch and JAX count them
    os.sched_setaffinity(0, range(OPTIONS.cores))

import torch  # noqa: E402
from clock import interleaved  # noqa: E402
from models.cases import CASES, Batch, Case, classified, text  # noqa: E402
from models.training import finished, train_step  # noqa: E402

Run = Callable[[], object]
BATCHES: dict[str, tuple[Callable[[], Batch], ...]] = {
    "MLP": (lambda: classified(16, 64, 256), lambda: classified(16, 1024, 256)),
    "ResNet-18": (lambda: classified(10, 8, 3, 64, 64), lambda: classified(10, 32, 3, 64, 64)),
    "GPT, 4 layers": (lambda: text(512, 4, 64), lambda: text(512, 16, 64)),
    "LSTM": (lambda: text(256, 16, 32), lambda: text(256, 64, 64)),
}


def device_of(mode: str) -> str:
    """The torch device of a contender."""
    return "jax" if mode != "torch" else "cuda" if OPTIONS.on_cuda else "cpu"


def compiler(mode: str) -> Callable[[Any], Any]:
    """What compiles a contender's step: `tenax.jit`, or nothing."""
    if mode != "jit":
        return lambda step: step
    import tenax

    return tenax.jit


def stepper(case: Case, batch: Batch, mode: str) -> Run:
    """A training step and all its work."""
    torch.manual_seed(0)
    device = device_of(mode)
    module = case.module().to(device)
    x, y = (part.to(device) for part in batch)
    step = compiler(mode)(train_step(module, case.optimizer(module.parameters())))
    return finished(lambda: step(x, y).item(), device)


def settled(run: Run, mode: str) -> Run:
    """`run`, after as many steps as it takes to settle."""
    ends = time.perf_counter() + (TAKEOVER if mode == "eager" else 0)
    for _ in range(SETTLED):
        run()
    while time.perf_counter() < ends:
        run()
    return run


def programs() -> Iterator[tuple[str, str, Callable[[str], Run]]]:
    """The selected models: a name, the shape of a batch, and a function that makes the step of a mode."""
    for case in CASES:
        if case.name in BATCHES and OPTIONS.only in case.name:
            for make in BATCHES[case.name]:
                batch = make()
                yield case.name, " x ".join(map(str, batch[0].shape)), partial(stepper, case, batch)


def measured(make: Callable[[str], Run], modes: tuple[str, ...]) -> dict[str, float]:
    """Microseconds of the step in each mode."""
    runs = {mode: settled(make(mode), mode) for mode in modes}
    time.sleep(1.0)  # threads that compile end
    return interleaved(runs, OPTIONS.seconds)


def references(python: str) -> dict[str, float]:
    """Microseconds of each selected step by torch on CUDA, in a process of its own."""
    command = [python, __file__, "--on-cuda", "--only", OPTIONS.only, "--seconds", str(OPTIONS.seconds)]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    lines = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return json.loads(lines[-1])


def main() -> None:
    """Measure what the command line selects."""
    if OPTIONS.cuda or OPTIONS.on_cuda:
        torch.set_float32_matmul_precision("high")  # CUDA torch's default for convolutions, and JAX's for everything
    if OPTIONS.on_cuda:
        print(json.dumps({f"{name}, {size}": measured(make, ("torch",))["torch"] for name, size, make in programs()}))
        return
    from tables import publish

    known = references(OPTIONS.cuda) if OPTIONS.cuda else {}
    modes, reference = (("eager", "jit"), "CUDA torch") if OPTIONS.cuda else (("torch", "eager", "jit"), "CPU torch")
    rows = []
    for name, size, make in programs():
        found = measured(make, modes)
        if OPTIONS.cuda:
            found["torch"] = known[f"{name}, {size}"]
        ratios = {mode: f"{found[mode] / found['torch']:.2f}" for mode in ("eager", "jit")}
        ms = {mode: f"{microseconds / 1e3:.1f}" for mode, microseconds in found.items()}
        cells = (ms["torch"], ms["eager"], ratios["eager"], ms["jit"], ratios["jit"])
        rows.append((name, size, str(OPTIONS.cores), *cells))
    titles = (f"{reference} ms", "eager ms", "eager / torch", "tenax.jit ms", "tenax.jit / torch")
    publish("eager steps", ("model", "batch", "cores", *titles), rows, write=OPTIONS.write, only=3)


if __name__ == "__main__":
    main()
