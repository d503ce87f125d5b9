"""From one entry to the rows of its variants: in-place, `out=` and `_functional` overloads follow mechanically.

The variants are those that torch's model groups: one signature but for mutability. Copies of views (`permute_copy`)
need no row: torch makes them of the view and `clone`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tenax.codegen.schema import Schemas
from tenax.codegen.signature import form, function_name
from tenax.codegen.spec import Entry


@dataclass(frozen=True)
class Row:
    """One line of the generated table: an overload, and the entry whose function computes it."""

    name: str
    entry: Entry
    form: str

    @property
    def derived(self) -> bool:
        return self.name != self.entry.name

    @property
    def function(self) -> str:
        return function_name(self.entry.name)


def derive(entries: Iterable[Entry], schemas: Schemas) -> list[Row]:
    """The rows of all lowered entries and their variants, by name. What has an entry of its own is not derived."""
    lowered = [e for e in entries if e.lowered]
    taken = {e.name for e in entries}
    rows = {e.name: Row(e.name, e, form(schemas[e.name].func)) for e in lowered}
    for entry in lowered:
        for variant in schemas.variants[schemas[entry.name].func.signature()]:
            name = variant.name
            if name not in taken and not schemas.composite(name):
                rows[name] = Row(name, entry, form(variant.func))
    return [rows[name] for name in sorted(rows)]
