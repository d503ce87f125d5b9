"""Checks of the numbers of a call before it runs, for operators whose programs do not depend on these numbers: the
functions of this package that `check` in the specs names."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..dispatch.signature import Signature
from ..trace.core import SYMBOLIC_TYPES


def checked(signature: Signature, check: Callable[..., None], kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, called after `check` of the arguments that `Row.guard` names, which it takes by position."""
    names = signature.row.guard[1:]
    given = [a.parameter for a in signature.arguments]
    of_out = names.index("dtype") if "dtype" in names and "dtype" not in given else None  # `randint(..., out=)`
    positions = [given.index("out" if i == of_out else name) for i, name in enumerate(names)]
    picked, needed = itemgetter(*positions), max(positions)

    def guarded(*args: Any, **kwargs: Any) -> Any:
        found = picked(args if len(args) > needed and not kwargs else signature.bind(args, kwargs))
        passed = found if len(names) > 1 else (found,)
        if of_out is not None:
            passed = (*passed[:of_out], passed[of_out].dtype, *passed[of_out + 1 :])
        if SYMBOLIC_TYPES.keys().isdisjoint(map(type, passed)):  # the number of a trace, which it may not know
            check(*passed)
        return kernel(*args, **kwargs)

    return guarded
