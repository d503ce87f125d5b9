"""Optimizers: compare the trajectories of every configuration of torch's optim_db with CPU torch."""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, OptimizerInput

from .agree import Task, over, raises, seed_all
from .compare import Tolerance, compare
from .outcome import InapplicableError, Outcome, UnsuitableError, blame, inapplicable
from .programs import cotangents
from .samples import Sample, copy_to
from .targets import compile_step, is_target

STEPS = 4
# Parameter shapes: a matrix, a vector and a scalar-like one. Muon accepts matrices only.
SHAPES = ((4, 3), (5,), (1,))
MATRICES = ((4, 3), (6, 6))
# Errors accumulate over the steps, so the float32 tolerance is wider than that of a single result.
DRIFT = {torch.float32: Tolerance(1e-5, 2e-5), torch.float64: Tolerance(1e-7, 1e-7)}
FLAGS = ("foreach", "fused", "differentiable")


@dataclass(frozen=True)
class Recipe:
    """One configuration: the optimizer's arguments and the implementation flags of a check."""

    optim_cls: type
    kwargs: dict[str, Any]
    flags: dict[str, bool]
    sparse: bool
    closure: bool


def optimizer(task: Task) -> Outcome:
    """Compare parameters and state after a few steps of each configuration, in the implementation of the check."""
    info = task.entry.info
    if task.check == "errors":
        return _errors(task)
    if task.check in FLAGS and task.check not in info.supported_impls:
        return inapplicable(f"no {task.check} implementation")
    if task.check == "capturable" and not info.has_capturable_arg:
        return inapplicable("no capturable argument")
    samples = [_sample(task, config) for config in _configs(task)]
    run = _derivatives if task.check == "differentiable" else _trajectory

    def judge(sample: Sample) -> str | None:
        recipe: Recipe = sample.input
        if is_target(task.device):
            message: str | None = run(recipe, task.dtype, task.device)
            return message
        try:
            expected = run(recipe, task.dtype, "cpu")
        except Exception as error:
            raise UnsuitableError(f"CPU torch: {blame(error)}") from error
        try:
            actual = run(recipe, task.dtype, task.device)
        except Exception as error:
            return blame(error)
        return compare(actual, expected, device=task.device, override=DRIFT[task.dtype], strides=False)

    return over(task, samples[: task.samples], judge)


def _configs(task: Task) -> list[OptimizerInput]:
    """Torch's configurations; those with `capturable` exist for accelerators only and belong to a separate check."""
    accelerator = list(task.entry.info.optim_inputs_func("cuda"))
    return [c for c in accelerator if bool(c.kwargs.get("capturable")) == (task.check == "capturable")]


def _sample(task: Task, config: OptimizerInput) -> Sample:
    info = task.entry.info
    flags = {flag: flag == task.check for flag in FLAGS if flag in info.supported_impls}
    recipe = Recipe(info.optim_cls, config.kwargs, flags, info.only_supports_sparse_grads, info.step_requires_closure)
    return Sample(recipe, (), {}, lambda out: out, False, f"{info.name}({config.desc})")


def _trajectory(recipe: Recipe, dtype: torch.dtype, device: str) -> Any:
    """Parameters and their state after `STEPS` steps on a convex loss with fixed data.

    For a target, what its compiler says of one step: an error, or None.
    """
    target, device = (device, "jax") if is_target(device) else ("", device)
    seed_all(0)
    shapes = MATRICES if recipe.optim_cls.__name__ == "Muon" else SHAPES
    starts = [torch.randn(shape, dtype=dtype) for shape in shapes]
    targets = [torch.randn(shape, dtype=dtype).to(device) for shape in shapes]
    params = [torch.nn.Parameter(copy_to(start, device)) for start in starts]
    kwargs, flags = copy.deepcopy(recipe.kwargs), recipe.flags
    if recipe.closure:
        # One step of LBFGS is many iterations, each of which amplifies the rounding errors of the previous ones.
        kwargs.setdefault("max_iter", 1)
    if device == "cpu":
        # The reference is the plain loop; `capturable` determines where the step counts are, not the result.
        kwargs.pop("capturable", None)
        flags = dict.fromkeys(recipe.flags, False)
    elif kwargs.get("capturable"):
        kwargs = {k: _moved(v, device) if k != "lr" else v for k, v in kwargs.items()}
    optim = recipe.optim_cls(params, **kwargs, **flags)

    def loss() -> torch.Tensor:
        optim.zero_grad()
        total = sum(((p - t) ** 2).sum() + (p * p * p).sum() / 9 for p, t in zip(params, targets, strict=True))
        total.backward()  # type: ignore[union-attr]
        if recipe.sparse:
            for p in params:
                p.grad = None if p.grad is None else p.grad.to_sparse()
        return total  # type: ignore[return-value]

    def step() -> None:
        if recipe.closure:
            optim.step(loss)
        else:
            loss()
            optim.step()

    if target:
        return compile_step(target, step)
    for _ in range(STEPS):
        step()
    return {"parameters": [p.detach() for p in params], "state": _moments(optim, params)}


def _derivatives(recipe: Recipe, dtype: torch.dtype, device: str) -> Any:
    """Parameters and state after `STEPS` steps with fixed gradients, and the derivatives of the last step.

    As in torch's tests, only the last step is differentiated, because a later step overwrites values that the
    derivatives of an earlier one need.
    """
    seed_all(0)
    shapes = MATRICES if recipe.optim_cls.__name__ == "Muon" else SHAPES
    starts, *steps = [[copy_to(torch.rand(s, dtype=dtype), device) for s in shapes] for _ in range(1 + STEPS)]
    params = [torch.nn.Parameter(start, requires_grad=False) for start in starts]
    optim = recipe.optim_cls(params, **copy.deepcopy(recipe.kwargs), **recipe.flags)
    shifts = [torch.zeros_like(p).requires_grad_() for p in params]
    for grads in steps:
        last = grads is steps[-1]
        for p, grad, shift in zip(params, grads, shifts, strict=True):
            p.add_(shift if last else 0)
            p.grad = grad.requires_grad_(last).clone()
        optim.step()
    derivatives = torch.autograd.grad(params, [*shifts, *steps[-1]], cotangents(params), allow_unused=True)
    return {"parameters": [p.detach() for p in params], "state": _moments(optim, params), "derivatives": derivatives}


def _moments(optim: torch.optim.Optimizer, params: Sequence[torch.Tensor]) -> list[dict[str, torch.Tensor]]:
    """The state that must be on the device of the parameters; step counts may be on the host."""
    kept = [{k: v for k, v in optim.state[p].items() if isinstance(v, torch.Tensor) and v.ndim} for p in params]
    return [{k: v.detach() for k, v in state.items()} for state in kept]


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    return tuple(_moved(v, device) for v in value) if isinstance(value, tuple) else value


def _errors(task: Task) -> Outcome:
    """Check that invalid arguments of the constructor raise torch's exception type with its key phrase."""
    func = task.entry.info.optim_error_inputs_func
    if func is None:
        return inapplicable("torch lists no error inputs")
    cases = [c for c in func("cpu", task.dtype) if c.error_on is OptimizerErrorEnum.CONSTRUCTION_ERROR]
    samples = [Sample(None, (), {}, lambda out: out, False, case.optimizer_error_input.desc) for case in cases]
    wanted = dict(zip(map(id, samples), cases, strict=True))

    def judge(sample: Sample) -> str | None:
        case = wanted[id(sample)]
        if issubclass(case.error_type, Warning):
            raise InapplicableError("torch warns here instead of raising")
        run = functools.partial(_construct, task, case.optimizer_error_input)
        return raises(run, task.device, case.error_type, case.error_regex)

    return over(task, samples, judge)


def _construct(task: Task, config: OptimizerInput, device: str) -> None:
    params = config.params if config.params is not None else [torch.nn.Parameter(torch.zeros(1, 1, dtype=task.dtype))]
    task.entry.info.optim_cls(_on(params, device), **config.kwargs)


def _on(params: Any, device: str) -> Any:
    """Move parameters, in any nesting of torch's error inputs; one object stays one object."""
    memo: dict[int, torch.nn.Parameter] = {}

    def move(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return memo.setdefault(id(value), torch.nn.Parameter(value.detach().to(device)))
        if isinstance(value, dict):
            return {k: move(v) for k, v in value.items()}
        return type(value)(move(v) for v in value) if isinstance(value, list | tuple) else value

    return move(params)
