"""Checks of the numbers of a call before it runs, for operators whose programs do not depend on these numbers: the
functions that `guard` in the specs names. They take the arguments by position, as autograd passes them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..dispatch.signature import Signature
from ..trace.core import SYMBOLIC_TYPES


def with_guard(signature: Signature, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an op whose spec has `guard`, called after the check."""
    word, *names = signature.row.guard
    modules = (importlib.import_module(f"{__package__}.{name}") for name in ("place_guards", "range_guards"))
    check = next(getattr(module, word) for module in modules if hasattr(module, word))
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
