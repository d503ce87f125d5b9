"""What the runtime knows of single operators stands in the specs, not in the code that runs every operator."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import isfunction
from pathlib import Path

import pytest

from tenax._torch.dispatcher import operator_names
from tenax.aten import number_checks, preparations, registry, result_dtypes, result_layouts
from tenax.debug import cpu_reference
from tenax.generated.table import ROWS

RUNTIME = Path(__file__).parents[2] / "runtime"
GENERAL = sorted(p for part in ("dispatch", "_jit", "compile") for p in (RUNTIME / part).glob("*.py"))
OPERATORS = {n.removeprefix("aten::").partition(".")[0] for n in operator_names() if n.startswith("aten::")}
# Names of operators that are words of English, or of arguments and attributes, too.
WORDS = {"pin_memory", "requires_grad", *(n for n in OPERATORS if n.isalpha() and n.islower())}


def operators_named(source: str) -> Iterator[tuple[int, str]]:
    """The strings and attributes that name an operator of aten, or that look for a part of such a name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.removeprefix("aten::").partition(".")[0]
            is_part = len(name) > 8 and "_" in name and any(name in operator for operator in OPERATORS)
            is_word = name in WORDS and "aten::" not in node.value
            if (name in OPERATORS or is_part) and not is_word:
                yield node.lineno, node.value
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "aten":
            yield node.lineno, node.attr


def test_code_for_every_operator_names_none() -> None:
    found = {path.name: names for path in GENERAL if (names := [*operators_named(path.read_text())])}
    assert not found, found


@pytest.mark.parametrize(
    "line", ['"batch_norm" in name', 'name in {"fill_.Scalar"}', 'name == "aten::add"', "torch.ops.aten.copy_.default"]
)
def test_a_name_of_an_operator_is_found(line: str) -> None:
    assert [*operators_named(line)]


def test_the_runtime_names_operators_of_the_table() -> None:
    assert {*registry._WITHOUT_META, *(n.removeprefix("aten::") for n in cpu_reference._COMPARED)} <= ROWS.keys()


def test_a_spec_names_every_function_for_the_specs() -> None:
    named = {word for row in ROWS.values() for word in (row.results, *row.prepare[:1], *row.guard[:1])}
    for module in (preparations, number_checks, result_dtypes, result_layouts):
        path = module.__name__.rpartition(".")[2]
        own = [n for n, f in vars(module).items() if isfunction(f) and f.__module__ == module.__name__ and n[0] != "_"]
        assert not {f"{path}.{name}" for name in own} - named
