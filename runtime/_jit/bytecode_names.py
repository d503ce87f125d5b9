"""The names in the bytecode of functions (globals, attributes, modules): all that the code can read or write."""

from __future__ import annotations

import dis
import functools
import types
from typing import Any, NamedTuple

_CALLS = ("PRECALL", "CALL")  # after `type` as the last argument, as in `isinstance(x, type)`
EVALUATORS = {"eval", "exec"}  # run the code in a string


class Names(NamedTuple):
    """The names in the bytecode of a function and of its inner functions, in order."""

    globals: tuple[str, ...]
    attributes: tuple[str, ...]  # and strings that are identifiers, for `getattr`
    stored: tuple[str, ...]  # attributes that are set
    imported: tuple[str, ...]  # modules
    typed: tuple[str, ...]  # what the code may pass to `type`, except for the object of a method and its class


@functools.lru_cache(maxsize=1 << 14)
def names_of(code: types.CodeType) -> Names:
    """The names in a code object."""
    scope: dict[str, None] = {}
    attributes: dict[str, None] = dict.fromkeys(code.co_names)
    stored: dict[str, None] = {}
    imported: dict[str, None] = {}
    typed: dict[str, None] = {}
    steps = [*dis.get_instructions(code)]
    for step, following in zip(steps, steps[1:] + steps[-1:], strict=True):
        if step.opname.endswith(("_GLOBAL", "_NAME")):
            if step.argval.startswith("@"):  # added by pytest's rewriting of asserts
                continue
            (imported if step.opname == "IMPORT_NAME" else scope)[step.argval] = None
            if step.argval == "type" and following.opname not in _CALLS and following.argval not in ("self", "cls"):
                typed[following.argrepr] = None
        elif step.opname == "STORE_ATTR":
            stored[step.argval] = None
        elif step.opname == "MATCH_CLASS":
            attributes["__match_args__"] = None
    constants = [*code.co_consts]
    if not EVALUATORS.isdisjoint(scope):
        constants += filter(None, map(_compiled, constants))
    for constant in constants:
        if isinstance(constant, str) and all(map(str.isidentifier, constant.split("."))):  # module names have dots
            attributes[constant] = None
        elif isinstance(constant, types.CodeType):
            for own, inner in zip((scope, attributes, stored, imported, typed), names_of(constant), strict=True):
                own.update(dict.fromkeys(inner))
    return Names(*map(tuple, (scope, attributes, stored, imported, typed)))


def _compiled(source: Any) -> types.CodeType | None:
    """The code of a string that `eval` may run; None if it is no Python."""
    try:
        return compile(source, "<string>", "exec") if isinstance(source, str) else None
    except (SyntaxError, ValueError):
        return None
