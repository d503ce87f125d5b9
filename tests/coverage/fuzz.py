"""Fuzz: mutate layouts, sizes, values and arguments of torch's samples, and compare with CPU torch."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch.utils import _pytree as pytree

from . import programs
from .agree import Task, agree, caught
from .outcome import Outcome, UnsuitableError, blame, fail, skip
from .samples import Sample, label

# A mutation draws from the generator and returns a changed sample, or None if it has nothing to change.
Mutation = Callable[[random.Random, Sample], "Sample | None"]
# Compares a plain call and returns the difference as text, or None.
Forward = Callable[[Task, Sample], "str | None"]

SIZES = (0, 1, 2, 3, 4, 7, 8, 17)
EXTREMES = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 1e30, -1e30, 1e-40, 1e-6, 0.5, 3.0, -2.5)
# Samples with a larger tensor are not fuzzed.
LARGEST = 1 << 16


def cases(rng: random.Random, samples: list[Sample], count: int) -> Iterator[Sample]:
    """`count` samples, each changed by one to three mutations."""
    for _ in range(count):
        sample = rng.choice(samples)
        for mutation in rng.sample(MUTATIONS, rng.randint(1, 3)):
            sample = mutation(rng, sample) or sample
        yield replace(sample, label=label(sample))


def judge(task: Task, forward: Forward, sample: Sample) -> str | None:
    """The difference as text, or None; if CPU torch raises, the device must raise as well."""
    try:
        return forward(task, sample)
    except UnsuitableError:
        pass
    program = programs.forward(task.entry.info.op)
    own = caught(lambda device: program(sample.on(device)), "cpu")
    if own is None or "INTERNAL ASSERT" in str(own):
        return None
    other = caught(lambda device: program(sample.on(device)), task.device)
    if other is None or not _alike(own, other):
        return f"{'raised nothing' if other is None else blame(other)}; CPU torch: {blame(own)}"
    return None


def fuzz(task: Task, samples: list[Sample], forward: Forward) -> Outcome:
    """Compare `task.samples` mutated samples: the result and, if a tensor requires a gradient, the gradient."""
    rng = random.Random(f"{task.seed} {task.check}")
    op = task.entry.info.op
    small = [s for s in samples if all(t.numel() <= LARGEST for t in s.tensors())]
    if not small:
        return skip("no sample is small enough")
    wrong = []
    for sample in cases(rng, small, task.samples):
        if message := judge(task, forward, sample):
            wrong.append(f"{sample.label}: {message}")
        elif any(t.requires_grad for t in sample.tensors()):
            try:
                message = agree(task, programs.gradient(op), sample, strides=False)
            except UnsuitableError:
                continue
            if message:
                wrong.append(f"gradient of {sample.label}: {message}")
    return fail(f"{len(wrong)}/{task.samples} {wrong[0]}") if wrong else Outcome("p")


def permuted(rng: random.Random, sample: Sample) -> Sample:
    """The same values in another order of strides."""

    def change(t: torch.Tensor) -> torch.Tensor:
        order = rng.sample(range(t.ndim), t.ndim)
        inverse = [order.index(i) for i in range(t.ndim)]
        return t.permute(order).contiguous().permute(inverse)

    return _mapped(rng, sample, change)


def gapped(rng: random.Random, sample: Sample) -> Sample:
    """The same values in a slice of a larger tensor, with an offset."""

    def change(t: torch.Tensor) -> torch.Tensor:
        if t.ndim == 0:
            return torch.stack([t, t])[1]
        dim, step = rng.randrange(t.ndim), rng.randint(1, 3)
        wide = t.repeat_interleave(step, dim)
        padded = torch.cat([wide.narrow(dim, 0, min(1, wide.shape[dim])), wide], dim)
        return padded.narrow(dim, padded.shape[dim] - wide.shape[dim], wide.shape[dim])[
            (*([slice(None)] * dim), slice(None, None, step))
        ]

    return _mapped(rng, sample, change)


def expanded(rng: random.Random, sample: Sample) -> Sample:
    """One row, expanded to the shape with stride 0."""

    def change(t: torch.Tensor) -> torch.Tensor:
        if not t.numel():
            return t
        dim = rng.randrange(t.ndim) if t.ndim else None
        return t if dim is None else t.narrow(dim, 0, 1).expand(t.shape)

    return _mapped(rng, sample, change)


def lazy(rng: random.Random, sample: Sample) -> Sample:
    """The same values with the conjugate or negative bit set."""

    def change(t: torch.Tensor) -> torch.Tensor:
        if t.is_complex() and rng.random() < 0.5:
            return t.conj().resolve_conj().conj()
        return torch._neg_view(-t) if t.is_floating_point() or t.is_complex() else t

    return _mapped(rng, sample, change)


def extreme(rng: random.Random, sample: Sample) -> Sample:
    """Some elements replaced by NaN, infinities, zeros of both signs, or the limits of the dtype."""

    def change(t: torch.Tensor) -> torch.Tensor:
        if not t.numel() or t.dtype is torch.bool:
            return t
        changed = t.contiguous().clone()
        flat = changed.view(-1)
        for _ in range(rng.randint(1, 3)):
            if t.is_floating_point() or t.is_complex():
                value: float = rng.choice(EXTREMES)
            else:
                limits = torch.iinfo(t.dtype)
                value = rng.choice((0, 1, limits.min, limits.max))
            flat[rng.randrange(t.numel())] = value
        return changed

    return _mapped(rng, sample, change, integers=False)


def resized(rng: random.Random, sample: Sample) -> Sample | None:
    """Change all dimensions of one length to another length, in all tensors, by repeating or dropping elements."""
    lengths = sorted({n for t in sample.tensors() for n in t.shape})
    if not lengths:
        return None
    old, new = rng.choice(lengths), rng.choice(SIZES)

    def change(t: torch.Tensor) -> torch.Tensor:
        for dim, n in enumerate(t.shape):
            if n == old and n:
                t = t.index_select(dim, torch.arange(new) % n)
        return t

    return _mapped(rng, sample, change, all_of_them=True)


def argued(rng: random.Random, sample: Sample) -> Sample | None:
    """One int or bool argument changed."""
    leaves, spec = pytree.tree_flatten((sample.args, sample.kwargs))
    places = [i for i, leaf in enumerate(leaves) if type(leaf) in (int, bool)]
    if not places:
        return None
    place = rng.choice(places)
    value = leaves[place]
    leaves[place] = not value if type(value) is bool else rng.choice((-value, value + 1, value - 1, 0, -1))
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    return replace(sample, args=args, kwargs=kwargs)


MUTATIONS: list[Mutation] = [permuted, gapped, expanded, lazy, extreme, resized, argued]


def _mapped(
    rng: random.Random,
    sample: Sample,
    change: Callable[[torch.Tensor], torch.Tensor],
    *,
    integers: bool = True,
    all_of_them: bool = False,
) -> Sample:
    """Apply `change` to the strided tensors, or to a random subset of them.

    `integers=False` leaves integer tensors unchanged, because they are often indices with limits.
    """

    def maybe(t: torch.Tensor) -> torch.Tensor:
        if t.layout is not torch.strided or not (all_of_them or rng.random() < 0.7):
            return t
        if not integers and not (t.is_floating_point() or t.is_complex()):
            return t
        try:
            with torch.no_grad():
                changed = change(t.detach())
        except NotImplementedError:  # CPU torch cannot even rearrange every dtype
            return t
        return changed.detach().requires_grad_(t.requires_grad)

    return sample.map(maybe)


def _alike(own: Exception, other: Exception) -> bool:
    """Whether the type of one exception is that of the other, or a subclass."""
    return isinstance(other, type(own)) or isinstance(own, type(other))
