"""The first run of programs in a process: on an empty folder of programs, and when an earlier process has filled it.

`python benchmarks/beginnings.py` prints the table; `--before PYTHON` adds a column, of the interpreter of another
checkout; `--write` stores each row in docs/benchmarks.md when it is measured. Each figure is of a process of its own.
On a GPU, `--cuda PYTHON` names the interpreter of a PyTorch for CUDA, which is the reference instead of CPU torch.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple


class Times(NamedTuple):
    """Seconds of the first run, for which the model is on its device already, and of the third."""

    first: float
    third: float


def measured(name: str, mode: str) -> Times:
    """Run a program in this process."""
    import torch

    on_torch = mode in ("cpu", "cuda")
    if not on_torch:
        import tenax
    from models.beginnings import PROGRAMS

    torch.manual_seed(0)
    device = mode if on_torch else "jax"
    torch.ones(1, device=device).item()  # JAX or CUDA is there
    run, times = PROGRAMS[name](device, tenax.jit if mode == "jit" else lambda f: f), []
    for _ in range(3):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return Times(times[0], times[2])


def in_process(name: str, mode: str, python: str, folder: str) -> Times:
    """Run a program in a process of its own, which keeps its programs in a folder."""
    settings = os.environ | {"TENAX_CACHE": "1", "TENAX_CACHE_DIR": folder, "TENAX_QUIET": "1"}
    command = [python, "-W", "ignore", __file__, "--run", name, "--mode", mode]
    lines = subprocess.run(command, env=settings, check=True, capture_output=True, text=True).stdout.splitlines()
    return Times(**json.loads(lines[-1]))


def row(name: str, mode: str, before: str | None, cuda: str | None) -> tuple[str, ...]:
    """The measurements of a program."""
    with tempfile.TemporaryDirectory() as folder:
        reference = in_process(name, "cuda" if cuda else "cpu", cuda or sys.executable, folder)
        cold, second = (in_process(name, mode, sys.executable, folder) for _ in range(2))
        cells = [name, mode, f"{reference.first:.2f}"]
        if before:
            old = in_process(name, mode, before, folder).first
            cells += [f"{old:.2f}", f"{cold.first:.2f}", f"{cold.first / old:.2f}"]
            cells += [f"{second.first:.2f}", f"{second.first / old:.2f}"]
        else:
            cells += [f"{cold.first:.2f}", f"{second.first:.2f}"]
        return *cells, f"{reference.third:.3f}", f"{second.third:.3f}"


def main() -> None:
    """Measure what the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--before", metavar="PYTHON", help="The interpreter of a checkout to compare with.")
    parser.add_argument("--cuda", metavar="PYTHON", help="The interpreter of a PyTorch for CUDA, the reference.")
    parser.add_argument("--only", default="", help="Programs whose names contain this.")
    parser.add_argument("--run", help="Print the times of one program, as JSON.")
    parser.add_argument("--mode", choices=("cpu", "cuda", "eager", "jit"), default="eager")
    options = parser.parse_args()
    if options.run:
        print(json.dumps(measured(options.run, options.mode)._asdict()))
        return
    from models.beginnings import COMPILED, PROGRAMS
    from tables import publish

    cases = [(name, mode) for name in PROGRAMS for mode in ("eager", *(["jit"] if name in COMPILED else []))]
    compared = ("before", "cold", "cold / before", "second process", "second / before")
    firsts = compared if options.before else ("cold", "second process")
    torch_name = "CUDA torch" if options.cuda else "CPU torch"
    titles = ("first run, s", "mode", torch_name, *firsts, f"third run: {torch_name}", "third run")
    for name, mode in cases:
        if options.only in name:
            rows = [row(name, mode, options.before, options.cuda)]
            publish("beginnings", titles, rows, write=options.write, how="Each in a process of its own", only=2)


if __name__ == "__main__":
    main()
