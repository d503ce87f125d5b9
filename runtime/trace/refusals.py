"""Functions of torch that ask for a value only to reject it; in a trace the value is assumed to be valid.

A compiled function checks it when it runs (`async_errors.py`). In a pure function nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

import jax.numpy as jnp
import torch

from .async_errors import add_assertion
from .core import require_known


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
_QUESTIONS = {
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
