"""Worker: a process that runs checks on request and reports each, so that a crash can be attributed to a check."""

from __future__ import annotations

import os
import resource
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

# The memory at which a process is restarted: XLA keeps every executable, and a run compiles tens of thousands.
MEMORY_LIMIT = 3 * 2**30

# A run is mostly compilation. Tiny programs gain nothing from LLVM's optimiser or from parallel code generation.
XLA_FLAGS = ("--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true")
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}


@dataclass(frozen=True)
class Unit:
    """A request to a worker: some checks of one entry in one dtype, each with its number of samples."""

    key: str
    dtype: str
    checks: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Began:
    check: str


@dataclass(frozen=True)
class Ended:
    check: str
    letter: str
    why: str
    seconds: float


@dataclass(frozen=True)
class Finished:
    """The unit is done; `retire` is true if the process has grown and should be replaced."""

    ops: list[str]
    retire: bool


def environment() -> dict[str, str]:
    """Environment variables for a process that compiles much and computes little; the user's settings are kept."""
    flags = os.environ.get("XLA_FLAGS", "")
    missing = [flag for flag in XLA_FLAGS if flag.partition("=")[0] not in flags]
    settings = {name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()}
    return settings | {"XLA_FLAGS": " ".join([flags, *missing]).strip()}


def main(link: Connection, device: str, log: str, lazy: bool = False) -> None:
    """Serve units until the other side closes. Native output goes to `log`, which explains a crash."""
    with Path(log).open("ab", buffering=0) as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    os.environ.update(environment())
    prepare(device, lazy)
    link.send("ready")
    while True:
        try:
            unit = link.recv()
        except (EOFError, KeyboardInterrupt):
            return
        _serve(link, unit, device)


def prepare(device: str, lazy: bool = False) -> None:
    """Import what the device needs, in this process; with `lazy`, have its operations recorded."""
    import torch

    from .targets import is_target

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for accelerator in (torch.cuda, torch.xpu, torch.mtia):
        if not accelerator.is_available():
            # torch queues each seed of an absent accelerator with a traceback; its databases set thousands.
            accelerator.manual_seed_all = lambda seed: None  # type: ignore[attr-defined]
    if device.partition(":")[0] == "jax" or is_target(device):
        import tenax  # noqa: F401 (registers the device)

        torch.zeros(1, device="jax" if is_target(device) else device).cpu()
    if lazy:
        from tenax._lazy.mode import record_everywhere

        record_everywhere()


def _serve(link: Connection, unit: Unit, device: str) -> None:
    import torch

    from .agree import Task
    from .checks import primary, run
    from .entries import entry
    from .outcome import blame, fail
    from .reach import reached

    found = entry(unit.key)
    dtype = getattr(torch, unit.dtype)
    for check, samples in unit.checks:
        link.send(Began(check))
        start = time.perf_counter()
        try:
            outcome = run(Task(found, dtype, check, device, samples))
        except Exception as error:
            traceback.print_exc()
            outcome = fail(f"the harness failed: {blame(error)}")
        link.send(Ended(check, outcome.letter, outcome.why, time.perf_counter() - start))
    ops = reached(found, dtype) if dtype == primary(found) else []
    # Bytes on macOS, KiB elsewhere.
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    link.send(Finished(ops, memory > MEMORY_LIMIT))
