"""Whole programs of `mutation.py` as functions that are compiled: by `tenax.jit`, `t2j` and `torch.compile`.

A function is called several times, and what it depends on changes between the calls: values and geometry of its
tensors, which tensors they are, and a number that it closes over.
"""

from __future__ import annotations

import itertools
import linecache
import logging
import random
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import tenax
from tenax.dispatch.overlap import memory_span
from tenax.errors import TraceError

from . import apart, mutation
from .mutation import Shapes

FILE = "<program>"
CALLS = 3
EAGER = ("eager", "known")  # compared after each line; `known` takes the fast path of calls that were made before
MODES = (*EAGER, "lazy", "jit", "t2j", "compile", "stateful", "chain")
# The errors by which a compiled function says that a program cannot be compiled.
REFUSALS = (TraceError, NotImplementedError)
VERSIONS = "versions changed"
UNCHECKED = " raises nothing; CPU torch: RuntimeError: result type"
OVERLAP = "refer to a single memory location"


@dataclass(frozen=True)
class Program:
    """A function of tensors, and the changes between its calls.

    `captured` tensors are variables of the function, otherwise they are its arguments. With `inside` the function
    returns its gradients too; otherwise they are taken of its results.
    """

    lines: tuple[str, ...]
    leaves: bool
    shapes: Shapes
    changes: tuple[tuple[str, ...], ...] = ((),) * (CALLS - 1)
    captured: bool = False
    inside: bool = False

    def shorter(self) -> Iterator[Program]:
        """The program less one thing."""
        for changes in mutation.without_one(self.changes):
            yield replace(self, changes=changes)
        for i in reversed(range(len(self.lines))):
            yield replace(self, lines=(*self.lines[:i], *self.lines[i + 1 :]))
        if self.captured:
            yield replace(self, captured=False)
        if self.inside:
            yield replace(self, inside=False)

    def __str__(self) -> str:
        changes = [f"# then: {'; '.join(lines) or 'nothing'}" for lines in self.changes]
        return "\n".join([f"q = start({self.leaves}, d, {self.shapes})", self.source, *changes])

    @property
    def source(self) -> str:
        """The function's text."""
        lines = ["def program(*tensors):", f"    p = list({'q' if self.captured else 'tensors'})"]
        lines += [f"    {line}" for line in self.lines]
        if self.inside:
            lines[2:2] = ["    leaves = [t for t in p if t.requires_grad]"]
            lines += ["    p += gradients(p, leaves)"]
        return "\n".join([*lines, "    return p", ""])


@dataclass(frozen=True)
class Outcome:
    """What a program showed in a mode: nothing, a difference from CPU torch, or that the mode refuses it."""

    mode: str
    difference: str = ""
    refused: str = ""
    program: Any = None  # that differs

    def __str__(self) -> str:
        return f"{self.program}\n# {self.mode}: {self.difference or self.refused or 'agrees'}"


class Run:
    """A program on one device: its tensors `q`, and its function as it is or compiled."""

    def __init__(self, program: Program, device: str, compiled: Callable[[Any], Any] = lambda function: function):
        self.program = program
        self.scope: dict[str, Any] = {"__name__": "program", "torch": torch, "d": device, "k": 2}
        self.scope["gradients"] = mutation.gradients
        self.scope["q"] = mutation.start(program.leaves, device, program.shapes)
        text = program.source
        linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
        exec(compile(text, FILE, "exec"), self.scope)
        self.function = compiled(self.scope["program"])

    def change(self, lines: Sequence[str]) -> None:
        """Change what the function depends on."""
        for line in lines:
            exec(line, self.scope)

    def call(self) -> list[torch.Tensor]:
        """The tensors of the program, and all that the function returned."""
        tensors = self.tensors
        found = self.function(*([] if self.program.captured else tensors))
        tenax.synchronize()  # which raises what failed checks of a compiled program found
        return [*tensors, *found]

    @property
    def tensors(self) -> list[torch.Tensor]:
        """What the program starts with."""
        return list(self.scope["q"])


def _compile_for(backend: str) -> Callable[[Any], Any]:
    def compile_(function: Any) -> Any:
        torch._dynamo.reset()
        return torch.compile(function, backend=backend, dynamic=False)

    return compile_


def _unchanged(function: Any) -> Any:
    return function


COMPILED: dict[str, Callable[[Any], Any]] = {
    "lazy": tenax.lazy(),
    "jit": tenax.jit,
    "compile": _compile_for("tenax"),
    "function": _unchanged,
}


def run(program: Program, mode: str) -> Outcome:
    """A program in a mode, compared with CPU torch after each call."""
    with warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")
        if mode == "t2j":
            from .mutation_pure import run_pure

            difference, refused = run_pure(program)
        else:
            difference, refused = _run(program, "jax", mode)
        if difference and mode == "compile" and _is_of_torch(program, difference):
            difference, refused = "", "torch's own capture differs from eager mode"
        elif difference and _is_undefined(program):
            difference, refused = "", "CPU torch reads what it has written: the values are undefined"
    return Outcome(mode, difference, refused, program if difference else None)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch logs of a program that it cannot capture."""
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _is_of_torch(program: Program, difference: str) -> bool:
    """Whether a difference under `torch.compile` is not this backend's.

    Other values must be those of TorchDynamo alone. AOTAutograd raises other errors, counts other versions, makes two
    results of what is one tensor in eager mode, and loses strides of what it writes; its functional operators do not
    check what in-place ones do.
    """
    if any(word in difference for word in (" raises ", VERSIONS, "storages:", "strides of")):
        return UNCHECKED in difference or capture_differs(program) or _inductor_raises(program, difference)
    return capture_differs(program, "eager")


def capture_differs(program: Program, backend: str = "aot_eager") -> bool:
    """Whether torch's own capture of a program, on the CPU, differs from eager mode, or ends its process."""
    try:
        return bool(apart.call(_run_on_cpu, program, backend))
    except apart.ProcessEndedError:
        return True


def _inductor_raises(program: Program, difference: str) -> bool:
    """Whether Inductor, which has torch capture in the way that this backend has, raises the same error on the CPU."""
    if " raises " not in difference:
        return False
    try:
        return bool(apart.call(_run_on_cpu, program, "inductor") == difference)
    except apart.ProcessEndedError:
        return False


def _run_on_cpu(program: Program, backend: str) -> str:
    """How a program that torch captures for one of its own backends differs from eager mode."""
    with warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")
        return _compare_calls(Run(program, "cpu", _compile_for(backend)), Run(program, "cpu"), "compile")[0]


def _run(program: Program, device: str, mode: str) -> tuple[str, str]:
    return _compare_calls(Run(program, device, COMPILED[mode]), Run(program, "cpu"), mode)


def _compare_calls(ours: Run, theirs: Run, mode: str) -> tuple[str, str]:
    """How the calls of a program differ, and whether one was refused."""
    for number in range(CALLS):
        if number:
            changes = ours.program.changes[number - 1]
            errors = [_error_of(run, changes) for run in (ours, theirs)]
            if type(errors[0]) is not type(errors[1]):
                return f"change {number}: {said(errors[0])}; CPU torch: {said(errors[1])}", ""
            if errors[0] is not None:
                return "", ""
        before = [mutation.start_copy(t) for t in ours.tensors]
        versions = [[t._version for t in run.tensors] for run in (ours, theirs)]
        results: list[Any] = []
        for run in (theirs, ours):
            try:
                results.append(run.call())
            except Exception as error:
                results.append(error)
                _forget_failed_checks()
        expected, found = results
        if isinstance(found, REFUSALS) and not isinstance(expected, Exception):
            return _refusal(found, ours.tensors, before, number)
        if isinstance(found, RuntimeError) and not isinstance(expected, Exception) and _reads_its_out(ours, found):
            return "", str(found)  # CPU torch reads the input after it has resized it: the values are undefined
        if isinstance(found, Exception) or isinstance(expected, Exception):
            both = isinstance(found, Exception) and isinstance(expected, Exception)
            if ours.program.leaves and isinstance(found, RuntimeError) and not both:
                both = _graph_is_spoilt(expected, theirs.tensors)
            return ("" if both else f"call {number + 1} raises {said(found)}; CPU torch: {said(expected)}"), ""
        if any(mutation.is_large(t) for t in expected) or _reduces_into_its_input(theirs):
            return "", ""
        message = mutation.compare(found, expected, ASPECTS[mode])
        written = [
            [run.tensors[i]._version != v for i, v in enumerate(vs)]
            for run, vs in zip((ours, theirs), versions, strict=True)
        ]
        if not message and mode != "function" and written[0] != written[1]:
            message = f"{VERSIONS}: {written[0]}; CPU torch: {written[1]}"
        if not message and ours.program.leaves and not ours.program.inside:
            mine, own = ((r[len(run.tensors) :], run.tensors) for r, run in ((found, ours), (expected, theirs)))
            message = mutation.compare_gradients(mine, own, ("shape", "dtype"))
        if message:
            return f"call {number + 1}: {message}", ""
    return "", ""


def _reads_its_out(run: Run, error: Exception) -> bool:
    return OVERLAP in str(error) and _shares_its_outs(run, r"out=p\[(\d+)\]")


def _reduces_into_its_input(run: Run) -> bool:
    """Whether a reduction may have its input's memory as `out=`, by a change between two calls: CPU torch accumulates
    there, and so reads what it has written."""
    return _shares_its_outs(run, r"torch\.(?:sum|amax)\(.*out=p\[(\d+)\]")


def _shares_its_outs(run: Run, pattern: str) -> bool:
    """Whether a tensor that a line of this pattern writes as `out=` shares memory with another one."""
    storages = [t.untyped_storage()._cdata for t in run.tensors]
    outs = {int(i) for line in run.program.lines for i in re.findall(pattern, line)}
    return any(storages.count(storages[i]) > 1 for i in outs if i < len(storages))


class _Overlaps(TorchDispatchMode):
    """Notices an operation that reads the memory that it writes in other places, which CPU torch does not refuse."""

    found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        named = zip(func._schema.arguments, args, strict=False)
        passed = [*named, *((a, (kwargs or {}).get(a.name)) for a in func._schema.arguments[len(args) :])]
        written = [value for a, value in passed if a.alias_info is not None and a.alias_info.is_write]
        read = [value for a, value in passed if a.alias_info is None or not a.alias_info.is_write]
        self.found |= any(_overlap_apart(x, y) for w in written for r in read for x, y in _pairs(w, r))
        return result


def _pairs(written: Any, read: Any) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The tensors of two arguments that one kernel gets: the elements of two lists in turn."""
    if isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for pair in zip(written, read, strict=True):
            yield from _pairs(*pair)
        return
    for pair in itertools.product(*(x if isinstance(x, (list, tuple)) else [x] for x in (written, read))):
        if all(isinstance(x, torch.Tensor) for x in pair):
            yield pair


def _overlap_apart(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether two tensors have places in common, but not the same ones in the same order."""
    if x.untyped_storage()._cdata != y.untyped_storage()._cdata or not x.numel() or not y.numel():
        return False
    if (x.shape, x.stride(), x.storage_offset(), x.dtype) == (y.shape, y.stride(), y.storage_offset(), y.dtype):
        return False
    (a, b), (c, d) = memory_span(x), memory_span(y)
    return max(a, c) < min(b, d)


def _is_undefined(program: Program) -> bool:
    """Whether CPU torch gives a program no defined values: a change between two calls may make its tensors overlap."""
    run = Run(program, "cpu")
    with _Overlaps() as overlaps:
        for number in range(CALLS):
            with suppress(Exception):
                run.change(program.changes[number - 1] if number else ())
                run.call()
    return overlaps.found


def _graph_is_spoilt(results: Sequence[torch.Tensor], leaves: list[torch.Tensor]) -> bool:
    """Whether CPU torch refuses to differentiate what a program made: a compiled call meets that error."""
    try:
        mutation.gradients(list(results[len(leaves) :]), leaves)
    except RuntimeError:
        return True
    return False


ASPECTS = {
    "function": tuple(mutation.ASPECTS),
    "lazy": tuple(mutation.ASPECTS),
    "jit": ("shape", "dtype", "strides", "offset", "bytes", "gradient"),
    "compile": ("shape", "dtype", "strides", "gradient"),
}


def _refusal(
    error: Exception, tensors: Sequence[torch.Tensor], before: Sequence[torch.Tensor], number: int
) -> tuple[str, str]:
    """What a refusal must be: it names a line, and leaves the tensors as they were."""
    if isinstance(error, TraceError) and FILE not in str(error):
        return f"call {number + 1}: a TraceError without a line: {error}", ""
    message = mutation.compare(list(tensors), list(before), ("shape", "dtype", "strides", "offset", "gradient"))
    if message and not message.startswith("storages"):
        return f"call {number + 1}: raised {said(error)}, and changed {message.replace('CPU torch', 'before')}", ""
    return "", str(error)


def _forget_failed_checks() -> None:
    """A call that raised may leave failed checks that no result has shown yet; each later call would raise one."""
    for _ in range(mutation.LENGTH * CALLS):
        with suppress(Exception):
            tenax.synchronize()
            return


def _error_of(run: Run, changes: Sequence[str]) -> Exception | None:
    try:
        run.change(changes)
    except Exception as error:
        return error
    return None


def said(result: Any) -> str:
    """A result of a call, as a message shows it."""
    return f"{type(result).__name__}: {result}" if isinstance(result, Exception) else "nothing"


def _change(rng: random.Random, q: Sequence[torch.Tensor]) -> str:
    """A line that changes something that a function depends on."""
    i, j = rng.randrange(len(q)), rng.randrange(len(q))
    x = q[i]
    # The gradient of a leaf has the shape that the leaf had when its graph was made.
    like = [n for n, t in enumerate(q) if t.dtype is x.dtype and (t.shape == x.shape or not x.requires_grad)]
    same = rng.choice(like)
    choices = [
        f"k = {rng.choice(['3', '1', '-1', '0', 'True', '2'])}",
        f"q[{i}].data.fill_({rng.randint(0, 3)})",
        f"q[{i}].data.copy_(q[{i}].data.flip(0))" if x.dim() else f"q[{i}].data.zero_()",
        f"q[{i}].data = q[{i}].data.clone()",
        f"q[{i}].data = q[{i}].data.mT.contiguous().mT" if x.dim() > 1 else f"q[{i}].data = q[{i}].data + 0",
        f"q[{i}].data = torch.stack([q[{i}].data] * 2, -1)[..., 1]",
        f"q[{i}].data = torch.stack([q[{i}].data] * 2)[1]",
        f"q[{i}].data = q[{same}].data",
        f"q[{i}].data = q[{same}].data.clone()",
        f"q[{i}].data = q[{i}].data.unsqueeze(0)" if not x.requires_grad else "k = 4",
        f"q[{i}] = q[{i}].detach().clone().requires_grad_(q[{i}].requires_grad)",
        f"q[{i}], q[{j}] = q[{j}], q[{i}]",
        f"q[{i}] = q[{same}]",
    ]
    if x.is_floating_point():
        choices.append(f"q[{i}].requires_grad_({not x.requires_grad})")
    if not x.requires_grad:
        choices += [f"q[{i}].squeeze_()", f"q[{i}].resize_({tuple(x.shape[:-1])})", f"q[{i}].add_(1)"]
        choices += [f"q[{i}].transpose_(0, -1)"] if x.dim() else []
        choices += [f"q[{i}].set_(q[{i}].clone())", f"q[{i}].set_(q[{same}])"]
    return rng.choice(choices)


def program(rng: random.Random) -> Program:
    """A program that CPU torch runs, whose last line may raise, with changes between its calls that it may survive."""
    lines, leaves, shapes = mutation.program(rng)
    made = Program(tuple(lines), leaves, shapes, captured=rng.random() < 0.5, inside=leaves and rng.random() < 0.5)
    changes: list[tuple[str, ...]] = []
    while len(changes) < CALLS - 1:
        tried: list[str] = []
        for _ in range(4):  # tries to find a change that the program survives
            run = Run(made, "cpu")
            if any(_error_of(run, lines) for lines in changes):
                break
            try:
                tried.clear()
                for _ in range(rng.randint(1, 2)):
                    tried.append(_change(rng, run.tensors))
                    run.change(tried[-1:])
                run.call()
                break
            except Exception:
                continue
        changes.append(tuple(tried))
    return replace(made, changes=tuple(changes))
