"""Checks of the numbers of a call before it runs, for operators whose programs do not depend on these numbers: the
functions that `guard` in the specs names. They take the arguments by position, as autograd passes them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..dispatch.signature import Signature
from ..trace.core import SYMBOLIC_TYPES

# By name, the module with the check.
GUARDS: dict[str, str] = {
    **dict.fromkeys(("index_in_axis", "index_in_axis_of", "part_of_axis", "rank_in_axis"), "place_guards"),
    **dict.fromkeys(("slice_of_length", "slice_of_size", "diagonal_of_length", "diagonal_of_size"), "place_guards"),
    **dict.fromkeys(("finite_range", "probability", "random_below", "random_range"), "range_guards"),
    **dict.fromkeys(("integers_below", "integers_below_like"), "range_guards"),
    **dict.fromkeys(("integer_range", "integer_range_like"), "range_guards"),
    **dict.fromkeys(("slope_of_elu", "slope_of_result", "slope_of_rrelu"), "range_guards"),
}


def with_guard(signature: Signature, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an op whose spec has `guard`, called after the check."""
    word, *names = signature.row.guard
    check = getattr(importlib.import_module(f"{__package__}.{GUARDS[word]}"), word)
    given = [a.parameter for a in signature.arguments]
    positions = [given.index(name if name in given else "out") for name in names]  # `out` in place of `dtype`
    picked, needed = itemgetter(*positions), max(positions)

    def guarded(*args: Any, **kwargs: Any) -> Any:
        found = picked(args if len(args) > needed and not kwargs else signature.bind(args, kwargs))
        passed = found if len(names) > 1 else (found,)
        if SYMBOLIC_TYPES.keys().isdisjoint(map(type, passed)):  # the number of a trace, which it may not know
            check(*passed)
        return kernel(*args, **kwargs)

    return guarded
