"""Whole models and training steps under `tenax.jit`, compared with hand-written programs in JAX with optax.

`python benchmarks/compiled.py` prints run time, peak memory and trace time as ratios. `--write` stores them in
docs/benchmarks.md; `--only GPT` selects models and `--program step` programs, and the other rows are kept. The models
are those of `models/`; tests/benchmarks/test_models.py verifies that both versions compute the same numbers. On
accelerators the kernels of the program are counted too.
"""

from __future__ import annotations

import argparse
import gc
import re
import tempfile
import time
from collections.abc import Callable
from typing import Any

import jax
import torch
from clock import interleaved
from models.cases import CASES, DECODING, Case
from models.programs import Program, by_hand, in_torch
from rich.progress import track
from tables import publish, store

# Limits of the ratios to hand-written JAX: run time, peak memory, trace time; and of torch.compile to tenax.jit.
LIMITS = (1.02, 1.05, 1.0, 1.05)
TITLES = (
    "model",
    "program",
    "by hand, ms",
    "tenax, ms",
    "ratio",
    "by hand, MiB",
    "tenax, MiB",
    "ratio",
    "by hand, trace s",
    "tenax, trace s",
    "ratio",
    "torch.compile / tenax.jit",
)
ON_ACCELERATORS = ("by hand, kernels", "tenax, kernels", "ratio")
Make = Callable[[], Program]
_compiling: list[float] = []


def _listen(event: str, seconds: float, **_: Any) -> None:
    if event == "/jax/core/compile/backend_compile_duration":
        _compiling.append(seconds)


def traced(make: Make) -> tuple[Program, float]:
    """A program, and its trace time with cold caches in seconds: the first call minus XLA's compilation and one run."""
    program = make()
    gc.collect()
    jax.clear_caches()
    times = []
    for _ in range(3):  # the second call may see different state, and compile again
        _compiling.clear()
        started = time.perf_counter()
        program.call()
        times.append(time.perf_counter() - started - sum(_compiling))
    return program, times[0] - times[2]


def peak(executables: list[Any]) -> int:
    """Bytes of arguments, results and temporaries of the largest executable; donated buffers count once."""

    def size(executable: Any) -> int:
        m = executable.get_compiled_memory_stats()
        kept = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
        return kept + m.temp_size_in_bytes

    return max(map(size, executables))


def kernels(executables: list[Any]) -> int:
    """The fusions, copies, sorts and calls of libraries in the largest program."""
    texts = ["".join(module.to_string() for module in x.hlo_modules()) for x in executables]
    return max(len(re.findall(r" (?:fusion|copy|sort|custom-call)\(", text)) for text in texts)


def row(case: Case, name: str, seconds: float, repeats: int) -> list[str]:
    """Measure one program of a model."""
    makers: dict[str, Make] = {
        "hand": lambda: by_hand(case, name),
        "tenax": lambda: in_torch(case, name, "tenax"),
        "compile": lambda: in_torch(case, name, "compile"),
    }
    client = jax.devices()[0].client
    programs, memory, traces, launched = {}, {}, {}, {}
    for writing, make in makers.items():
        known = client.live_executables()
        programs[writing], traces[writing] = traced(make)
        new = [x for x in client.live_executables() if x not in known]
        memory[writing], launched[writing] = peak(new) / 2**20, kernels(new)
    times = interleaved({writing: program.call for writing, program in programs.items()}, seconds)
    for _ in range(repeats - 1):  # XLA's compilations come from the cache
        for writing in ("hand", "tenax"):
            traces[writing] = min(traces[writing], traced(makers[writing])[1])
    cells = [case.name, name]
    for measured, scale, digits in ((times, 1e-3, 2), (memory, 1, 1), (traces, 1, 2)):
        hand, ours = measured["hand"] * scale, measured["tenax"] * scale
        cells += [f"{hand:.{digits}f}", f"{ours:.{digits}f}", f"{ours / hand:.2f}"]
    cells.append(f"{times['compile'] / times['tenax']:.2f}")
    if jax.default_backend() != "cpu":
        hand, ours = launched["hand"], launched["tenax"]
        cells += [str(hand), str(ours), f"{ours / hand:.2f}"]
    return cells


def main() -> None:
    """Measure every program of every model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--seconds", type=float, default=10.0, help="Seconds of run time per row.")
    parser.add_argument("--repeats", type=int, default=3, help="Number of traces; the fastest counts.")
    parser.add_argument("--only", default="", help="Select models whose names contain this text.")
    parser.add_argument("--program", default="", help="Select programs whose names contain this text.")
    options = parser.parse_args()
    jax.monitoring.register_event_duration_secs_listener(_listen)
    chosen = [
        (c, name)
        for c in (DECODING, *CASES)
        if options.only in c.name
        for name in c.programs
        if options.program in name
    ]
    titles = TITLES if jax.default_backend() == "cpu" else TITLES + ON_ACCELERATORS
    with tempfile.TemporaryDirectory() as cache:
        jax.config.update("jax_compilation_cache_dir", cache)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0)
        rows = []
        for case, name in track(chosen, "measuring"):
            with torch.set_grad_enabled(name == "training step"):
                rows.append(row(case, name, options.seconds, options.repeats))
            if options.write:  # an interrupted run keeps the rows measured so far
                store("models", titles, rows, only=2)
    publish("models", titles, rows, write=False)


if __name__ == "__main__":
    main()
