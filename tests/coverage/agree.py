"""Agreement: one program run on CPU torch and on a device with the same inputs, and what differs."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from .compare import Tolerance, compare
from .entries import Entry, dtype_name
from .excuses import granted
from .outcome import PASS, Outcome, blame, fail, inapplicable, skip
from .samples import EXACT, UPCAST, Sample

# A program calls torch on one sample, wherever its tensors lie, and returns a tree of tensors and plain values.
Program = Callable[[Sample], Any]


# A coin tossed once falls alike under two seeds: only so many equal tosses are a fault.
SEEDS = 8


class UnsuitableError(Exception):
    """The sample says nothing about this check (CPU torch raises, nothing requires a gradient): the reason."""


@dataclass(frozen=True)
class Task:
    """One check of one entry in one dtype on one device; `samples` is the most samples it may use."""

    entry: Entry
    dtype: torch.dtype
    check: str
    device: str
    samples: int

    @property
    def seed(self) -> int:
        return zlib.crc32(f"{self.entry.key} {dtype_name(self.dtype)}".encode())

    def tolerance(self) -> Tolerance | None:
        return granted(self.entry, self.dtype)


def over(task: Task, samples: list[Sample], judge: Callable[[Sample], str | None]) -> Outcome:
    """The outcome of `judge` (a message, or None for agreement) over samples; every failure counts."""
    wrong: list[str] = []
    unsuitable: list[str] = []
    for sample in samples:
        try:
            message = judge(sample)
        except UnsuitableError as reason:
            unsuitable.append(str(reason))
            continue
        if message is not None:
            wrong.append(f"{sample.label}: {message}")
    judged = len(samples) - len(unsuitable)
    if wrong:
        return fail(f"{len(wrong)}/{judged} {wrong[0]}")
    if judged:
        return PASS
    return skip(unsuitable[0]) if unsuitable else inapplicable("no sample inputs")


def agree(
    task: Task, program: Program, sample: Sample, *, strides: bool = True, reproducible: bool = False
) -> str | None:
    """What the device does otherwise than CPU torch, or None.

    A dtype that torch lists for CUDA only is compared with the program in the next wider dtype where CPU torch has no
    kernel. A program whose CPU values depend on the seed is compared by structure alone; with `reproducible`, one seed
    must then give one result on the device and another seed another.
    """
    cpu, upcast = _reference(task, program, sample)
    uncertain = getattr(task.entry.info, "has_nondeterministic_output", False)
    other = None if uncertain else seeded(task.seed + 1, program, (sample.cast(UPCAST) if upcast else sample).on("cpu"))
    sampled = not uncertain and compare(other, cpu, device="cpu", strides=False, dtypes=False) is not None
    try:
        actual = seeded(task.seed, program, sample.on(task.device))
    except UnsuitableError as reason:
        return f"{reason}; CPU torch gave a result"
    except Exception as error:
        return blame(error)
    wrong = compare(
        actual,
        pytree.tree_map(lambda leaf: _narrow(leaf, task.dtype), cpu) if upcast else cpu,
        device=task.device,
        override=task.tolerance(),
        values=not (sampled or uncertain),
        strides=strides and not upcast,
        dtypes=not upcast,
        exact=lambda: seeded(task.seed, program, sample.cast(EXACT).on("cpu")),
        layout=lambda: program(sample.on("meta")),
    )
    if wrong is None and sampled and reproducible:
        return _reproducible(task, program, sample, actual)
    return wrong


def raises(
    run: Callable[[str], Any], device: str, wanted: type[Exception] | tuple[type[Exception], ...], phrase: str
) -> str | None:
    """What is wrong with the exception of `run` on the device; CPU torch must raise the one that its database lists."""
    name = " or ".join(t.__name__ for t in (wanted if isinstance(wanted, tuple) else (wanted,)))
    own = caught(run, "cpu")
    if not isinstance(own, wanted) or not re.search(phrase, str(own)):
        raise UnsuitableError(f"CPU torch does not raise {name}: {phrase}")
    error = caught(run, device)
    if error is None:
        return f"raised nothing; expected {name}: {phrase}"
    if not isinstance(error, wanted) or not (re.search(phrase, str(error)) or str(error) == str(own)):
        return f"{blame(error)}; expected {name}: {phrase}"
    return None


def caught(run: Callable[[str], Any], device: str) -> Exception | None:
    """The exception that `run(device)` raises, or None."""
    try:
        run(device)
    except Exception as error:
        return error
    return None


def seeded(seed: int, program: Program, sample: Sample) -> Any:
    """Run under a seed. The sample is a copy: a program may write to its inputs."""
    seed_all(seed)
    return program(sample)


def seed_all(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)


def _reference(task: Task, program: Program, sample: Sample) -> tuple[Any, bool]:
    """CPU torch's result, and whether it was computed in a wider dtype."""
    try:
        return seeded(task.seed, program, sample.on("cpu")), False
    except UnsuitableError:
        raise
    except Exception as error:
        if task.entry.on_cpu(task.dtype) or task.dtype not in UPCAST:
            raise UnsuitableError(f"CPU torch: {blame(error)}") from error
        try:
            return seeded(task.seed, program, sample.cast(UPCAST).on("cpu")), True
        except Exception:
            raise UnsuitableError(f"CPU torch, in {dtype_name(task.dtype)} and wider: {blame(error)}") from error


def _narrow(leaf: Any, dtype: torch.dtype) -> Any:
    return leaf.detach().to(dtype) if isinstance(leaf, torch.Tensor) and leaf.dtype is UPCAST.get(dtype) else leaf


def _reproducible(task: Task, program: Program, sample: Sample, actual: Any) -> str | None:
    """One seed, one result; two seeds, two results."""
    again = seeded(task.seed, program, sample.on(task.device))
    if compare(_fetched(again), _fetched(actual), device="cpu", strides=False) is not None:
        return "two runs under one seed differ"
    for seed in range(task.seed + 1, task.seed + 1 + SEEDS):
        other = seeded(seed, program, sample.on(task.device))
        if compare(_fetched(other), _fetched(actual), device="cpu", strides=False) is not None:
            return None
    return f"{SEEDS + 1} seeds give the same values"


def _fetched(tree: Any) -> Any:
    return pytree.tree_map(lambda leaf: leaf.detach().cpu() if isinstance(leaf, torch.Tensor) else leaf, tree)
