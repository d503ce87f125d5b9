"""Traits of an op that the runtime needs besides its lowering: their values, and the rows that have them.

Each trait is a key of an entry, and is rendered into the rows of its variants.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torchgen.model import FunctionSchema

from tenax.codegen.fault import Fault, one_of
from tenax.codegen.schema import Schemas
from tenax.codegen.spec import Entry


@dataclass(frozen=True)
class Trait:
    """One key. `rows` states which rows of an entry have it: all, the in-place ones, or only that of its overload."""

    name: str
    rows: str = "all"

    def given(self, entry: Entry, form: str, derived: bool) -> bool:
        """Whether the entry has the key, and it holds for a row of this form."""
        value = getattr(entry, self.name)
        if self.name in ("prepare", "results") and str(value).partition("(")[0].endswith("_out"):
            return form != "functional"
        of_row = {"all": True, "inplace": form == "inplace", "own": not derived}
        return bool(value) and of_row[self.rows]


TRAITS = (
    Trait("on_host"),
    Trait("overwrites", "inplace"),
    Trait("writes_expanded", "inplace"),
    Trait("draws_if"),
    Trait("prepare"),
    Trait("guard"),
    Trait("host_values"),
    Trait("not_donated"),
    Trait("results"),
    Trait("no_meta", "own"),
    Trait("cpu_may_abort"),
    Trait("rewrite"),
    Trait("reference", "own"),
    Trait("compared_results", "own"),
)


def faults(entry: Entry, func: FunctionSchema, schemas: Schemas) -> Iterator[Fault]:
    """The faults of the traits of an entry."""
    checks: dict[str, Callable[[Entry, FunctionSchema, Schemas], Iterator[Fault]]] = {
        "overwrites": _in_place,
        "writes_expanded": _in_place,
        "draws_if": _draws_if,
        "host_values": lambda e, f, s: _arguments(e, "host_values", e.host_values, f),
        "not_donated": lambda e, f, s: _arguments(e, "not_donated", e.not_donated, f),
        "reference": _reference,
        "compared_results": _compared_results,
    }
    for name, check in checks.items():
        if name in entry.lines:
            yield from check(entry, func, schemas)


def _in_place(entry: Entry, func: FunctionSchema, schemas: Schemas) -> Iterator[Fault]:
    key = "overwrites" if entry.overwrites else "writes_expanded"
    variants = schemas.variants[func.signature()]
    if not any(a.annotation and a.annotation.is_write for v in variants for a in v.func.arguments.flat_non_out):
        yield entry.fault(key, f"{entry.name} has no in-place form", "no such key")


def _arguments(entry: Entry, key: str, given: Sequence[str], func: FunctionSchema) -> Iterator[Fault]:
    known = [f"{a.name}_" if keyword.iskeyword(a.name) else a.name for a in func.arguments.flat_non_out]
    for name in given:
        if name not in known:
            yield entry.fault(key, f"{entry.name} has no argument `{name}`", one_of(name, known))


def _draws_if(entry: Entry, func: FunctionSchema, schemas: Schemas) -> Iterator[Fault]:
    if not entry.random:
        yield entry.fault("draws_if", f"{entry.name} is not random", "it only with `random: true`")
    yield from _arguments(entry, "draws_if", entry.draws_if, func)


def _reference(entry: Entry, func: FunctionSchema, schemas: Schemas) -> Iterator[Fault]:
    if entry.reference not in schemas:
        yield entry.fault("reference", f"torch has no {entry.reference}", "an overload that computes the same result")
        return
    theirs = schemas[entry.reference].func.arguments.flat_non_out
    if [a.type for a in theirs] != [a.type for a in func.arguments.flat_non_out]:
        yield entry.fault("reference", f"{entry.reference} has different arguments", f"those of {entry.name}")


def _compared_results(entry: Entry, func: FunctionSchema, schemas: Schemas) -> Iterator[Fault]:
    if not re.fullmatch(r"\d+", entry.compared_results) or int(entry.compared_results) >= max(len(func.returns), 1):
        wrong = f"`{entry.compared_results}` of {len(func.returns)} results"
        yield entry.fault("compared_results", wrong, "a smaller number, or no such key")
