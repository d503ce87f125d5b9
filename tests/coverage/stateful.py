"""Runs of the training programs of `stateful_programs.py`: modules, optimizers, hooks and closures whose state changes
between calls of a function.

A program runs eagerly on CPU torch and compiled by `tenax.jit` on the device; after each call everything that it can
name is compared.
"""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

import tenax
from tenax.errors import TraceError

from .mutation_modes import FILE, REFUSALS, Outcome, said
from .stateful_programs import CALLS, END, SETUP, Program, random_program

TOLERANCE = 2e-4  # of a few steps of Adam, whose first updates differ by 1e-5


class Run:
    """A program on one device."""

    def __init__(self, program: Program, device: str, compiled: Callable[[Any], Any] = lambda function: function):
        self.grows = program.grows
        self.scope: dict[str, Any] = {"__name__": "program", "d": device}
        exec(SETUP, self.scope)
        exec("def global_k(value):\n    global k\n    k = min(value, 5.0)", self.scope)
        for line in program.setup:
            exec(line, self.scope)
        text = program.source
        linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
        exec(compile(text, FILE, "exec"), self.scope)
        self.step = compiled(self.scope["step"])

    def change(self, lines: tuple[str, ...]) -> None:
        """Change what the step depends on."""
        for line in lines:
            exec(line, self.scope)

    def call(self) -> Any:
        """The result of a call, differentiated if the program says so."""
        result = self.step(self.scope["x"])
        tenax.synchronize()
        if self.grows and result.requires_grad:
            result.square().mean().backward()
        return result

    def end(self) -> None:
        """Put back what changed outside of the program."""
        exec(END, self.scope)

    def state(self) -> dict[str, Any]:
        """All that the program can name, by path: tensors, and plain values."""
        found: dict[str, Any] = {}
        module = self.scope["m"]
        for name, tensor in (
            *module.named_parameters("m", remove_duplicate=False),
            *module.named_buffers("m", remove_duplicate=False),
        ):
            found[name] = tensor
            found[f"{name}.grad"] = tensor.grad
        found["m.training"] = [layer.training for layer in module.modules()]
        for name in ("steps", "cache", "options", "factor", "last"):
            found[f"m.{name}"] = getattr(module, name, None)
        names = ("x", "w", "k", "log", "seen", "held", "queue")
        found.update({name: self.scope[name] for name in names})
        found["x.grad"] = self.scope["x"].grad
        found["config"] = vars(self.scope["config"])
        found["handles"] = len(self.scope["handles"])
        optimizer = self.scope["opt"]
        found["lr"] = [g["lr"] for g in optimizer.param_groups]
        found["opt.state"] = [
            optimizer.state.get(p, {}).get(key)
            for group in optimizer.param_groups
            for p in group["params"]
            for key in ("momentum_buffer", "exp_avg", "exp_avg_sq", "square_avg")
        ]
        return found


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(f"{path}[{key!r}]", item)
    elif isinstance(value, torch.Tensor) or not hasattr(value, "__iter__"):
        yield path, value
    else:
        for i, item in enumerate(value):
            yield from _leaves(f"{path}[{i}]", item)


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """How two states differ; or nothing."""
    mine, own = (dict(leaf for path, value in s.items() for leaf in _leaves(path, value)) for s in (ours, theirs))
    if list(mine) != list(own):
        return f"has {sorted(set(mine) - set(own))}, and lacks {sorted(set(own) - set(mine))}"
    objects: list[dict[int, str]] = [{}, {}]
    storages: list[dict[int, str]] = [{}, {}]
    for path, a in mine.items():
        b = own[path]
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
            return f"{path} is {_text(a)}; CPU torch: {_text(b)}"
        if not isinstance(a, torch.Tensor):
            if a != b and not (isinstance(a, float) and abs(a - b) <= TOLERANCE * max(1, abs(b))):
                return f"{path} is {a}; CPU torch: {b}"
            continue
        same = [seen.setdefault(id(t), path) for seen, t in zip(objects, (a, b), strict=True)]
        if same[0] != same[1]:
            return f"{path} is the tensor {same[0]}; CPU torch: {same[1]}"
        if a.device.type == "jax" and b.numel():
            keys = [t.untyped_storage()._cdata for t in (a, b)]
            shared = [seen.setdefault(key, path) for seen, key in zip(storages, keys, strict=True)]
            if shared[0] != shared[1]:
                return f"{path} shares memory with {shared[0]}; CPU torch: {shared[1]}"
        for name in ("shape", "dtype", "requires_grad", "is_leaf"):
            if getattr(a, name) != getattr(b, name):
                return f"{name} of {path} is {getattr(a, name)}; CPU torch: {getattr(b, name)}"
        strides = [[s for n, s in zip(t.shape, t.stride(), strict=True) if n != 1] for t in (a, b)]
        if strides[0] != strides[1]:
            return f"strides of {path} are {strides[0]}; CPU torch: {strides[1]}"
        x, y = a.detach().cpu(), b.detach()
        if not torch.allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return f"{path} is {x.tolist()}; CPU torch: {y.tolist()}"
    return ""


def _text(value: Any) -> str:
    return "a tensor" if isinstance(value, torch.Tensor) else repr(value)


def run(program: Program, compiled: Callable[[Any], Any] = tenax.jit) -> Outcome:
    """Run a program on both devices, and compare after each call."""
    theirs = ours = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = Run(program, "cpu")
            theirs_step = _Recorded(theirs)
            theirs_step.play(program)
            theirs.end()
            ours = Run(program, "jax", compiled)
            difference, refused = _replay(ours, program, theirs_step)
        finally:
            for each in (theirs, ours):
                if each is not None:
                    each.end()
    return Outcome("stateful", difference, refused, program if difference else None)


class _Recorded:
    """What each call of a program on CPU torch did: its state afterwards, or its error."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.calls: list[dict[str, Any] | Exception | None] = []

    def play(self, program: Program) -> None:
        """Make the calls; one that raises is the last, and so is one whose numbers grow beyond comparison."""
        for number in range(CALLS):
            try:
                if number:
                    self.run.change(program.changes[number - 1])
            except Exception:
                return
            try:
                result = self.run.call()
            except Exception as error:
                self.calls.append(error)
                return
            state = {"result": result, **self.run.state()}
            if any(_is_large(v) for path, value in state.items() for _, v in _leaves(path, value)):
                return
            self.calls.append(_copied(state))


def _is_large(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not bool((value.detach().abs() < 1e3).all())


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """A state that later calls do not change: copies on the CPU that share memory and identity as the originals do."""
    tensors: dict[int, torch.Tensor] = {}
    storages: dict[int, torch.Tensor] = {}

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in tensors:
                storage = value.untyped_storage()
                whole = value.detach().as_strided((storage.nbytes() // value.itemsize,), (1,), 0)
                base = storages.setdefault(storage._cdata, whole.cpu().clone())
                geometry = value.shape, value.stride(), value.storage_offset()
                copy = base.view(value.dtype).as_strided(*geometry) if base.numel() else torch.empty(value.shape)
                copy = copy.detach().requires_grad_(value.requires_grad)
                tensors[id(value)] = copy if value.is_leaf else copy.as_strided(*geometry)
            return tensors[id(value)]
        if isinstance(value, dict):
            return {k: copied(v) for k, v in value.items()}
        return [copied(v) for v in value] if hasattr(value, "__iter__") and not isinstance(value, str) else value

    return {path: copied(value) for path, value in state.items()}


def _replay(ours: Run, program: Program, expected: _Recorded) -> tuple[str, str]:
    for number, wanted in enumerate(expected.calls):
        if number:
            ours.change(program.changes[number - 1])
        before = None
        try:
            before = _copied(ours.state())
            result: Any = ours.call()
        except Exception as error:
            result = error
        if isinstance(result, REFUSALS) and not isinstance(wanted, Exception):
            if isinstance(result, TraceError) and FILE not in str(result) and "<string>" not in str(result):
                return f"call {number + 1}: a TraceError without a line: {result}", ""
            message = "" if before is None else compare(ours.state(), before).replace("CPU torch", "before")
            return (f"call {number + 1} raises {said(result)}, and changed: {message}" if message else ""), str(result)
        if isinstance(result, Exception) or isinstance(wanted, Exception):
            both = isinstance(result, Exception) and isinstance(wanted, Exception)
            return ("" if both else f"call {number + 1} raises {said(result)}; CPU torch: {said(wanted)}"), ""
        assert wanted is not None
        if message := compare({"result": result, **ours.state()}, wanted):
            return f"call {number + 1}: {message}", ""
    return "", ""


def program(rng: random.Random) -> Program:
    """A program whose first calls CPU torch runs."""
    while True:
        made = random_program(rng)
        try:
            recorded = _Recorded(Run(made, "cpu"))
        except Exception:  # such as a parameter that two groups of the optimizer share
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                recorded.play(made)
        finally:
            recorded.run.end()
        if len(recorded.calls) > 1:
            return made
