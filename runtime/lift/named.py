"""What the code of functions names: globals, attributes, modules. What it names is what it may read or write."""

from __future__ import annotations

import dis
import functools
import types
from typing import NamedTuple


class Names(NamedTuple):
    """The names in the code of a function and of the functions within it, each in order."""

    globals: tuple[str, ...]
    attributes: tuple[str, ...]  # and words, for `getattr`
    stored: tuple[str, ...]  # attributes that are set
    imported: tuple[str, ...]  # modules


@functools.lru_cache(maxsize=1 << 14)
def names_of(code: types.CodeType) -> Names:
    """The names in some code."""
    found: tuple[dict[str, None], ...] = ({}, {}, {}, {})
    scope, attributes, stored, imported = found
    attributes.update(dict.fromkeys(code.co_names))
    for step in dis.get_instructions(code):
        if step.opname.endswith(("_GLOBAL", "_NAME")):
            (imported if step.opname == "IMPORT_NAME" else scope)[step.argval] = None
        elif step.opname == "STORE_ATTR":
            stored[step.argval] = None
    for constant in code.co_consts:
        if isinstance(constant, str) and constant.isidentifier():
            attributes[constant] = None
        elif isinstance(constant, types.CodeType):
            for into, names in zip(found, names_of(constant), strict=True):
                into.update(dict.fromkeys(names))
    return Names(*map(tuple, found))
