"""What the `check:` of a spec says of the values of a call: raised at once, or found out by a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import jax

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
    """What computes the results of a call. If a check does not hold, this or that raises what the CPU kernel raises of
    the same values, else the spec's error.

    A program that JAX traces cannot raise of its values: a compiled function finds out when it runs, and in other
    traces the values stay unchecked.
    """
    if not no_jax_trace():
        trace = current_trace()
        if trace is not None and trace.asserts:
            flags, where = executable.check(*call.operands, *call.starts), user_line()
            conditions = (Assertion(kind, message, where) for kind, message in signature.row.checks)
            trace.conditions += zip(flags, conditions, strict=True)
    elif donates or executable.checked is None:
        raise_unless(executable.check(*call.operands, *call.starts), signature, values)
    else:
        return partial(run_checked, executable.checked, signature, values)
    run: Callable[..., Any] = executable.run
    return run


def raise_unless(flags: Sequence[Any], signature: Signature, values: Sequence[Any]) -> None:
    """Raise what the CPU kernel raises, else the spec's error, if one of the checks of a call does not hold."""
    for holds, (kind, message) in zip(flags, signature.row.checks, strict=True):
        if not holds:
            raise_host_error(signature, values)
            raise condition_error(kind, message)


def with_checks(run: Callable[..., Any], check: Callable[..., Any]) -> Callable[..., Any]:
    """Results and checks as one function."""

    @wraps(run)
    def both(*operands: Any) -> tuple[Any, ...]:
        return *run(*operands), *check(*operands)

    return both


def run_checked(
    checked: Callable[..., Any], signature: Signature, values: Sequence[Any], *operands: Any
) -> tuple[Any, ...]:
    """The results of a program that computes its checks, too; nothing is written before they are known to hold."""
    results = checked(*operands)
    count = len(results) - len(signature.row.checks)
    raise_unless(results[count:], signature, values)
    return results[:count]


def results_if_valid(checked: Callable[..., Any], count: int) -> Callable[..., Any]:
    """What the fast path calls: it gives results (`count` of them), followed by what the checks gave; None where
    `Dispatcher.call` should decide, because a check does not hold or JAX traces."""

    def valid(*operands: Any) -> Any:
        if no_jax_trace():
            results = checked(*operands)
            if all(results[count:]):
                return results
        return None

    return valid


def refuse_impossible(
    signature: Signature, values: Sequence[Any], call: EncodedCall, check: Callable[..., Any]
) -> None:
    """Raise where no values satisfy a `check:`, in traces too: an index into an axis without elements.

    Shapes without elements alone decide checks, so others are not looked at.
    """
    parts = [p for part in call.parts for p in (part if part.__class__ is tuple else (part,))]
    if not any(p.__class__ is Operand and 0 in p.spec.size for p in parts):  # of views, whose bases may have elements
        return
    operands, flags = (*call.operands, *call.starts), list[Any]()
    jax.eval_shape(lambda *traced: flags.extend(check(*traced)), *operands)
    for flag, (kind, message) in zip(flags, signature.row.checks, strict=True):
        if flag is False:
            raise_host_error(signature, values, blank=not no_jax_trace())
            raise condition_error(kind, message)
