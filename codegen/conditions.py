"""The named checks as data: `checks.yaml` defines a condition that several ops share once, with its error."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from tenax.codegen.fault import Fault, SpecError
from tenax.codegen.spec import EXCEPTION, compose, mapping, scalar

_NAME = re.compile(r"([a-z_]\w*)\(([a-z_]\w*(?:, [a-z_]\w*)*)\)")
KEYS = ("check", "that", "error")


@dataclass(frozen=True)
class Condition:
    """`name(parameters)`: a condition on the parameters, and the error if it is false."""

    name: str
    parameters: tuple[str, ...]
    that: str
    error: str
    line: int

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})"


def load(path: Path, where: str) -> tuple[dict[str, Condition], list[Fault]]:
    """`parse` of a file; both results are empty without it."""
    return parse(path.read_text(encoding="utf-8"), where) if path.exists() else ({}, [])


def parse(text: str, where: str) -> tuple[dict[str, Condition], list[Fault]]:
    """The named checks of a text, and the faults of the others."""
    try:
        nodes = compose(text, where, "`- check: <name>(<parameters>)` entries")
    except SpecError as error:
        return {}, [error.fault]
    found: dict[str, Condition] = {}
    faults = []
    for node in nodes:
        try:
            condition = _condition(node, where)
        except SpecError as error:
            faults.append(error.fault)
            continue
        held = found.setdefault(condition.name, condition)
        if held is not condition:
            wrong = f"the check {condition.name} is already defined at line {held.line}"
            faults.append(Fault(where, condition.line, wrong, "one definition"))
    return found, faults


def _condition(node: yaml.Node, where: str) -> Condition:
    def at(place: yaml.Node) -> Callable[..., None]:
        def fail(wrong: str, expected: str = "") -> None:
            raise SpecError(Fault(where, place.start_mark.line + 1, wrong, expected))

        return fail

    fail = at(node)
    if not isinstance(node, yaml.MappingNode):
        fail("an entry that is not a mapping", f"the keys {', '.join(KEYS)}")
    assert isinstance(node, yaml.MappingNode)
    held = dict(mapping(node, fail))
    if set(held) != set(KEYS):
        fail(f"an entry with the keys {', '.join(held)}", f"the keys {', '.join(KEYS)}")
    texts = {key: scalar(held[key], at(held[key])) for key in KEYS}
    match = _NAME.fullmatch(texts["check"])
    if match is None:
        at(held["check"])(f"`{texts['check']}` does not parse", "name(parameters), such as in_range(x, low, high)")
    if not EXCEPTION.match(texts["error"]):
        at(held["error"])(f"`{texts['error']}`", "an exception and a message, such as `IndexError: index out of range`")
    assert match is not None
    line = node.start_mark.line + 1
    return Condition(match[1], tuple(match[2].split(", ")), texts["that"], texts["error"], line)
