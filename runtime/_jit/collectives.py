"""The collectives of a compiled program, parsed from XLA's text: what devices exchange, and for which source line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..tracebacks import is_of_library

_KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|collective-broadcast"
_COLLECTIVE = re.compile(rf"^\s*(?:ROOT )?%\S+ = (.*?) ({_KINDS})(-start)?\(.*")
# On TPUs, a reduce-scatter is a fusion of an all-reduce with a slice, and an asynchronous collective several operations
# of one chain.
_SCATTER = re.compile(r"calls=%(all-reduce-scatter[\w.]*)")
_CHAIN = re.compile(r'channel_id=(\d+).*chain_id="\d+"')
_GROUPS = re.compile(r"replica_groups=(?:\{\{([\d,]*)\}|\[\d+,(\d+)\]|mesh\[(.*?)\] \{(.*?)\})")
_AXIS = re.compile(r"'([^']+)'=(\d+)")
_SHAPE = re.compile(r"\b(?:pred|[a-z]+?(\d+)\w*)\[([\d,]*)\]")
_ROW = re.compile(r"^(\d+) (.*)$")
_COMPUTATION = re.compile(r"^(?:ENTRY )?%(\S+) \(.*\{$")
_CALLED = re.compile(r"\b(?:body|calls|to_apply)=%([\w.\-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
_OPERAND = re.compile(r"(?:^|%)([\w.\-]+)")
_FIELD = re.compile(r"(\w+)=(\d+)")


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective: its kind in XLA's terms, the bytes of its result per device (a reduce-scatter: of its operand),
    the modules that it belongs to, and the source line, `file:line`; the last two are empty if XLA does not know them.
    A collective in a loop runs several `times`; a loop of unknown length counts once."""

    kind: str
    bytes: int
    scope: str
    line: str
    times: int = 1


def collectives(text: str) -> tuple[Collective, ...]:
    """The collectives in the text of a compiled program, in program order."""
    found = []
    lines: dict[int, str] | None = None
    times: dict[str, int] = {}
    readers: dict[str, str] = {}
    computation = ""
    scattered: dict[str, int] = {}  # the bytes that each fused reduce-scatter reduces
    chains: set[str] = set()
    for row in text.splitlines():
        if header := _COMPUTATION.match(row):
            computation = header[1]
        match, scatter = _COLLECTIVE.match(row), _SCATTER.search(row)
        chain = match and _CHAIN.search(row)
        if scatter and scatter[1] in scattered:
            kind, amount = "reduce-scatter", scattered[scatter[1]]
        elif match is None or (chain and chain[1] in chains):
            continue
        elif computation.startswith("all-reduce-scatter"):
            scattered[computation] = _bytes(match[1])
            continue
        else:
            pair = match[3] and match[2] != "all-reduce"  # the type of others is (operands, results, ...)
            kind, amount = match[2], _bytes(_elements(match[1])[1] if pair else match[1])
            amount *= _group_size(row) if kind == "reduce-scatter" else 1
            chains |= {chain[1]} if chain else set()
        times = times or _times(text)
        readers = readers or _readers(text)
        lines = _lines(text) if lines is None else lines
        row = _in_code(row, readers)
        frame = re.search(r"stack_frame_id=(\d+)", row)
        scope = re.search(r'op_name="([^"]*)"', row)
        line = lines.get(int(frame[1]), "") if frame else ""
        found.append(Collective(kind, amount, _scope(scope[1]) if scope else "", line, times.get(computation, 1)))
    return tuple(found)


def _times(text: str) -> dict[str, int]:
    """How often each computation of a program runs. XLA prints a computation before its callers."""
    calls: list[tuple[str, str, int]] = []  # caller, callee, how often the caller runs the callee
    caller = entry = ""
    for row in text.splitlines():
        if header := _COMPUTATION.match(row):
            caller = header[1]
            entry = caller if row.startswith("ENTRY") else entry
        trips = _TRIPS.search(row)
        calls += [(caller, callee, int(trips[1]) if trips else 1) for callee in _CALLED.findall(row)]
    times = {entry: 1}
    for caller, callee, trips_of_one in reversed(calls):
        times[callee] = max(times.get(callee, 0), times.get(caller, 1) * trips_of_one)
    return times


def _readers(text: str) -> dict[str, str]:
    """The row that reads the result of each operation, by its name; the first, if there are several."""
    readers: dict[str, str] = {}
    for row in text.splitlines():
        for name in _OPERAND.findall(row.partition("(%")[2].partition(")")[0]):
            readers.setdefault(name, row)
    return readers


def _in_code(row: str, readers: dict[str, str]) -> str:
    """The row of the operation for which a collective runs: in JAX 0.12, a gather of an argument is named after it, and
    so are copies of it, until an operation of the program reads them."""
    at = row
    while 'op_name="operands[' in at:
        reader = readers.get(at.split(" = ")[0].split("%")[-1])
        if reader is None:
            return row
        at = reader
    return at


def _scope(name: str) -> str:
    """The modules in the name of an operation, such as `jit(f)/blocks.0/up/jit(mm)/dot_general`.

    The name of a combined collective lists several, as in `jit(f)/(a/add:b/add)`; the first with a module is used.
    """
    outer, several, names = name.partition("/(")
    for each in names[:-1].split(":") if several else [name]:
        parts = [*(outer.split("/") if several else ()), *each.lstrip("(").split("/")[:-1]]
        scope = ".".join(part for part in parts if not re.search(r"\(|^cond$|^branch_\d+_fun$", part))
        if scope:
            return scope
    return ""


def _group_size(row: str) -> int:
    """The number of devices among which a collective runs; 1 if the program does not list them."""
    groups = _GROUPS.search(row)
    if groups is not None and groups[3]:  # the axes of a mesh
        sizes = dict(_AXIS.findall(groups[3]))
        return math.prod(int(sizes[axis]) for axis in re.findall(r"'([^']+)'", groups[4]))
    return 1 if groups is None else int(groups[2]) if groups[2] else groups[1].count(",") + 1


def _elements(shapes: str) -> list[str]:
    """The elements of a tuple's type."""
    depth, elements = 0, [""]
    for letter in shapes[1:-1]:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            elements.append("")
        else:
            elements[-1] += letter
    return elements


def _bytes(shapes: str) -> int:
    """The size in bytes of the arrays in a type, such as `(f32[8,32]{1,0}, bf16[4])`."""
    total = 0
    for bits, sizes in _SHAPE.findall(shapes):
        total += (int(bits or 8) * math.prod(int(n) for n in sizes.split(",") if n) + 7) // 8
    return total


def _lines(text: str) -> dict[int, str]:
    """The user's line of each stack frame: that of the innermost file outside the libraries."""
    files = {i: rest.strip('"') for i, rest in _table(text, "FileNames")}
    places = {i: dict(_FIELD.findall(rest)) for i, rest in _table(text, "FileLocations")}
    frames = {i: dict(_FIELD.findall(rest)) for i, rest in _table(text, "StackFrames")}
    # XLA may write the parent's number plus one, recognisable by a first frame that is its own parent.
    shift = int(any(int(fields.get("parent_frame_id", 0)) == frame for frame, fields in frames.items()))
    lines: dict[int, str] = {}
    for frame in frames:
        at = frame
        while at in frames:
            place = places[int(frames[at]["file_location_id"])]
            path = files[int(place["file_name_id"])]
            if not is_of_library(path):
                lines[frame] = f"{path}:{place['line']}"
                break
            at = int(frames[at].get("parent_frame_id", 0)) - shift
    return lines


def _table(text: str, name: str) -> Iterator[tuple[int, str]]:
    """The rows of one table in XLA's text."""
    start = text.find(f"\n{name}\n")
    for row in text[start + len(name) + 2 :].splitlines() if start >= 0 else ():
        match = _ROW.match(row)
        if match is None:
            return
        yield int(match[1]), match[2]
