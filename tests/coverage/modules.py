"""Modules: build every module of torch's module_db on the CPU, move it to the device, run and train it there."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.common_modules import ModuleErrorEnum
from torch.testing._utils import freeze_rng_state
from torch.utils import _pytree as pytree

from .agree import Task, agree, agree_as_pure, agree_in_double, over, raises, seed_all
from .entries import Entry
from .outcome import InapplicableError, Outcome, inapplicable
from .programs import cotangents, pulled, second_derivatives, tensors
from .samples import Sample, label, pick

MODES = (True, False)


def forward(task: Task) -> Outcome:
    """Compare results, buffers and the state dict after a call, in training and in evaluation mode."""

    def program(sample: Sample) -> Any:
        module, args, kwargs = _prepare(sample)
        result = module(*args, **kwargs)
        return {"result": result, "buffers": dict(module.named_buffers()), "state": sorted(module.state_dict())}

    return over(task, _samples(task, False), lambda s: agree(task, program, s))


def gradient(task: Task) -> Outcome:
    """Compare gradients of parameters and inputs after one forward and backward pass."""

    def program(sample: Sample) -> Any:
        leaves, outs, _ = _tape(sample)
        grads = torch.autograd.grad(outs, list(leaves.values()), cotangents(outs), allow_unused=True)
        return dict(zip(leaves, grads, strict=True))

    return over(task, _samples(task, True), lambda s: agree(task, program, s, strides=False))


def pure(task: Task) -> Outcome:
    """Compare JAX's derivative of the module as a pure function with torch's."""

    def program(sample: Sample) -> Any:
        leaves, outs, module = _tape(sample)
        if outs[0].device.type == "cpu":
            found = torch.autograd.grad(outs, [*leaves.values()], cotangents(outs), materialize_grads=True)
            return dict(zip(leaves, found, strict=True))
        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        tree, spec = pytree.tree_flatten((sample.args, sample.kwargs))
        held = state | {str(i): t for i, t in enumerate(tree) if isinstance(t, torch.Tensor)}

        def results(given: dict[str, torch.Tensor]) -> list[torch.Tensor]:
            args, kwargs = pytree.tree_unflatten([given.get(str(i), leaf) for i, leaf in enumerate(tree)], spec)
            made = tensors(torch.func.functional_call(module, {n: given[n] for n in state}, args, kwargs))
            return [t for t in made if t.is_floating_point()]

        moving = {n: t for n, t in held.items() if any(t is leaf for leaf in leaves.values())}
        grads = pulled(results)(moving, {n: t for n, t in held.items() if n not in moving})
        return {name: next(grads[n] for n in moving if moving[n] is leaf) for name, leaf in leaves.items()}

    return over(task, _samples(task, True), lambda s: agree_as_pure(task, program, s))


def gradgrad(task: Task) -> Outcome:
    """Compare gradients of the gradients."""
    if not task.entry.info.supports_gradgrad:
        return inapplicable("torch does not support double backward here")

    def program(sample: Sample) -> Any:
        leaves, outs, _ = _tape(sample)
        seconds = second_derivatives(list(leaves.values()), outs)
        names = [*leaves, *(f"cotangent {i}" for i in range(len(outs)))]
        return dict(zip(names, seconds, strict=True))

    return over(task, _samples(task, True), lambda s: agree_in_double(task, program, s))


def errors(task: Task) -> Outcome:
    """Check that invalid arguments of constructors and calls raise torch's exception type with its key phrase."""
    func = task.entry.info.module_error_inputs_func
    if func is None:
        return inapplicable("torch lists no error inputs")
    cases = func(task.entry.info, device="cpu", dtype=task.dtype, requires_grad=False, training=False)
    samples = [_error_sample(task, case.module_error_input) for case in cases]
    wanted = dict(zip(map(id, samples), cases, strict=True))

    def judge(sample: Sample) -> str | None:
        case = wanted[id(sample)]
        run = functools.partial(_construct_and_call, sample, case.error_on)
        return raises(run, task.device, case.error_type, case.error_regex)

    return over(task, samples, judge)


MODULE_CHECKS: dict[str, Callable[[Task], Outcome]] = {
    "forward": forward,
    "gradient": gradient,
    "gradgrad": gradgrad,
    "errors": errors,
    "pure": pure,
}


def _samples(task: Task, requires_grad: bool) -> list[Sample]:
    """Samples for both modes; the `input` of a sample is the recipe of its module."""
    per_mode = max(1, task.samples // len(MODES))
    return [
        s for training in MODES for s in pick(_generated(task.entry, task.dtype, requires_grad, training), per_mode)
    ]


@functools.lru_cache(maxsize=8)
def _generated(entry: Entry, dtype: torch.dtype, requires_grad: bool, training: bool) -> list[Sample]:
    info = entry.info
    seed_all(0)
    raws = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=requires_grad, training=training)
    return [_sample(info.module_cls, raw, dtype, training) for raw in raws if raw.forward_input is not None]


def _sample(module_cls: type, raw: Any, dtype: torch.dtype, training: bool) -> Sample:
    made = raw.constructor_input
    recipe = _Recipe(module_cls, made.args, made.kwargs, dtype, training)
    called = raw.forward_input
    text = label(_Call(called.args, called.kwargs))
    constructor = ", ".join([*map(repr, made.args), *(f"{k}={v!r:.30}" for k, v in made.kwargs.items())])
    mode = "train" if training else "eval"
    name = f"{module_cls.__name__}({constructor:.80}){text} in {mode} mode"
    return Sample(recipe, tuple(called.args), dict(called.kwargs), lambda out: out, False, name)


class _Call:
    """Arguments in the form that `samples.label` reads."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.input = args[0] if args else None
        self.args = args[1:]
        self.kwargs = kwargs


class _Recipe:
    """Builds a module, with the same parameters every time."""

    def __init__(
        self, module_cls: type, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: torch.dtype, training: bool
    ) -> None:
        self.module_cls, self.args, self.kwargs = module_cls, args, kwargs
        self.dtype, self.training = dtype, training

    def build(self, device: str, dtype: torch.dtype) -> torch.nn.Module:
        kwargs = dict(self.kwargs)
        parameters = inspect.signature(self.module_cls).parameters
        if "dtype" in parameters:
            kwargs.setdefault("dtype", self.dtype)
        seed_all(0)
        args, kwargs = copy.deepcopy((self.args, kwargs))
        module: torch.nn.Module = self.module_cls(*args, **kwargs)
        return module.to(device=device, dtype=dtype).train(self.training)


def _prepare(sample: Sample) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]:
    """The module, on the device and in the precision of the tensors of the sample, and the arguments of its call."""
    recipe: _Recipe = sample.input
    inputs = sample.tensors()
    device = inputs[0].device if inputs else torch.device("cpu")
    floating = [t.dtype for t in inputs if t.dtype.is_floating_point or t.dtype.is_complex]
    with freeze_rng_state():
        module = recipe.build(str(device), floating[0] if floating else recipe.dtype)
    return module, sample.args, sample.kwargs


def _tape(sample: Sample) -> tuple[dict[str, torch.Tensor], list[torch.Tensor], torch.nn.Module]:
    module, args, kwargs = _prepare(sample)
    outs = [o for o in tensors(module(*args, **kwargs)) if o.requires_grad]
    if not outs:
        raise InapplicableError("no result requires a gradient")
    leaves: dict[str, torch.Tensor] = {name: p for name, p in module.named_parameters() if p.requires_grad}
    leaves |= {f"argument {i}": t for i, t in enumerate(sample.leaves())}
    return leaves, outs, module


def _error_sample(task: Task, raw: Any) -> Sample:
    made, called = raw.constructor_input, raw.forward_input
    recipe = _Recipe(task.entry.info.module_cls, made.args, made.kwargs, task.dtype, False)
    args, kwargs = (called.args, called.kwargs) if called is not None else ((), {})
    return Sample(recipe, tuple(args), dict(kwargs), lambda out: out, False, f"{task.entry.name}({made.args!r:.60})")


def _construct_and_call(sample: Sample, where: ModuleErrorEnum, device: str) -> None:
    """Construct the module, and call it unless the constructor is expected to raise."""
    recipe: _Recipe = sample.input
    module = recipe.build(device, recipe.dtype)
    if where is ModuleErrorEnum.FORWARD_ERROR:
        moved = sample.on(device)
        module(*moved.args, **moved.kwargs)
