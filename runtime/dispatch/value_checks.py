"""The value conditions (`check:`) of a spec: raised immediately, or recorded as assertions of a compiled function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import jax
import numpy as np

from ..storage.placement import no_jax_trace
from ..storage.spec import Operand
from ..trace.async_errors import Assertion, condition_error
from ..trace.core import current_trace, user_line
from .encode import EncodedCall
from .host_errors import raise_host_error
from .signature import Signature


def checked(
    executable: Any, signature: Signature, call: EncodedCall, values: Sequence[Any], donates: bool
) -> Callable[..., Any]:
    """Return the function that computes the results of a call.

    If a check fails, this function or the returned one raises the CPU kernel's error for the same values, or else the
    spec's. Under a JAX trace values are unknown: a compiled function records assertions, other traces check nothing.
    """
    if not no_jax_trace():
        trace = current_trace()
        if trace is not None and trace.asserts:
            flags, where = executable.check(*call.operands, *call.starts), user_line()
            conditions = (Assertion(kind, message, where) for kind, message in signature.errors(values))
            trace.conditions += zip(flags, conditions, strict=True)
    elif donates or executable.checked is None:
        raise_unless(executable.check(*call.operands, *call.starts), signature, values)
    else:
        return partial(run_checked, executable.checked, signature, values)
    run: Callable[..., Any] = executable.run
    return run


def raise_unless(flags: Sequence[Any], signature: Signature, values: Sequence[Any]) -> None:
    """Raise the CPU kernel's error, or else the spec's, if one of the checks of a call fails."""
    for holds, (kind, message) in zip(flags, signature.errors(values), strict=True):
        if not np.asarray(holds):
            raise_host_error(signature, values)
            raise condition_error(kind, message)


def with_checks(run: Callable[..., Any], check: Callable[..., Any]) -> Callable[..., Any]:
    """Return one function that computes the results, followed by the flags of the checks."""

    @wraps(run)
    def both(*operands: Any) -> tuple[Any, ...]:
        return *run(*operands), *check(*operands)

    return both


def run_checked(
    checked: Callable[..., Any], signature: Signature, values: Sequence[Any], *operands: Any
) -> tuple[Any, ...]:
    """Run a program that also computes its checks, and raise if one fails, before anything is written."""
    results = checked(*operands)
    count = len(results) - len(signature.row.checks)
    raise_unless(results[count:], signature, values)
    return results[:count]


def results_if_valid(checked: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return the function for the fast path: it returns `count` results followed by the flags of the checks, or None
    where `Dispatcher.call` should handle the call: a check fails, or JAX is tracing."""

    def valid(*operands: Any) -> Any:
        if no_jax_trace():
            results = checked(*operands)
            if all(map(np.asarray, results[count:])):  # `bool` of a JAX array takes six times as long
                return results
        return None

    return valid


def refuse_impossible(
    signature: Signature, values: Sequence[Any], call: EncodedCall, check: Callable[..., Any]
) -> None:
    """Raise where no values can satisfy a `check:`, such as an index into an axis of size 0; in traces too.

    Only empty tensors can make a check fail for all values, so calls without any are skipped.
    """
    parts = [p for part in call.parts for p in (part if part.__class__ is tuple else (part,))]
    if not any(p.__class__ is Operand and 0 in p.spec.size for p in parts):  # sizes of views: bases may have elements
        return
    operands, flags = (*call.operands, *call.starts), list[Any]()
    jax.eval_shape(lambda *traced: flags.extend(check(*traced)), *operands)
    for flag, (kind, message) in zip(flags, signature.errors(values), strict=True):
        if flag is False:
            raise_host_error(signature, values, blank=not no_jax_trace())
            raise condition_error(kind, message)
