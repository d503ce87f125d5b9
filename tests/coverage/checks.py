"""Checks: the functions that test an entry; each maps a task to an outcome."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from . import programs
from .agree import Task, agree, agree_as_pure, agree_in_double, over, raises
from .entries import Entry
from .excuses import converting, excused, phased, unordered, unstable
from .outcome import Outcome, UnsuitableError, inapplicable, skip
from .samples import Sample, label, pick

Check = Callable[[Task], Outcome]

# `fuzz 7` is the check `fuzz` with seed 7, which only `tenax coverage fuzz` runs.
FUZZ = "fuzz "

# Dashboard note for entries whose results leave the order of equal values unspecified.
TIES = "indices of equal values compared by the values they name"
# Dashboard note for entries whose results are defined up to a factor of absolute value 1.
PHASES = "eigenvectors compared by their absolute values, as torch does"

# Maximum samples by check: of the primary dtype in a full run, of other dtypes, and in the quick tier.
FULL = {
    "forward": 6, "reference": 4, "gradient": 3, "gradgrad": 2, "forward_ad": 2, "vmap": 2, "inplace": 2, "out": 2,
    "noncontiguous": 2, "errors": 100, "forloop": 100, "foreach": 100, "fused": 100, "capturable": 100,
    "differentiable": 100, "pure": 2,
}  # fmt: skip
OTHER = {"forward": 2, "reference": 1, "gradient": 1, "inplace": 1, "forloop": 100, "foreach": 100}
QUICK = {"forward": 2, "gradient": 1, "pure": 1, "forloop": 2, "foreach": 2}
# For a target, whose programs are compiled and not run.
COMPILED = {"forward": 1, "gradient": 1, "forloop": 2, "foreach": 2}

# Values, taken in turn, at which derivatives of pure functions are compared too: zeros, equal values, signs,
# probabilities, and values at which functions saturate.
POINTS = ((0.0,), (1.0,), (0.0, 1.0, -1.0), (0.0, 1.0, 0.5), (-1.0, 0.0, 30.0, 1.0, -30.0))


def run(task: Task) -> Outcome:
    """The outcome of one task. An excused failure becomes a skip that states the excuse and the failure."""
    if task.check not in task.entry.checks and not task.check.startswith(FUZZ):
        return inapplicable(f"{task.entry.suite} has no check {task.check}")
    outcome = implementation(task)(task)
    if outcome.letter == "f" and (reason := excused(task.entry, task.check, task.dtype, outcome.why)):
        return skip(f"{reason}; here: {outcome.why}")
    return outcome


def implementation(task: Task) -> Check:
    """The function that implements a check for the suite of the task."""
    if task.entry.suite == "module_db":
        from .modules import MODULE_CHECKS

        return MODULE_CHECKS[task.check]
    if task.entry.suite == "optim_db":
        from .optims import optimizer

        return optimizer
    return fuzzed if task.check.startswith(FUZZ) else OP_CHECKS[task.check]


def forward(task: Task) -> Outcome:
    """Compare value, dtype, shape, strides, aliasing and writes of a plain call."""
    chosen = pick(_samples(task.entry, task.dtype, False), task.samples)
    return over(task, chosen, lambda s: _call(task, s))


def reference(task: Task) -> Outcome:
    """Run `forward` on torch's additional reference inputs: large, tiny and extreme values, empty and 0-d tensors."""
    known = {s.label for s in _samples(task.entry, task.dtype, False)}
    raws = task.entry.info.reference_inputs("cpu", task.dtype, requires_grad=False)
    added = [s for s in _listed(raws) if s.label not in known or s.extreme]
    if converting(task.entry):
        added = [s.cut() for s in added]
    return over(task, pick(added, task.samples), lambda s: _call(task, s))


def _call(task: Task, sample: Sample) -> str | None:
    """Compare a plain call. Indices may differ among equal values, but must agree once the values are made distinct."""
    op = task.entry.info.op
    program, essence = programs.forward(op), programs.essence(op)
    message = agree(task, program, sample, essence=essence)
    if message is not None and phased(task.entry):
        task.notes.append(PHASES)
        return agree(task, program, sample, values=False) or agree(task, essence, sample, strides=False)
    if message is None or not unordered(task.entry):
        return message
    name = task.entry.name.rpartition(".")[2]
    elements = programs.named(op, 1 if name in ("kthvalue", "topk") else 0, name == "argsort")
    if wrong := agree(task, elements, sample):
        return wrong
    task.notes.append(TIES)
    distinct = sample.untied()
    return agree(task, program, distinct) if distinct.distinct else None


def vmap(task: Task) -> Outcome:
    """Compare `torch.func.vmap` with all tensors batched, and with only the first one."""
    op = task.entry.info.op
    chosen = pick(_samples(task.entry, task.dtype, False), task.samples)

    def judge(sample: Sample) -> str | None:
        whole = agree(task, programs.vmapped(op, alone=False), sample, strides=False)
        if whole is not None or len(sample.tensors()) < 2:
            return whole
        try:
            message = agree(task, programs.vmapped(op, alone=True), sample, strides=False)
        except UnsuitableError:
            return None
        return None if message is None else f"with one batched tensor: {message}"

    return over(task, chosen, judge)


def gradient(task: Task) -> Outcome:
    """Compare first derivatives in reverse mode."""
    if why := _undifferentiable(task, task.entry.info.supports_autograd, "autograd"):
        return why
    program = programs.gradient(_tracked(task.entry.info))
    return over(task, _leaves(task), lambda s: agree(task, program, s, strides=False))


def pure(task: Task) -> Outcome:
    """Compare JAX's derivative of the operator as a pure function with torch's, also at `POINTS`."""
    if why := _undifferentiable(task, task.entry.info.supports_autograd, "autograd"):
        return why
    points = () if unordered(task.entry) or unstable(task.entry) else POINTS

    def judge(sample: Sample) -> str | None:
        program = programs.pure_gradient(_tracked(task.entry.info))
        for values in ((), *points):
            try:
                message = agree_as_pure(task, program, sample.at(values) if values else sample)
            except UnsuitableError:
                if not values:
                    raise
                continue  # outside of the domain
            if message:
                return f"at {values}: {message}" if values else message
        return None

    return over(task, _leaves(task), judge)


def gradgrad(task: Task) -> Outcome:
    """Compare second derivatives in reverse mode."""
    if why := _undifferentiable(task, task.entry.info.supports_gradgrad, "double backward"):
        return why
    program = programs.gradgrad(_tracked(task.entry.info))
    return over(task, _leaves(task), lambda s: agree_in_double(task, program, s))


def forward_ad(task: Task) -> Outcome:
    """Compare first derivatives in forward mode."""
    if why := _undifferentiable(task, task.entry.info.supports_forward_ad, "forward-mode AD"):
        return why
    program = programs.tangents(task.entry.info.op)
    return over(task, _leaves(task), lambda s: agree(task, program, s, strides=False))


def inplace(task: Task) -> Outcome:
    """Compare the in-place variant, also on a strided view and with autograd."""
    info = task.entry.info
    if info.inplace_variant is None:
        return inapplicable("no in-place variant")
    plain = programs.inplace(info.inplace_variant, parity=task.entry.on_cpu(task.dtype))
    chosen = [s for s in _samples(task.entry, task.dtype, False) if not s.broadcasts]
    chosen = pick(chosen, task.samples)
    grads: list[Sample] = []
    if info.supports_inplace_autograd and task.entry.differentiable(task.dtype):
        grads = pick([s for s in _leaves(task, 100) if not s.broadcasts], 1)
    through = programs.gradient(programs.on_clones(info.inplace_variant))

    def judge(sample: Sample) -> str | None:
        if sample in grads:
            return agree(task, through, sample, strides=False)
        message = agree(task, plain, sample)
        if message is None and sample is chosen[0]:
            message = agree(task, plain, programs.noncontiguous(sample))
            return None if message is None else f"on a strided view: {message}"
        return message

    return over(task, [*chosen, *grads], judge)


def out(task: Task) -> Outcome:
    """Compare calls with an `out=` that is correct, strided, empty, or of a wrong shape or dtype."""
    if not task.entry.info.supports_out:
        return inapplicable("no out= argument")
    program = programs.out(task.entry.info.op)
    chosen = pick(_samples(task.entry, task.dtype, False), task.samples)
    return over(task, chosen, lambda s: agree(task, program, s))


def noncontiguous(task: Task) -> Outcome:
    """Compare a call and its gradient on tensors with gaps."""
    info = task.entry.info
    call, essence = programs.forward(info.op), programs.essence(info.op)
    through = programs.gradient(_tracked(info))
    derive = info.supports_autograd and task.entry.differentiable(task.dtype) and "gradient" in task.entry.checks

    def judge(sample: Sample) -> str | None:
        strided = programs.noncontiguous(sample)
        message = agree(task, call, strided.map(torch.Tensor.detach), essence=essence)
        if message is None and strided.leaves():
            try:
                message = agree(task, through, strided, strides=False)
            except UnsuitableError:
                return None
            return None if message is None else f"gradient: {message}"
        return message

    return over(task, pick(_samples(task.entry, task.dtype, bool(derive)), task.samples), judge)


def errors(task: Task) -> Outcome:
    """Check that invalid arguments raise torch's exception type with its key phrase."""
    info = task.entry.info
    if getattr(info, "error_inputs_func", None) is None:
        return inapplicable("torch lists no error inputs")
    cases = list(info.error_inputs("cpu"))[: task.samples]
    samples = [Sample.of(case.sample_input, label(case.sample_input)) for case in cases]
    wanted = dict(zip(map(id, samples), cases, strict=True))

    def judge(sample: Sample) -> str | None:
        case = wanted[id(sample)]
        return raises(lambda d: programs.call(info.op, sample.on(d)), task.device, case.error_type, case.error_regex)

    return over(task, samples, judge)


def fuzzed(task: Task) -> Outcome:
    """Compare mutated samples; the name of the check contains the seed."""
    from .fuzz import fuzz

    derive = task.entry.info.supports_autograd and task.entry.differentiable(task.dtype)
    references = task.entry.info.reference_inputs("cpu", task.dtype, requires_grad=False)
    return fuzz(task, [*_samples(task.entry, task.dtype, derive), *_listed(references)], _call)


OP_CHECKS: dict[str, Check] = {
    "forward": forward,
    "reference": reference,
    "gradient": gradient,
    "gradgrad": gradgrad,
    "forward_ad": forward_ad,
    "vmap": vmap,
    "inplace": inplace,
    "out": out,
    "noncontiguous": noncontiguous,
    "errors": errors,
    "pure": pure,
}


@functools.lru_cache(maxsize=4)
def _samples(entry: Entry, dtype: torch.dtype, requires_grad: bool) -> list[Sample]:
    """torch's samples, always created on the CPU, so that both sides get the same bits."""
    # torch lists 20 tensors, each of which must be compiled, so the full lists are run for the primary dtype only.
    short = {"num_input_tensors": [4, 5]} if entry.suite == "foreach_db" and dtype != primary(entry) else {}
    return _listed(entry.info.sample_inputs("cpu", dtype, requires_grad=requires_grad, **short))


def _listed(raws: Iterable[Any]) -> list[Sample]:
    return [Sample.of(raw, label(raw)) for raw in raws]


def _leaves(task: Task, count: int = 0) -> list[Sample]:
    """The samples that have an input that requires a gradient."""
    samples = [s for s in _samples(task.entry, task.dtype, True) if s.leaves()]
    chosen = pick(samples, count or task.samples)
    return [s.untied() for s in chosen] if unordered(task.entry) else chosen


def _tracked(info: Any) -> programs.Operator:
    """The operator in a form that accepts leaves: an operator that exists only in-place writes to clones."""
    return programs.on_clones(info.op) if info.op is info.inplace_variant else info.op


def _undifferentiable(task: Task, supported: bool, what: str) -> Outcome | None:
    if not supported:
        return inapplicable(f"torch does not support {what} here")
    if not task.entry.differentiable(task.dtype):
        return inapplicable("torch does not differentiate this dtype here")
    return None


def primary(entry: Entry) -> torch.dtype | None:
    """The dtype in which every check runs; None for an entry without a dtype on CPU or CUDA."""
    dtypes = entry.dtypes()
    return dtypes[0] if dtypes else None
