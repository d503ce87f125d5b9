"""Fuzz of memory: random programs of views, in-place operators, `out=` and lists, on the device and on CPU torch.

A program is lines of Python over a list `p` of tensors; the report of a difference is thus a program that shows it.
`fuzz.py` varies the arguments of one operator; this module varies what shares memory with what, and runs programs line
by line in eager mode. `mutation_modes.py` compiles them.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch

DTYPES = (torch.float32, torch.float32, torch.int32, torch.int64, torch.complex64, torch.int16, torch.bool)
LENGTH = 12
KNOWN_AFTER = 2  # runs: the first compiles, the second makes what starts with a second call (starts of views, lists)
# Floats beyond the range of other dtypes are converted in ways that differ between processors.
NARROW = (torch.int8, torch.int16, torch.uint8)
# A number that overflows or no dtype holds would differ for good reason.
LARGEST = 1e6

Changes = tuple[tuple[str, ...], ...]  # lines between one call and the next
Shapes = Sequence[tuple[tuple[int, ...], torch.dtype]]
Line = Callable[[random.Random, list[torch.Tensor]], str]


def without_one(changes: Changes) -> Iterator[Changes]:
    """Changes between calls, less one of their lines."""
    for i in reversed(range(len(changes))):
        for j in range(len(changes[i])):
            yield (*changes[:i], (*changes[i][:j], *changes[i][j + 1 :]), *changes[i + 1 :])


@dataclass(frozen=True)
class Difference:
    """A program, and how the device's run of it differs from that of CPU torch."""

    lines: tuple[str, ...]
    leaves: bool
    shapes: Shapes
    message: str

    def __str__(self) -> str:
        start = f"p = start({self.leaves}, d, {self.shapes})"
        return "\n".join([start, *self.lines, f"# {self.message}"])


def start(leaves: bool, device: str, shapes: Shapes) -> list[torch.Tensor]:
    """The tensors that a program starts with; with `leaves` their gradients are taken at the end."""
    tensors = []
    for number, (shape, dtype) in enumerate(shapes):
        count = torch.Size(shape).numel()
        values = ((torch.arange(count) * 7 + number * 5) % 11 - 3).reshape(shape)
        values = values % 2 if dtype is torch.bool else values
        tensors.append(values.to(dtype).to(device, copy=True))  # no view, on the CPU neither
    return [t.requires_grad_() for t in tensors] if leaves else tensors


def start_copy(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor of the same values and geometry."""
    count = tensor.untyped_storage().nbytes() // tensor.itemsize
    memory = tensor.detach().as_strided((count,), (1,), 0).resolve_conj().resolve_neg().cpu().clone()
    copy = memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return copy.requires_grad_(tensor.requires_grad)


def _index(rng: random.Random, size: int, count: int) -> str:
    return f"torch.tensor({[rng.randrange(max(size, 1)) for _ in range(count)]}, device=d)"


def _view(rng: random.Random, p: list[torch.Tensor]) -> str:
    i = rng.randrange(len(p))
    x = p[i]
    n = x.dim()
    d = rng.randrange(n) if n else 0
    size = x.shape[d] if n else 0
    first = rng.randint(0, max(size - 1, 0))
    choices = [f"p[{i}].unsqueeze({rng.randint(0, n)})", f"p[{i}].detach()", f"p[{i}].view(-1)", f"p[{i}].reshape(-1)"]
    if n:
        order, part = rng.sample(range(n), n), rng.randint(1, max(size, 1))
        choices += [
            f"p[{i}].narrow({d}, {first}, {rng.randint(0, size - first)})",
            f"p[{i}].transpose({d}, {rng.randrange(n)})",
            f"p[{i}].permute({order})",
            f"p[{i}].select({d}, {first})",
            f"p[{i}][{first}:{rng.randint(first, size)}:{rng.randint(1, 2)}]",
            f"p[{i}].squeeze({d})",
            f"p[{i}].unfold({d}, {part}, {part})",
            f"p[{i}].expand({rng.randint(1, 3)}, *p[{i}].shape)",
            f"p[{i}].chunk(2, {d})[-1]",
        ]
    if n > 1:
        choices += [f"p[{i}].diagonal()", f"p[{i}].flatten(0, 1)", f"p[{i}].t() if p[{i}].dim() == 2 else p[{i}].mT"]
    if x.dtype is torch.complex64:
        choices += [f"p[{i}].conj()", f"p[{i}].real", f"p[{i}].imag", f"torch.view_as_real(p[{i}].resolve_conj())"]
    # CPU torch keeps a stride for an axis of one element, and may refuse another dtype because of it.
    steps = 1 not in x.shape
    if x.dtype is torch.int32 and steps:
        choices += [f"p[{i}].view(torch.uint8)", f"p[{i}].view(torch.int16)"]
    if x.dtype is torch.int16 and steps:
        choices += [f"p[{i}].view(torch.int8)", f"p[{i}].view(torch.int32)"]
    room = x.untyped_storage().nbytes() // max(x.itemsize, 1)
    if room:
        a, b = rng.randint(1, min(room, 3)), rng.randint(1, 2)
        stride = rng.randint(b, 2)  # a write to places that overlap has no defined result
        offset = rng.randint(0, max(room - a * stride - b, 0))
        choices.append(f"p[{i}].as_strided(({a}, {b}), ({stride}, 1), {offset})")
    return f"p.append({rng.choice(choices)})"


def _write(rng: random.Random, p: list[torch.Tensor]) -> str:
    i, j = rng.randrange(len(p)), rng.randrange(len(p))
    x = p[i]
    n = x.dim()
    d = rng.randrange(n) if n else 0
    size = x.shape[d] if n else 1
    number = rng.choice(["2", "3", "-1", "0", "True", "k"])
    sharing = _sharing(p)
    # A write of what lies otherwise in the same memory reads what it has written, unless CPU torch refuses it.
    apart = [_lies_as(y, x) or sharing[k] != sharing[i] for k, y in enumerate(p)]
    like = [k for k, y in enumerate(p) if y.dtype is x.dtype and _broadcasts(y, x) and apart[k]]
    same = rng.choice(like) if like else i
    choices = [
        f"p[{i}].add_(p[{same}])",
        f"p[{i}].sub_(p[{same}], alpha=2)" if x.dtype is not torch.bool else f"p[{i}].logical_not_()",
        f"p[{i}].mul_({number})",
        f"p[{i}].fill_({number})",
        f"p[{i}].copy_(p[{same}])",
        f"p[{i}].copy_(p[{j if apart[j] and x.dtype not in NARROW else same}])",
        f"p[{i}].zero_()",
        f"p[{i}][...] = p[{same}]" if x.numel() > 1 else f"p[{i}].neg_()",  # of one element, CPU torch makes a fill
        f"p[{i}].cumsum_({d})",
        f"torch.where(p[{i}] == 2, p[{same}], p[{i}], out=p[{i}])",
    ]
    if x.dtype is torch.int16:  # a view of another dtype that may look like the whole storage, with values that differ
        floats = [k for k, y in enumerate(p) if y.dtype is torch.float32 and _broadcasts(y, x)]
        choices += [f"p[{i}].view(torch.bfloat16).copy_(p[{k}])" for k in floats[:2]]
        choices.append(f"p[{i}].view(torch.bfloat16).fill_({number})")
    if n:
        where, rows = _index(rng, size, 3), _index(rng, x.shape[0], 3)
        if not _is_expanded(x):  # torch deprecates such writes, and tenax refuses those whose order counts
            choices += [
                f"p[{i}].index_put_(({rows},), torch.full((), 3, dtype=p[{i}].dtype, device=d), accumulate=True)",
                f"p[{i}].index_put_((p[{i}].select(-1, 0) == 2,), torch.ones((), dtype=p[{i}].dtype, device=d))"
                if n > 1 and x.shape[-1]
                else f"p[{i}][{_index(rng, x.shape[0], 2)}] = {number}",
                f"p[{i}].masked_fill_(p[{i}] == 2, {number})",
                f"p[{i}].index_fill_({d}, {_index(rng, size, 2)}, {number})",
            ]
        choices += [
            f"p[{i}].index_add_({d}, {where}, torch.ones_like(p[{i}]).index_select({d}, {where}))",
            f"p[{i}].scatter_({d}, torch.zeros_like(p[{i}], dtype=torch.int64), 2)",
            # Never 0: compiled by XLA, -0.0 + 0.0 is -0.0, and a dtype view shows the bit.
            f"p[{i}][{rng.randrange(max(x.shape[0], 1))}] += {'1' if number == '0' else number}",
        ]
    return rng.choice(choices)


def _meta(rng: random.Random, p: list[torch.Tensor]) -> str:
    """A line that changes what a tensor is, not what it holds."""
    i, j = rng.randrange(len(p)), rng.randrange(len(p))
    same = rng.choice([k for k, y in enumerate(p) if y.dtype is p[i].dtype])
    n = p[i].dim()
    shape = tuple(rng.randint(0, 4) for _ in range(rng.randint(0, 2)))
    choices = [
        f"p[{i}].resize_({shape}).fill_(2)",
        f"p[{i}].set_(p[{same}])",
        f"p[{i}].set_(p[{same}].untyped_storage(), 0, (1,), (1,))",
        f"p[{i}].unsqueeze_(0)",
        f"p[{i}].squeeze_()",
        f"p[{i}].data = p[{same}]",
        f"p[{i}].data = p[{same}].clone()",
        f"p.append(p[{j}].clone())",
        f"p.append(p[{j}].to(torch.float32))",
        f"p[{i}].as_strided_((2,), (1,))",
    ]
    if n:
        choices.append(f"p[{i}].transpose_(0, {rng.randrange(n)})")
    if _shows_a_part(p, i):
        choices = choices[1:]
    return rng.choice(choices)


def _out(rng: random.Random, p: list[torch.Tensor]) -> str:
    i, j, k = (rng.randrange(len(p)) for _ in range(3))
    like = [m for m, y in enumerate(p) if y.shape == p[i].shape]
    j, k = rng.choice(like), rng.choice([rng.choice(like), k])
    d = rng.randrange(p[i].dim()) if p[i].dim() else 0
    pointwise = [
        f"torch.add(p[{i}], p[{j}], out=p[{k}])",
        f"torch.mul(p[{i}], 2, out=p[{k}])",
        f"torch.neg(p[{i}], out=p[{k}])",
    ]
    if not p[k].requires_grad:  # torch differentiates as if `out` had not been overwritten
        pointwise.append(f"torch.eq(p[{i}], p[{j}], out=p[{k}])")
    sharing = _sharing(p)
    apart = _apart(p, sharing, i, k) and _apart(p, sharing, j, k)
    if _is_expanded(p[k]) or not apart:
        return f"p[{k}].add_(1)"  # CPU torch writes one place twice, resizes what it reads, or reads what it wrote
    if _shows_a_part(p, k):
        return f"p[{k}].neg_()" if p[k].dtype is not torch.bool else f"p[{k}].zero_()"
    if (
        sharing[k] in (sharing[i], sharing[j]) or p[k].dtype in NARROW
    ):  # CPU kernels of the others read what they have written
        return rng.choice(pointwise)
    return rng.choice(
        [
            *pointwise,
            f"torch.cumsum(p[{i}], {d}, out=p[{k}])",
            f"torch.sum(p[{i}], {d}, out=p[{k}])",
            f"torch.cat([p[{i}], p[{j}]], out=p[{k}])",
            f"torch.gather(p[{i}], {d}, torch.zeros_like(p[{i}], dtype=torch.int64), out=p[{k}])",
            f"torch.amax(p[{i}], {d}, out=p[{k}])",
        ]
    )


def _list(rng: random.Random, p: list[torch.Tensor]) -> str:
    chosen = [rng.randrange(len(p)) for _ in range(rng.randint(1, 4))]
    sharing = _sharing(p)
    # torch differentiates memory that is twice in a list, also by views, as if it were once, and what reads memory that
    # the call has written before as if it read the old values.
    written = set()
    if any(t.requires_grad for t in p):
        chosen = list({sharing[i]: i for i in chosen}.values())
        written = {sharing[i] for i in chosen}
    mine = ", ".join(f"p[{i}]" for i in chosen)
    fits = [
        [
            k
            for k, y in enumerate(p)
            if y.dtype is p[i].dtype
            and _broadcasts(y, p[i])
            and _apart(p, sharing, k, i)
            and sharing[k] not in written - {sharing[i]}
        ]
        for i in chosen
    ]
    other = ", ".join(f"p[{rng.choice(f)}]" for f in fits)
    return rng.choice(
        [
            f"torch._foreach_add_([{mine}], 1)",
            f"torch._foreach_add_([{mine}], [{other}])",
            f"torch._foreach_mul_([{mine}], [{other}])",
            f"torch._foreach_copy_([{mine}], [{other}])",
            f"torch._foreach_zero_([{mine}])",
            f"torch._foreach_mul_([{mine}], {[rng.randint(0, 3) for _ in chosen]})",
            f"torch._foreach_addcmul_([{mine}], [{other}], [{other}], 2)",
            f"torch._foreach_neg_([{mine}])",
        ]
    )


KINDS: tuple[Line, ...] = (_view, _view, _view, _write, _write, _write, _list, _out, _meta)


def _shows_a_part(p: list[torch.Tensor], k: int) -> bool:
    """Whether a tensor shows parts of the elements of another, as `.real` does: a storage of the device that grows
    through it holds whole elements, and so may have some bytes more."""
    sharing = _sharing(p)
    return any(sharing[m] == sharing[k] and y.itemsize > p[k].itemsize for m, y in enumerate(p))


def _is_expanded(x: torch.Tensor) -> bool:
    return any(s == 0 and n > 1 for n, s in zip(x.shape, x.stride(), strict=True))


def _lies_as(y: torch.Tensor, x: torch.Tensor) -> bool:
    """Whether a tensor on the memory of another has the same places, or torch can tell that it has not."""
    return y.shape == x.shape and (y.stride() == x.stride() or (y.is_contiguous() and x.is_contiguous()))


def _apart(p: list[torch.Tensor], sharing: Sequence[int], k: int, i: int) -> bool:
    """Whether a CPU kernel that writes one tensor reads another as it was, or refuses it."""
    return sharing[k] != sharing[i] or _lies_as(p[k], p[i])


def _broadcasts(y: torch.Tensor, x: torch.Tensor) -> bool:
    pairs = zip(reversed(y.shape), reversed(x.shape), strict=False)
    return y.dim() <= x.dim() and all(a in (1, b) for a, b in pairs)


def execute(line: str, p: list[torch.Tensor], device: str) -> str:
    """Run a line; the name of the error that it raised, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(line, {"torch": torch, "p": p, "d": device, "k": 2})
        except Exception as error:
            return type(error).__name__
    return ""


def compare(ours: list[torch.Tensor], theirs: list[torch.Tensor], aspects: Sequence[str] | None = None) -> str:
    """How two lists of tensors differ: in what shares memory, in an aspect (by default any) or in values."""
    if len(ours) != len(theirs):
        return f"{len(ours)} tensors; CPU torch: {len(theirs)}"
    if _sharing(ours) != _sharing(theirs):
        return f"storages: {_sharing(ours)}; CPU torch: {_sharing(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        for name in ASPECTS if aspects is None else aspects:
            of = ASPECTS[name]
            if of(a) != of(b):
                return f"{name} of p[{i}]: {of(a)}; CPU torch: {of(b)}"
        x, y = a.detach().cpu().resolve_conj(), b.detach().resolve_conj()
        if not torch.allclose(x, y, rtol=1e-5, atol=1e-5, equal_nan=True):
            return f"p[{i}]: {x.tolist()}; CPU torch: {y.tolist()}"
    return ""


ASPECTS: dict[str, Callable[[torch.Tensor], Any]] = {
    "shape": lambda t: tuple(t.shape),
    "dtype": lambda t: t.dtype,
    "strides": lambda t: [s for n, s in zip(t.shape, t.stride(), strict=True) if n != 1 and t.numel()],
    # Where an empty view starts depends on strides of axes of one element, which are not compared either.
    "offset": lambda t: t.storage_offset() if t.numel() else 0,
    "bytes": lambda t: t.untyped_storage().nbytes(),
    "version": lambda t: t._version,
    "gradient": lambda t: t.requires_grad,
}


def _sharing(p: list[torch.Tensor]) -> list[int]:
    first: dict[int, int] = {}
    return [first.setdefault(t.untyped_storage()._cdata, i) for i, t in enumerate(p)]


def gradients(p: list[torch.Tensor], leaves: list[torch.Tensor]) -> list[torch.Tensor]:
    """Gradients of all that the program made, which requires one."""
    loss = sum((t.abs() ** 2).sum() for t in p if t.requires_grad and not t.is_leaf)
    if not isinstance(loss, torch.Tensor):
        return []
    wanted = [t for t in leaves if t.requires_grad]
    found = torch.autograd.grad(loss, wanted, allow_unused=True) if wanted else ()
    return [g.clone() for g in found if g is not None]


def compare_gradients(
    ours: tuple[list[torch.Tensor], list[torch.Tensor]],
    theirs: tuple[list[torch.Tensor], list[torch.Tensor]],
    aspects: Sequence[str] | None = None,
) -> str:
    """How the gradients of two runs differ, each given by what it made and by its leaves; or nothing."""
    results: list[Any] = []
    for made, leaves in (ours, theirs):
        try:
            results.append(gradients(made, leaves))
        except RuntimeError as error:
            results.append(error)
    if any(isinstance(r, RuntimeError) for r in results):
        if type(results[0]) is type(results[1]):
            return ""
        said = [r if isinstance(r, RuntimeError) else "nothing" for r in results]
        return f"gradient: raises {said[0]}; CPU torch: {said[1]}"
    differs = compare(results[0], results[1], aspects)
    return f"gradient: {differs}" if differs else ""


def run(lines: Sequence[str], leaves: bool, shapes: Shapes, device: str, *, known: bool = False) -> Difference | None:
    """A program on both devices, compared after each line.

    With `known` the device has run it before, and has compiled each call at once, so that calls take the fast path.
    """
    if known:
        with mock.patch.dict(os.environ, TENAX_SYNC_COMPILE="1"):
            for _ in range(KNOWN_AFTER):
                _run_alone(lines, leaves, shapes, device)
            return run(lines, leaves, shapes, device)
    ours, theirs = start(leaves, device, shapes), start(leaves, "cpu", shapes)
    mine, own = list(ours), list(theirs)
    for number, line in enumerate(lines):
        found, expected = execute(line, ours, device), execute(line, theirs, "cpu")
        message = compare(ours, theirs) if found == expected == "" else ""
        if found != expected:
            message = f"raises {found or 'nothing'}; CPU torch: {expected or 'nothing'}"
        if message:
            return Difference(tuple(lines[: number + 1]), leaves, shapes, message)
        if expected:  # what a call that raised has written is not compared
            return None
    if leaves and (differs := compare_gradients((ours, mine), (theirs, own))):
        return Difference(tuple(lines), leaves, shapes, differs)
    return None


def _run_alone(lines: Sequence[str], leaves: bool, shapes: Shapes, device: str) -> None:
    made = start(leaves, device, shapes)
    mine = list(made)
    if not any(execute(line, made, device) for line in lines) and leaves:
        with suppress(RuntimeError):  # which the compared run shows
            gradients(made, mine)


def program(rng: random.Random) -> tuple[list[str], bool, Shapes]:
    """A program: lines that CPU torch runs, the last of which may raise."""
    leaves = rng.random() < 0.25
    dtypes = (torch.float32,) if leaves else DTYPES
    shapes = [(tuple(rng.randint(1, 4) for _ in range(rng.randint(0, 3))), rng.choice(dtypes)) for _ in range(3)]
    p = start(leaves, "cpu", shapes)
    lines = []
    if leaves:
        lines.append("p[:] = [t * 1 for t in p]")
        execute(lines[0], p, "cpu")
    while len(lines) < LENGTH:
        line = rng.choice(KINDS[:-1] if leaves else KINDS)(rng, p)
        lines.append(line)
        if execute(line, p, "cpu"):
            break
        if any(is_large(t) for t in p):
            lines.pop()
            break
    return lines, leaves, shapes


def is_large(t: torch.Tensor) -> bool:
    """Whether a tensor has too many elements, or one beyond what each dtype holds."""
    wide = torch.complex128 if t.is_complex() else torch.float64
    return t.numel() > 256 or not bool((t.detach().to(wide).abs() < LARGEST).all())


def shrink(difference: Difference, device: str, *, known: bool = False) -> Difference:
    """The difference with as few lines as show one."""
    lines = list(difference.lines)
    for i in reversed(range(len(lines) - 1)):
        shorter = run([*lines[:i], *lines[i + 1 :]], difference.leaves, difference.shapes, device, known=known)
        if shorter is not None and shorter.lines[-1] == lines[-1]:
            lines, difference = list(shorter.lines), shorter
    return difference
