"""The fast path of an overload: a function generated for its schema, for repeated calls.

A loop over the schema costs as much as the rest of a small op. So the loop is unrolled into source text, one function
per schema shape, which is compiled once. Calls that it does not cover go to `Dispatcher.run`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import cache
from keyword import iskeyword
from typing import Any

from .._torch.tensors import create_empty_tensor
from ..storage.cell import FreshCell
from ..storage.mutation import mutation_epoch
from ..storage.recording import recording
from .dispatcher import Dispatcher
from .operands import NUMBER_TYPES, array_or_scalar, device_scalar, varying_scalar
from .signature import Signature


def specialize(dispatcher: Dispatcher) -> Callable[..., Any]:
    """The function to register for an overload."""
    signature = dispatcher.signature
    row, fresh = signature.row, signature.fresh
    targets = [i for i, a in enumerate(signature.arguments) if a.written]
    draws = row.random and (not row.draws_if or signature.of_lists or row.writes)
    if draws or row.dynamic or signature.prepare:
        return dispatcher
    if (signature.of_lists or row.writes) and not row.checks and not signature.outs:
        return _of_lists(dispatcher)
    if row.writes or (row.checks and targets):
        return dispatcher
    if not (fresh and not targets) and not (row.form == "inplace" and targets == [0] and not fresh):
        return dispatcher
    shape = schema_shape(signature)
    if shape is None:
        return dispatcher
    letters, names, defaults = shape
    if signature.overwrites:
        letters = "W" + letters[1:]
    bits = signature.sees_bits
    numeric = None
    if letters.startswith("TT"):  # `x + 1`: a number in place of the second tensor
        numeric = _bound(dispatcher, "TB" + letters[2:], names, defaults, bits, bool(targets), None)
    return _bound(dispatcher, letters, names, defaults, bits, bool(targets), numeric)


def _of_lists(dispatcher: Dispatcher) -> Callable[..., Any]:
    kernels: list[Callable[..., Any]] = []
    counts = dispatcher.signature.counts

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if counts is not None and len(args) > counts and args[counts] and not args[counts][0].dim():
            from .equal_elements import run_once

            return run_once(dispatcher, dispatcher.signature.bind(args, kwargs))
        if not kernels:  # the first call never has an executable, and most operators are called at most once
            kernels.append(dispatcher)
        elif kernels[0] is dispatcher:
            from .list_path import ListKernel

            kernels[0] = ListKernel(dispatcher)
        return kernels[0](*args, **kwargs)

    return kernel


def schema_shape(signature: Signature) -> tuple[str, tuple[str, ...], tuple[Any, ...]] | None:
    """A letter for each argument, the names of keyword-only ones, and the defaults; None if the loop is needed."""
    letters, names, defaults = "", [], []
    for slot, argument in zip(signature.arguments, signature.op._schema.arguments, strict=True):
        kind = str(argument.type)
        if slot.kind == "tensor":
            letter = "O" if kind.startswith("Optional") else "T"
        elif slot.special is not None:
            words = "Q" if "sign" in slot.special else "D" if "wide" in slot.special else "P"
            letter = "M" if slot.kind == "numbers" else words
        elif slot.kind == "number":
            letter = "K" if slot.keyword else "N"
        elif slot.kind in ("static", "dropped"):
            letter = "I" if kind.startswith(("List", "Optional[List")) else "S"
        else:
            return None
        letters += letter
        if slot.keyword:
            if iskeyword(slot.name):  # a Python keyword cannot name a parameter in the generated text
                return None
            names.append(slot.name)
        if argument.has_default_value():
            defaults.append(slot.default)
        elif defaults or slot.keyword:
            return None
    return (letters, tuple(names), tuple(defaults)) if letters.startswith("T") else None


class KernelText:
    """The parts of a kernel's source text that follow from the schema shape (see `schema_shape`)."""

    def __init__(self, letters: str, keywords: tuple[str, ...], optional: int) -> None:
        count = len(letters)
        positional = count - len(keywords)
        names = [*(f"a{i}" for i in range(positional)), *keywords]
        parameters = [n if i < count - optional else f"{n}=d{i}" for i, n in enumerate(names)]
        if keywords:
            parameters.insert(positional, "*")
        self.letters, self.names = letters, names
        self.parameters, self.arguments = ", ".join(parameters), ", ".join(names)
        self.passed = ", ".join([*names[:positional], *(f"{n}={n}" for n in keywords)])
        constants = (
            [", ".join(f"d{i}" for i in range(count - optional, count)) + ", = defaults"] if optional else ["pass"]
        )
        constants += [
            f"x{i} = dispatcher.signature.arguments[{i}].special" for i, k in enumerate(letters) if k in "PQD"
        ]
        self.constants = "; ".join(constants)
        self.key = ", ".join(f"k{i}" for i in range(count))

    def each(self, table: dict[str, str], join: str) -> str:
        """The entries of a table for all arguments whose letters it contains, formatted and joined."""
        parts = enumerate(zip(self.letters, self.names, strict=True))
        return join.join(table[k].format(i=i, a=name) for i, (k, name) in parts if k in table)

    def lines(self, table: dict[str, str], indent: int = 12) -> str:
        """As `each`, as indented lines, by default for the block that builds the key."""
        return (chr(10) + " " * indent).join(line for line in self.each(table, chr(10)).split(chr(10)) if line.strip())

    def apart(self) -> list[str]:
        """For a kernel that writes its first tensor: conditions under which another tensor may partly overlap it.

        These are views of one storage with different geometry; whether they overlap depends on their offsets.
        """
        return [f"c{i} is c0 and k{i} != k0" for i, k in enumerate(self.letters) if i and k == "T"]


def _bound(
    dispatcher: Dispatcher, letters: str, names: Any, defaults: Any, bits: bool, inplace: bool, numeric: Any
) -> Any:
    make = _factory(letters, names, len(defaults), bits, inplace, numeric is not None)
    function = make(
        dispatcher,
        dispatcher.fast,
        create_empty_tensor,
        FreshCell,
        NUMBER_TYPES,
        device_scalar,
        varying_scalar,
        array_or_scalar,
        mutation_epoch,
        defaults,
        numeric,
        recording,
    )
    function.__name__ = function.__qualname__ = dispatcher.signature.name
    return function


@cache
def _factory(
    letters: str, names: tuple[str, ...], optional: int, bits: bool, inplace: bool, numeric: bool
) -> Callable[..., Any]:
    source = _source(letters, names, optional, bits, inplace, numeric)
    return made_of(source, f"dispatch {letters}/{optional} {' '.join(names)}{' bits' * bits}{' inplace' * inplace}")


def made_of(source: str, name: str) -> Callable[..., Any]:
    """Execute source text and return its function `make`; tracebacks and debuggers find the text under the name."""
    name = f"<tenax {name}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec"), scope)
    return scope["make"]


# The lines that parse an argument, by letter: T tensor, W tensor that is overwritten (passed only if it is a view),
# O optional tensor, S static, I static list, N number, B number in place of a tensor, K keyword number, P number with
# special values, which are x{i}, Q such a number whose sign is part of the key, D one with 64 bits, M list of numbers.
# They put the key part into k and the operand into v.
_TENSOR = """
c{i} = {a}.untyped_storage().cell
k{i} = c{i}.aval
s{i} = {a}.size()
if s{i} != k{i}.shape or {a}.stride() != k{i}.stride:
    k{i} = (k{i}, s{i}, {a}.stride(), {a}.storage_offset())
"""
_SPECIAL = """
if {a} is None or (type({a}) in number_types and {a} in x{i}):
    k{i} = type({a}), {a}
    v{i} = None
else:
    k{i} = type({a}), {sign}, None
    v{i} = varying({a}, c0.aval.dtype{wide})
"""
SPECIAL = {"P": ("None", ""), "Q": ("not {a} >= 0", ""), "D": ("None", ", True")}  # what replaces {sign} and {wide}
KEY_LINES = {
    "T": _TENSOR,
    "W": _TENSOR,
    "O": "if {a} is None:\n    k{i} = None\nelse:" + _TENSOR.replace("\n", "\n    "),
    "S": "k{i} = (type({a}), {a})",
    "I": "k{i} = tuple({a}) if {a}.__class__ is list else {a}",
    "B": "k{i} = type({a})\nv{i} = device_scalar({a})",
    "N": "k{i} = type({a})\nv{i} = None if {a} is None else device_scalar({a}, c0.aval.dtype)",
    "K": """
if {a} is d{i}:
    k{i} = v{i} = None
else:
    v{i} = None if {a} is None else device_scalar({a}, c0.aval.dtype)
    k{i} = type({a}), {a} == d{i}
    if k{i}[1]:
        v{i} = None
""",
    **{k: _SPECIAL.replace("{sign}", sign).replace("{wide}", wide) for k, (sign, wide) in SPECIAL.items()},
    "M": "k{i} = len({a})\nv{i} = [varying(n, c0.aval.dtype) for n in {a}]",
}
# Run only once the executable is found: an array that a local variable holds cannot be donated by the slow path.
_VALUES = {
    "T": "v{i} = c{i}.array",
    "W": "v{i} = None if k{i} is c{i}.aval else c{i}.array",
    "O": "v{i} = None if {a} is None else c{i}.array",
}
_MISSING = {
    "T": "v{i} is None",
    "W": "(c{i}.mixed or (v{i} is None and k{i} is not c{i}.aval))",  # a view of another dtype may look whole
    "O": "(v{i} is None and {a} is not None)",
}
_LOANS = {
    "T": "v{i} = array_or_scalar(c{i}) if v{i} is None else v{i}",
    "W": "v{i} = array_or_scalar(c{i}) if v{i} is None and k{i} is not c{i}.aval else v{i}",
    "O": "v{i} = array_or_scalar(c{i}) if v{i} is None and {a} is not None else v{i}",
}
BITS = dict.fromkeys("TW", "{a}.is_conj() or {a}.is_neg()")

_FRESH = """try:
            out = entry.run({operands})
        except (RuntimeError, ValueError) as error:
            return dispatcher.call([{arguments}], None, error)
        if out is None:
            return dispatcher.call([{arguments}], key)
        if entry.single is None:
            return entry.finish(out, 0)
        size, dtype, aval = entry.single
        tensor = create(size, dtype)
        tensor.untyped_storage().cell = FreshCell(out[0], aval)
        return tensor"""
_INPLACE = """try:
            ran = entry.run({operands})
        except (RuntimeError, ValueError) as error:
            return dispatcher.call([{arguments}], None, error)
        if ran is None:
            return dispatcher.call([{arguments}], key)
        new = ran[0]
        if new is not None:
            c0.content = c0.array = new
            epoch.advance()
        return {first}"""


def _source(letters: str, keywords: tuple[str, ...], optional: int, bits: bool, inplace: bool, numeric: bool) -> str:
    """The source text of a factory; `print(_source("TTK", ("alpha",), 1, False, False, True))` shows that of `add`."""
    text = KernelText(letters, keywords, optional)
    operands = ", ".join(f"{'*' * (k == 'M')}v{i}" for i, k in enumerate(letters) if k in "TWOBNKPQDM")
    body = (_INPLACE if inplace else _FRESH).format(operands=operands, first=text.names[0], arguments=text.arguments)
    shared = " or ".join(text.apart()) if inplace else ""
    missing = text.each(_MISSING, " or ") + (f" or {text.each(BITS, ' or ')}" if bits else "")
    return f"""
def make(dispatcher, fast, create, FreshCell, number_types, device_scalar, varying, array_or_scalar, epoch,
         defaults, numeric, recording):
    {text.constants}
    def kernel({text.parameters}):
        if recording.tape is not None: return dispatcher.recorded({text.passed})
        {f"if type(a1) in number_types: return numeric({text.passed})" if numeric else ""}
        key = None
        try:
            {text.lines(KEY_LINES)}
            key = ({text.key},)
            entry = {f"None if {shared} else " if shared else ""}fast[key]
            {text.each(_VALUES, "; ")}
        except (AttributeError, KeyError, TypeError, OverflowError):
            entry = None  # and out of this block: what the call raises is not the fault of the key
        if entry is None:
            return dispatcher.call([{text.arguments}], key)
        if {missing}:
            {text.each(_LOANS, "; ")}
            if {missing}:
                return dispatcher.call([{text.arguments}])
        {body}
    return kernel
"""
