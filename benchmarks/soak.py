"""Resident memory over many signatures, steps, retraces, errors and modules: it has to stay flat.

`TENAX_CODE_MEMORY=256M python benchmarks/soak.py`; `--scale 0.05` takes a twentieth of the time.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable

import torch

import tenax
from tenax.xla.totals import totals


def resident() -> float:
    """Resident memory in MiB."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def _training(jitted: bool) -> Callable[[int], None]:
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to("jax")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(8, 16, device="jax")

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    run = tenax.jit(step) if jitted else step
    return lambda _: run(x) and None


def signature(i: int) -> None:
    """Four operations of a new shape."""
    x = torch.zeros(3, 7 + i).to("jax")
    (x + 1, x * x, x.relu(), x.t().contiguous())


def retrace(i: int) -> None:
    """A compiled function that is traced for a new shape."""
    _double(torch.zeros(2, 5 + i).to("jax"))


_double = tenax.jit(lambda x: x * 2 + 1)


def failure(i: int) -> None:
    """A step that raises."""
    try:
        _fails(torch.zeros(2, device="jax"))
    except ValueError:
        return
    raise AssertionError("the step did not raise")


@tenax.jit
def _fails(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    raise ValueError("a step fails")


def module(i: int) -> None:
    """A module that is made, run and dropped."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)).to("jax")
    model(torch.ones(2, 64, device="jax")).sum().backward()


def main() -> None:
    """Print resident memory at quarters of each trial."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", nargs="+")
    arguments = parser.parse_args()
    trials: dict[str, tuple[Callable[[int], None], int]] = {
        "signatures": (signature, 5000),
        "eager steps": (_training(False), 10000),
        "compiled steps": (_training(True), 10000),
        "retraces": (retrace, 500),
        "exceptions": (failure, 1000),
        "modules": (module, 100),
    }
    for name, (trial, count) in trials.items():
        if arguments.only and name not in arguments.only:
            continue
        count = max(8, int(count * arguments.scale))
        trial(0)
        print(f"{name}: {resident():.0f} MiB", end="", flush=True)
        for i in range(count):
            trial(i)
            if (i + 1) % (count // 4) == 0:
                print(f", {i + 1}: {resident():.0f} MiB", end="", flush=True)
        print(f"; {totals}", flush=True)


if __name__ == "__main__":
    main()
