"""Replacements for code of torch that branches on tensor values, which are unknown in a trace.

Each replacement has the same results as the original. An argument check becomes an assertion of the program, or is
skipped in a pure function; of two equivalent code paths, the one that reads no value is taken. The cost is that
functions of torch are patched while a function is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FunctionType
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import torch
from torch import Tensor
from torch.distributions import constraints

from .._torch import NAME
from ..patches import ScopedPatches
from .async_errors import add_assertion
from .core import current_trace, is_unknown, require_known
from .transfer import read
from .wrapped_numbers import WrappedNumbers, batching_numbers


class Question(NamedTuple):
    """What a function asks about its arguments."""

    valid: bool  # the answer for valid arguments
    kind: str = ""  # of the error for other answers
    message: str = ""  # empty if the function does not raise


_asked: ContextVar[Iterator[Question]] = ContextVar("asked")  # by the running function from now on


def accepting(*questions: Question) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Wrap a function that asks these questions in this order: those about unknown values get the valid answer."""

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            before = _asked.set(iter(questions))
            try:
                return function(*args, **kwargs)
            finally:
                _asked.reset(before)

        return call

    return wrapped


_OF_WINDOW = Question(False, "RuntimeError", "istft: window overlap add min: 1")
_OF_VARIANCES = Question(False, "ValueError", "var has negative entry/entries")
_QUESTIONS: dict[Callable[..., Any], Question] = {
    torch.istft: _OF_WINDOW,
    torch.Tensor.istft: _OF_WINDOW,
    torch.nn.functional.gaussian_nll_loss: _OF_VARIANCES,
}
REFUSING = {function: accepting(question)(function) for function, question in _QUESTIONS.items()}


def answer_unknown(result: Any, name: str) -> Any:
    """The unknown result of an operation `name` that returns a Python number, or of a condition.

    Raises:
        TraceError: none of the functions above asks for it.
    """
    question = next(_asked.get(iter(())), None)
    if question is None:
        return require_known(result, name)
    if question.message:
        add_assertion(result if question.valid else jnp.logical_not(result), question.kind, question.message)
    return question.valid


_OUT_OF_RANGE = "an argument of a distribution is out of its range"
_IS_IN_RANGE, _IS_OUT_OF_RANGE = (Question(valid, "ValueError", _OUT_OF_RANGE) for valid in (True, False))


def _is_unknown(tensor: Tensor) -> bool:
    return current_trace() is not None and tensor.device.type == NAME and is_unknown(read(tensor))


def _checked(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Argument checks of distributions: assertions in a compiled function, skipped in a pure one."""

    def holds(tensor: Tensor) -> Any:
        if not _is_unknown(tensor):
            return plain(tensor)
        add_assertion(read(tensor), "ValueError", _OUT_OF_RANGE)
        return True

    return holds


def _symmetric(plain: Callable[..., Any]) -> Callable[..., Any]:
    def check(self: Any, value: Tensor) -> Tensor:
        square = value.shape[-1] == value.shape[-2]
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if square else plain(self, value)

    return check


def _symmetric_and(of: Callable[[Tensor], Tensor]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A check that torch computes for symmetric matrices only, computed for all matrices."""

    def replaced(plain: Callable[..., Any]) -> Callable[..., Any]:
        def check(self: Any, value: Tensor) -> Tensor:
            found = type(constraints.symmetric).check(self, value)
            return found & of(value) if value.shape[-1] == value.shape[-2] else found

        return check

    return replaced


def _of_lengths(plain: Callable[..., Any]) -> Callable[..., Any]:
    """`ctc_loss`, which reads sequence lengths on the host."""

    def loss(
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Any,
        target_lengths: Any,
        blank: int = 0,
        reduction: str = "mean",
        zero_infinity: bool = False,
    ) -> Tensor:
        lengths = input_lengths, target_lengths
        trace = current_trace()
        of_each_call = trace is not None and trace.lifts and log_probs.device.type == NAME
        hidden = all(isinstance(n, Tensor) for n in lengths) and (of_each_call or any(map(_is_unknown, lengths)))
        if not hidden or reduction not in ("none", "mean", "sum"):
            return plain(log_probs, targets, *lengths, blank, reduction, zero_infinity)
        spans, sizes = (n.to(log_probs.device, torch.int64).reshape(-1) for n in lengths)
        batch = log_probs if log_probs.dim() == 3 else log_probs.unsqueeze(1)
        found = torch.ops.aten._ctc_loss.Tensor(batch, targets, spans, sizes, blank, zero_infinity)[0]
        if zero_infinity:
            found = torch.where(found == torch.inf, 0, found)
        if reduction == "mean":
            return (found / sizes.clamp_min(1)).mean()
        return found.sum() if reduction == "sum" else found if log_probs.dim() == 3 else found.squeeze(0)

    return loss


def _of_weighted_classes(plain: Callable[..., Any]) -> Callable[..., Any]:
    """`cross_entropy`, which selects the weights of its targets; under a dispatch mode it does so without reading."""

    def loss(*args: Any, **kwargs: Any) -> Tensor:
        with WrappedNumbers():
            result: Tensor = plain(*args, **kwargs)
        return result

    return loss


def _averaging(plain: Any) -> Callable[..., Any]:
    """`_BatchNorm.forward`, whose running statistics average all batches with `momentum=None`.

    torch reads the number of batches. Instead, the statistics of a batch replace the running ones, as they do for the
    first batch, and then both are averaged; in `data`, since the backward pass holds them at their version.
    """
    replacing = FunctionType(plain.__code__, {**plain.__globals__, "float": lambda count: 1.0})

    def forward(self: Any, input: Tensor) -> Tensor:
        count, running = self.num_batches_tracked, (self.running_mean, self.running_var)
        if self.momentum is not None or count is None or not self.training or not _is_unknown(count):
            return plain(self, input)
        past = [statistic.clone() for statistic in running]
        result: Tensor = replacing(self, input)
        for statistic, before in zip(running, past, strict=True):
            statistic.data.mul_(1 / count).add_(before * (1 - 1 / count))
        return result

    return forward


def _inverted(plain: Callable[..., Any]) -> Callable[..., Any]:
    """`invert_permutation` of packed sequences: a permutation computed from lengths on the CPU stays known."""

    def invert(permutation: Any) -> Any:
        if permutation is None or permutation.device.type != NAME or is_unknown(read(permutation)):
            return plain(permutation)
        return torch.from_numpy(np.argsort(np.asarray(read(permutation)))).to(permutation.device)

    return invert


def _hinted(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Whether an attention mask is causal: only a hint, so False is correct for an unknown mask."""

    def detect(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
        hidden = is_causal is None and mask is not None and _is_unknown(mask)
        return False if hidden else plain(mask, is_causal, size)

    return detect


_constraints = "torch.distributions.constraints"
# Attached for the traces of any thread.
patched_data_checks = ScopedPatches(
    ("torch._is_all_true", _checked),
    (f"{_constraints}._Symmetric.check", _symmetric),
    (
        f"{_constraints}._PositiveSemidefinite.check",
        _symmetric_and(lambda x: torch.linalg.eigvalsh(x).ge(0).all(-1)),
    ),
    (
        f"{_constraints}._PositiveDefinite.check",
        _symmetric_and(lambda x: torch.linalg.cholesky_ex(x).info.eq(0)),
    ),
    ("torch.distributions.geometric.Geometric.__init__", accepting(_IS_IN_RANGE)),
    # Wishart only warns of the second condition, that a sample may be singular.
    ("torch.distributions.wishart.Wishart.__init__", accepting(_IS_OUT_OF_RANGE, Question(False))),
    ("torch.nn.utils.rnn.invert_permutation", _inverted),
    ("torch.nn.modules.transformer._detect_is_causal_mask", _hinted),
    ("torch.nn.functional.ctc_loss", _of_lengths),
    ("torch.nn.functional.cross_entropy", _of_weighted_classes),
    ("torch.nn.modules.batchnorm._BatchNorm.forward", _averaging),
    ("torch._functorch.vmap.vmap_increment_nesting", batching_numbers),
).attached
