"""What the `check:` of a spec says of the values of a call: raised at once, or found out by a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..storage.placement import no_jax_trace
from ..trace.async_errors import Assertion, condition_error
from ..trace.core import current_trace, user_line
from .encode import EncodedCall
from .signature import Signature


def check_values(
    signature: Signature, check: Callable[..., Sequence[Any]], call: EncodedCall, values: Sequence[Any]
) -> None:
    """Raise what the CPU kernel raises of the same values, else the spec's error, if a check does not hold.

    A program that JAX traces cannot raise of its values: a compiled function finds out when it runs, and in other
    traces the values stay unchecked.
    """
    checks = signature.row.checks
    if no_jax_trace():
        for holds, (kind, message) in zip(check(*call.operands, *call.starts), checks, strict=True):
            if not holds:
                from .host_errors import raise_host_error

                raise_host_error(signature, values)
                raise condition_error(kind, message)
        return
    trace = current_trace()
    if trace is not None and trace.asserts:
        flags, where = check(*call.operands, *call.starts), user_line()
        trace.conditions += zip(flags, (Assertion(kind, message, where) for kind, message in checks), strict=True)
