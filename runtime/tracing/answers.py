"""What torch's own Python asks of values, answered in a trace, which does not know them.

Each answer leads to the results that torch's would lead to: a check of arguments is taken for passed, or becomes a
condition of the program; of two equal roads the one that needs no value is taken. Price: names of torch are replaced
while a function is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.distributions import constraints
from torch.nn import functional
from torch.nn.modules import transformer
from torch.nn.utils import rnn

from ..device.convert import read
from .deferred import Condition
from .replaced import Replaced
from .trace import at_line, current, unknown


def _is_unknown(tensor: Tensor) -> bool:
    return current() is not None and tensor.device.type == "jax" and unknown(read(tensor))


def _checked(plain: Callable[..., Any]) -> Callable[..., Any]:
    """How distributions check their arguments: a condition of a compiled function; what JAX traces stays unchecked."""

    def holds(tensor: Tensor) -> Any:
        if not _is_unknown(tensor):
            return plain(tensor)
        _find_out(tensor, "an argument of a distribution is out of its range")
        return True

    return holds


def _find_out(holds: Tensor, otherwise: str) -> None:
    """Make what must hold a condition of a compiled function."""
    trace = current()
    if trace is not None and trace.lifts:
        trace.conditions.append((read(holds), Condition("ValueError", otherwise, at_line())))


class _Torch:
    """The name `torch` in a function that asks `torch.any` whether to refuse its arguments."""

    def __init__(self, otherwise: str) -> None:
        self.otherwise = otherwise

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def any(self, refused: Tensor) -> bool:
        """No, as far as one can know."""
        _find_out(~torch.any(refused), self.otherwise)
        return False


def _of_variances(plain: Any) -> Callable[..., Any]:
    """The loss of normal distributions, which asks for negative variances."""
    names = {**plain.__globals__, "torch": _Torch("var has negative entry/entries")}
    trusting = names[plain.__name__] = FunctionType(plain.__code__, names, None, plain.__defaults__)

    def loss(input: Tensor, target: Tensor, var: Any, *args: Any, **kwargs: Any) -> Tensor:
        hidden = isinstance(var, Tensor) and _is_unknown(var)
        return (trusting if hidden else plain)(input, target, var, *args, **kwargs)

    return loss


def _symmetric(plain: Callable[..., Any]) -> Callable[..., Any]:
    def check(self: Any, value: Tensor) -> Tensor:
        square = value.shape[-1] == value.shape[-2]
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if square else plain(self, value)

    return check


def _symmetric_and(of: Callable[[Tensor], Tensor]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A check which torch makes of symmetric matrices only, made of all."""

    def replaced(plain: Callable[..., Any]) -> Callable[..., Any]:
        def check(self: Any, value: Tensor) -> Tensor:
            found = constraints._Symmetric.check(self, value)
            return found & of(value) if value.shape[-1] == value.shape[-2] else found

        return check

    return replaced


def _of_lengths(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The CTC loss, which reads the lengths of its sequences on the host."""

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
        trace = current()
        of_each_call = trace is not None and trace.lifts and log_probs.device.type == "jax"
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


def _inverted(plain: Callable[..., Any]) -> Callable[..., Any]:
    """How packed sequences find the way back to the order of the batch, which their lengths on the CPU decide: what is
    known of an order stays known."""

    def invert(permutation: Any) -> Any:
        if permutation is None or permutation.device.type != "jax" or unknown(read(permutation)):
            return plain(permutation)
        return torch.from_numpy(np.argsort(np.asarray(read(permutation)))).to(permutation.device)

    return invert


def _hinted(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Whether a mask of attention is the causal one, a hint beside the mask: who cannot know says no."""

    def detect(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
        hidden = is_causal is None and mask is not None and _is_unknown(mask)
        return False if hidden else plain(mask, is_causal, size)

    return detect


_ANSWERS = Replaced(
    (torch, "_is_all_true", _checked),
    (constraints._Symmetric, "check", _symmetric),
    (constraints._PositiveSemidefinite, "check", _symmetric_and(lambda x: torch.linalg.eigvalsh(x).ge(0).all(-1))),
    (constraints._PositiveDefinite, "check", _symmetric_and(lambda x: torch.linalg.cholesky_ex(x).info.eq(0))),
    (rnn, "invert_permutation", _inverted),
    (transformer, "_detect_is_causal_mask", _hinted),
    (functional, "gaussian_nll_loss", _of_variances),
    (functional, "ctc_loss", _of_lengths),
)


def answered() -> AbstractContextManager[None]:
    """Give these answers in the traces of any thread."""
    return _ANSWERS.attached()
