"""Traits of an op that the runtime needs besides its lowering: their values, and the rows that have them.

Each trait is a key of an entry, and is rendered into the rows of its variants.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from torchgen.model import FunctionSchema

from tenax.codegen.fault import Fault, one_of
from tenax.codegen.schema import Schemas
from tenax.codegen.spec import Entry, Preparation

# The preparations of `prepare`, each with its number of arguments, or None if any will do (runtime/aten/prepare.py).
PREPARATIONS: dict[str, int | None] = {
    "alert_not_deterministic": 1,
    "dtype_of_out": 1,
    "dtype_of_wider_out": 1,
    "expand_masks": 1,
    "put_masks": 2,
    "from_length": 1,
    "raise_info": 1,
    "real_part_to_out": 1,
    "refuse_empty_axis": 2,
    "to_device": None,
    "with_lengths": None,
    "on_named_device": 1,
    "transpose_strided": 1,
    "truth_of_bytes": 1,
    "widen_to_out": 1,
}
# The checks of `guard`, each with its number of arguments (runtime/aten/place_guards.py, range_guards.py).
GUARDS = {
    "diagonal_of_length": 5,
    "diagonal_of_size": 5,
    "finite_range": 2,
    "index_in_axis": 3,
    "index_in_axis_of": 3,
    "integer_range": 3,
    "integer_range_like": 4,
    "integers_below": 2,
    "integers_below_like": 3,
    "part_of_axis": 4,
    "probability": 1,
    "random_below": 2,
    "random_range": 3,
    "rank_in_axis": 3,
    "slice_of_length": 6,
    "slice_of_size": 6,
    "slope_of_elu": 2,
    "slope_of_result": 2,
    "slope_of_rrelu": 4,
}
# Preparations that apply only to rows that write in place or to `out=`.
OF_WRITES = ("dtype_of_out", "dtype_of_wider_out", "real_part_to_out", "truth_of_bytes", "widen_to_out")
# Preparations whose argument is text.
OF_TEXT = ("alert_not_deterministic", "raise_info")
# The words of `results` (runtime/aten/result_layouts.py).
RESULTS = (
    "column_major",
    "column_major_vh",
    "contiguous",
    "contiguous_out",
    "contiguous_used_out",
    "coordinates",
    "in_order_of_transform",
    "input_if_requested",
    "kept_out",
    "least_squares",
    "like_convolved",
    "like_first",
    "like_image",
    "like_product",
    "like_query",
    "like_rolled",
    "like_second",
    "margin_of_one_sample",
    "of_all_steps",
    "of_input_sizes",
    "of_one_sample",
    "saved_in_training",
    "slices_in_order",
    "weights_if_needed",
)
# The words of `rewrite` (runtime/dispatch/product_rewrite.py).
REWRITES = ("matmul",)


@dataclass(frozen=True)
class Trait:
    """One key. `rows` states which rows of an entry have it: all, the in-place ones, or only that of its overload."""

    name: str
    rows: str = "all"

    def given(self, entry: Entry, form: str, derived: bool) -> bool:
        """Whether the entry has the key, and it holds for a row of this form."""
        if self.name == "prepare" and entry.prepare and entry.prepare.name in OF_WRITES:
            return form != "functional"
        of_row = {"all": True, "inplace": form == "inplace", "own": not derived}
        return bool(getattr(entry, self.name)) and of_row[self.rows]


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
        "prepare": partial(_prepare, "prepare", PREPARATIONS),
        "guard": partial(_prepare, "guard", GUARDS),
        "host_values": lambda e, f, s: _arguments(e, "host_values", e.host_values, f),
        "not_donated": lambda e, f, s: _arguments(e, "not_donated", e.not_donated, f),
        "results": lambda e, f, s: _word(e, "results", e.results, RESULTS),
        "rewrite": lambda e, f, s: _word(e, "rewrite", e.rewrite, REWRITES),
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


def _prepare(
    key: str, known: Mapping[str, int | None], entry: Entry, func: FunctionSchema, schemas: Schemas
) -> Iterator[Fault]:
    given: Preparation = getattr(entry, key)
    name, arguments = given.name, given.arguments
    yield from _word(entry, key, name, tuple(known))
    if known.get(name) not in (None, len(arguments)):
        yield entry.fault(key, f"`{given}`", f"{known[name]} arguments")
    yield from _arguments(entry, key, () if name in OF_TEXT else arguments, func)


def _word(entry: Entry, key: str, given: str, known: Sequence[str]) -> Iterator[Fault]:
    if given not in known:
        yield entry.fault(key, f"unknown word `{given}`", one_of(given, known))


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
