"""The fast path of an overload: a function written for its schema, for calls that were seen before.

A loop over the schema costs as much as the rest of a small op. So the loop is unrolled into source text, one function
per shape of schema, and compiled once; whatever it does not cover goes to `Overload.run`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from .cell import Cell
from .overload import NUMBER, Overload

_create = torch._C._acc.create_empty_tensor


def specialize(overload: Overload) -> Callable[..., Any]:
    """The function to register for an overload."""
    row = overload.row
    targets = [i for i, s in enumerate(overload.slots) if s.written]
    if row.random or row.dynamic or row.writes or row.checks or overload.blind or overload.prepare:
        return overload
    if not (overload.fresh and not targets) and not (row.form == "inplace" and targets == [0] and not overload.fresh):
        return overload
    shape = _shape(overload)
    if shape is None:
        return overload
    letters, names, defaults = shape
    bits = overload.sees_bits
    numeric = None
    if letters.startswith("TT"):  # `x + 1`: a number in the place of the second tensor
        numeric = _bound(overload, "TN" + letters[2:], names, defaults, bits, bool(targets), None)
    return _bound(overload, letters, names, defaults, bits, bool(targets), numeric)


def _shape(overload: Overload) -> tuple[str, tuple[str, ...], tuple[Any, ...]] | None:
    """A letter for each argument, the names of keyword-only ones, the defaults; None where the loop is needed."""
    letters, names, defaults = "", [], []
    for slot, argument in zip(overload.slots, overload.op._schema.arguments, strict=True):
        kind = str(argument.type)
        if slot.kind == "tensor":
            letter = "O" if kind.startswith("Optional") else "T"
        elif slot.kind == "number":
            letter = "K" if slot.keyword else "N"
        elif slot.kind in ("static", "dropped"):
            letter = "I" if kind.startswith(("List", "Optional[List")) else "S"
        else:
            return None
        letters += letter
        if slot.keyword:
            names.append(slot.name)
        if argument.has_default_value():
            defaults.append(slot.default)
        elif defaults or slot.keyword:
            return None
    return (letters, tuple(names), tuple(defaults)) if letters.startswith("T") else None


def _bound(overload: Overload, letters: str, names: Any, defaults: Any, bits: bool, inplace: bool, numeric: Any) -> Any:
    make = _factory(letters, names, len(defaults), bits, inplace, numeric is not None)
    function = make(overload, overload.fast, _create, Cell, NUMBER, defaults, numeric)
    function.__name__ = function.__qualname__ = overload.name
    return function


@cache
def _factory(
    letters: str, names: tuple[str, ...], optional: int, bits: bool, inplace: bool, numeric: bool
) -> Callable[..., Any]:
    source = _source(letters, names, optional, bits, inplace, numeric)
    name = f"<tenax dispatch {letters}/{optional} {' '.join(names)}{' bits' * bits}{' inplace' * inplace}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec"), scope)
    return scope["make"]


# For each letter: T tensor, O optional tensor, S static, I static list, N number, K keyword number.
_GEOMETRY = "{a}.size(), {a}.stride(), {a}.storage_offset(), {a}.dtype, c{i}.shape"
_PARTS = {
    "T": _GEOMETRY,
    "O": f"None if {{a}} is None else ({_GEOMETRY})",
    "S": "{a}.__class__, {a}",
    "I": "tuple({a}) if {a}.__class__ is list else {a}",
    "N": "{a}.__class__",
    "K": "n{i} is None, {a}.__class__",
}
_CELLS = {
    "T": "c{i} = {a}.untyped_storage().cell",
    "O": "c{i} = None if {a} is None else {a}.untyped_storage().cell",
    "N": "n{i} = None if {a} is None else number[{a}.__class__]({a})",
    "K": "n{i} = None if {a} is None or {a} == d{i} else number[{a}.__class__]({a})",
}
_VALUES = {"T": "v{i} = c{i}.value", "O": "v{i} = None if {a} is None else c{i}.value"}
_MISSING = {"T": "v{i} is None", "O": "(v{i} is None and {a} is not None)"}
_NUMBER = "*(() if n{i} is None else (n{i},))"
_OPERANDS = {"T": "v{i}", "O": "*(() if {a} is None else (v{i},))", "N": _NUMBER, "K": _NUMBER}
_BITS = {"T": "{a}.is_conj() or {a}.is_neg()"}

_FRESH = """out = entry.run({operands})
        single = entry.single
        if single is None:
            return entry.finish(out, 0)
        tensor = create(single[0], single[1])
        tensor.untyped_storage().cell = Cell(out[0])
        return tensor"""
_INPLACE = """c0.held = c0.value = entry.run({operands})[0]
        return {first}"""


def _source(letters: str, keywords: tuple[str, ...], optional: int, bits: bool, inplace: bool, numeric: bool) -> str:
    """The text of a factory; `print(_source("TTK", ("alpha",), 1, False, False, True))` shows that of `add`."""
    count = len(letters)
    names = [*(f"a{i}" for i in range(count - len(keywords))), *keywords]

    def each(table: dict[str, str], join: str) -> str:
        return join.join(table[k].format(i=i, a=names[i]) for i, k in enumerate(letters) if k in table)

    parameters = [n if i < count - optional else f"{n}=d{i}" for i, n in enumerate(names)]
    if keywords:
        parameters.insert(count - len(keywords), "*")
    unpack = "".join(f"d{i}, " for i in range(count - optional, count))
    passed = ", ".join([*names[: count - len(keywords)], *(f"{n}={n}" for n in keywords)])
    statement = "\n            "
    body = (_INPLACE if inplace else _FRESH).format(operands=each(_OPERANDS, ", "), first=names[0])
    return f"""
def make(overload, fast, create, Cell, number, defaults, numeric):
    {unpack}{"= defaults" if unpack else "pass"}
    def kernel({", ".join(parameters)}):
        {f"if a1.__class__ in number: return numeric({passed})" if numeric else ""}
        key = None
        try:
            {each(_CELLS, statement)}
            key = ({each(_PARTS, ", ")},)
            entry = fast[key]
            {each(_VALUES, statement)}
        except (AttributeError, KeyError, TypeError, OverflowError):
            entry = None
        if entry is None:
            return overload.run([{", ".join(names)}], key)
        if {each(_MISSING, " or ")}{f" or {each(_BITS, ' or ')}" if bits else ""}:
            return overload.run([{", ".join(names)}])
        {body}
    return kernel
"""
