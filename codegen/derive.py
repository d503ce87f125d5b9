"""Derive the rows of the variants of an entry: in-place, `out=` and `_functional` overloads.

The variants are those that torch's model groups: signatures that differ only in mutability. Copies of views
(`permute_copy`) need no row, because torch composes them from the view and `clone`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tenax.codegen.check import Context
from tenax.codegen.signature import form
from tenax.codegen.spec import Entry


@dataclass(frozen=True)
class Row:
    """One row of the generated table: an overload, its entry, and the function in `tenax` that computes it."""

    name: str
    entry: Entry
    form: str
    module: str
    function: str

    @property
    def derived(self) -> bool:
        return self.name != self.entry.name


def derive(entries: Iterable[Entry], context: Context) -> list[Row]:
    """The rows of all lowered entries and their variants, by name. A variant with its own entry is not derived."""
    schemas = context.schemas
    lowered = [e for e in entries if e.lowered]
    taken = {e.name for e in entries}
    rows = {}
    for entry in lowered:
        target = context.target(entry)
        rows[entry.name] = Row(entry.name, entry, form(schemas[entry.name].func), *target)
        for variant in schemas.variants[schemas[entry.name].func.signature()]:
            name = variant.name
            if name not in taken and not schemas.composite(name):
                rows[name] = Row(name, entry, form(variant.func), *target)
    return [rows[name] for name in sorted(rows)]
