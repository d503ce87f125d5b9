"""Agreement: run one program on CPU torch and on a device with the same inputs, and report the differences."""

from __future__ import annotations

import contextlib
import random as python_random
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.utils import _pytree as pytree

from . import chance, excuses
from .compare import Tolerance, compare
from .entries import Entry, dtype_name
from .outcome import PASS, InapplicableError, Outcome, UnsuitableError, blame, fail, inapplicable, skip
from .samples import EXACT, UPCAST, Sample
from .targets import compile_sample, is_target

# A program calls torch on one sample, on any device, and returns a tree of tensors and plain values.
Program = Callable[[Sample], Any]

# Dashboard notes for passes whose values were not compared in the dtype itself.
RANDOM = "random: compared in distribution-free properties"
DOUBLE = "second derivatives compared in double precision, as torch does"

# torch's own function, which `drawing` replaces while a program runs.
_manual_seed = torch.manual_seed


@dataclass(frozen=True)
class Task:
    """One check of one entry in one dtype on one device; `samples` is the maximum number of samples.

    `notes` records how samples were compared when they were not compared by value.
    """

    entry: Entry
    dtype: torch.dtype
    check: str
    device: str
    samples: int
    notes: list[str] = field(default_factory=list, compare=False)

    @property
    def seed(self) -> int:
        return zlib.crc32(f"{self.entry.key} {dtype_name(self.dtype)}".encode())

    def tolerance(self) -> Tolerance | None:
        return excuses.granted(self.entry, self.dtype)


def over(task: Task, samples: list[Sample], judge: Callable[[Sample], str | None]) -> Outcome:
    """Combine the outcomes of `judge` (a message, or None for agreement) over samples; every failure counts."""
    wrong: list[str] = []
    unsuitable: list[UnsuitableError] = []
    for sample in samples:
        try:
            message = judge(sample)
        except UnsuitableError as reason:
            unsuitable.append(reason)
            continue
        if message is not None:
            wrong.append(f"{sample.label}: {message}")
    judged = len(samples) - len(unsuitable)
    if wrong:
        return fail(f"{len(wrong)}/{judged} {wrong[0]}")
    if judged:
        return replace(PASS, why="; ".join(dict.fromkeys(task.notes)))
    if not unsuitable:
        return inapplicable("no sample inputs")
    told = [reason for reason in unsuitable if not isinstance(reason, InapplicableError)]
    return skip(str(told[0])) if told else inapplicable(str(unsuitable[0]))


def agree(
    task: Task,
    program: Program,
    sample: Sample,
    *,
    strides: bool = True,
    values: bool = True,
    essence: Program | None = None,
) -> str | None:
    """The difference between the device and CPU torch, or None.

    - If torch lists the dtype for CUDA only and CPU torch has no kernel, the reference is computed in the next wider
      dtype.
    - If the CPU values depend on the seed, structure and distribution-free properties are compared. With `essence`, the
      well-defined part of the result (the product of random factors) is compared by value.
    - For a target, the program is only compiled.
    """
    cpu, upcast, random = _reference(task, program, sample)
    if is_target(task.device):
        return _compiled(task.device, essence or program, sample)
    reference = sample.cast(UPCAST) if upcast else sample
    granted = task.tolerance()
    uncertain = getattr(task.entry.info, "has_nondeterministic_output", False)
    try:
        actual, sample = _hosting(lambda s: seeded(task.seed, program, s.on(task.device)), program, sample, task.device)
    except UnsuitableError as reason:
        return f"{reason}; CPU torch returned a result"
    except Exception as error:
        return blame(error)

    def narrowed(tree: Any) -> Any:
        return pytree.tree_map(lambda leaf: _narrow(leaf, task.dtype), tree) if upcast else tree

    expected = narrowed(cpu)

    def exact() -> Any:
        return seeded(task.seed, program, sample.cast(EXACT).on("cpu"))

    def difference(values: bool) -> str | None:
        return compare(
            actual,
            expected,
            device=task.device,
            override=granted,
            values=values,
            strides=strides and not upcast,
            dtypes=not upcast,
            exact=exact,
            layout=lambda: program(sample.on("meta")),
        )

    if uncertain or not values:
        return difference(values=False)
    if not random:
        return difference(values=True)
    if wrong := difference(values=False):
        return wrong
    task.notes.append(RANDOM)
    seeds = range(task.seed + 1, task.seed + chance.RUNS)
    wanted = [expected, *(narrowed(seeded(seed, program, reference.on("cpu"))) for seed in seeds)]
    found = [actual, *(seeded(seed, program, sample.on(task.device)) for seed in seeds)]
    again = seeded(task.seed, program, sample.on(task.device))
    if chance.varies([actual, again]):
        return "two runs under one seed differ"
    if essence is None:
        return chance.separated(found, wanted, granted, exact)
    return chance.frozen(found, wanted, granted) or agree(task, essence, sample, strides=False)


def agree_as_pure(task: Task, program: Program, sample: Sample) -> str | None:
    """`agree`, for a program whose function JAX traces on the device; one that cannot be traced does not suit."""
    message = agree(task, program, sample, strides=False)
    if message and message.startswith("TraceError"):
        raise UnsuitableError(f"not a pure function: {message.partition(' (')[0]}")
    return message


def agree_in_double(task: Task, program: Program, sample: Sample) -> str | None:
    """Compare second derivatives, which torch checks only in double precision.

    If the values of a narrower dtype differ, those of double precision decide.
    """
    message = agree(task, program, sample, strides=False)
    if message is None or task.dtype not in EXACT:
        return message
    wide = replace(task, dtype=EXACT[task.dtype])
    if agree(task, program, sample, strides=False, values=False) or agree(
        wide, program, sample.cast(EXACT), strides=False
    ):
        return message
    task.notes.append(DOUBLE)
    return None


def raises(
    run: Callable[[str], Any], device: str, wanted: type[Exception] | tuple[type[Exception], ...], phrase: str
) -> str | None:
    """Describe a wrong or missing exception of `run` on the device, or return None.

    CPU torch must raise the exception that its database states.
    """
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
    """Run with a seed, on a copy of the sample, because a program may write to its inputs."""
    return drawing(seed, program, sample)[0]


def drawing(seed: int, program: Program, sample: Sample) -> tuple[Any, bool]:
    """Run with a seed, and return the result and whether the program drew from torch's CPU generator.

    torch's databases wrap random operators so that each call sets a fixed seed and restores the generator. This seed
    replaces theirs, and the generator is unchanged afterwards.
    """
    seed_all(seed)
    start = torch.get_rng_state()
    drew = False

    def look() -> None:
        nonlocal drew
        drew = drew or not torch.equal(start, torch.get_rng_state())

    def manual_seed(_: int) -> torch.Generator:
        look()
        return _manual_seed(seed)

    restore = mock.patch("torch.testing._utils.freeze_rng_state", contextlib.nullcontext)
    with mock.patch.object(torch, "manual_seed", manual_seed), restore:
        result = program(sample)
    look()
    return result, drew


def seed_all(seed: int) -> None:
    _manual_seed(seed)
    python_random.seed(seed)
    np.random.seed(seed % 2**32)


def _reference(task: Task, program: Program, sample: Sample) -> tuple[Any, bool, bool]:
    """CPU torch's result, whether it was computed in a wider dtype, and whether it drew random numbers."""
    try:
        result, drew = drawing(task.seed, program, sample.on("cpu"))
        return result, False, drew
    except UnsuitableError:
        raise
    except Exception as error:
        if task.entry.on_cpu(task.dtype) or task.dtype not in UPCAST:
            raise UnsuitableError(f"CPU torch: {blame(error)}") from error
        try:
            result, drew = drawing(task.seed, program, sample.cast(UPCAST).on("cpu"))
            return result, True, drew
        except Exception:
            raise UnsuitableError(f"CPU torch, in {dtype_name(task.dtype)} and wider: {blame(error)}") from error


def _narrow(leaf: Any, dtype: torch.dtype) -> Any:
    return leaf.detach().to(dtype) if isinstance(leaf, torch.Tensor) and leaf.dtype is UPCAST.get(dtype) else leaf


def _compiled(target: str, program: Program, sample: Sample) -> str | None:
    """The error of the target's compiler, or None."""
    try:
        _hosting(lambda s: compile_sample(target, program, s), program, sample, "jax")
    except UnsuitableError:
        raise
    except Exception as error:
        return blame(error)
    return None


def _hosting(run: Callable[[Sample], Any], program: Program, sample: Sample, device: str) -> tuple[Any, Sample]:
    """Run a sample, with its other tensors on the CPU if torch wants them there; return what was run as well."""
    try:
        return run(sample), sample
    except Exception as error:
        if not _wants_host(error, program, sample, device):
            raise
        sample = replace(sample, hosted=True)
        return run(sample), sample


def _wants_host(error: Exception, program: Program, sample: Sample, device: str) -> bool:
    """Whether torch rejects the arguments on every device except the CPU, as its meta device shows."""
    if "cpu" not in str(error).lower():
        return False
    own = caught(lambda other: program(sample.on(other)), "meta")
    return type(own) is type(error) and str(own) == re.sub(rf"{device.partition(':')[0]}(:\d+)?", "meta", str(error))
