"""`tenax doctor --xla script.py`: the names of PyTorch/XLA that a script uses, and whether they run."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass

from .table import NOT, ROWS, answers

ANSWERS = dict(answers())
MODULES = {row.module for row in ROWS}
UNKNOWN = "not: there is no such name here"


@dataclass(frozen=True)
class Use:
    """A name of PyTorch/XLA in a script."""

    line: int
    name: str
    status: str
    tenax: str

    @property
    def runs(self) -> bool:
        """Whether the script can use it."""
        return not self.status.startswith(NOT)


def uses(text: str, file: str = "<script>") -> list[Use]:
    """The names of PyTorch/XLA that a script uses, each with its first line.

    Args:
        text: the script, which is parsed but not run.
        file: its name, for errors.

    Raises:
        SyntaxError: the script is not valid Python.
    """
    reader = _Reader()
    reader.visit(ast.parse(text, file))
    found: dict[str, int] = {}
    for name, line in sorted(reader.found, key=lambda use: use[1]):
        found.setdefault(name, line)
    whole = {n for n in found if any(other.startswith(f"{n}.") for other in found)}
    return [_use(name, line) for name, line in found.items() if name not in whole and name not in MODULES - {*ANSWERS}]


def _use(name: str, line: int) -> Use:
    row = ANSWERS.get(name)
    if row is not None:
        return Use(line, name, row.status, row.tenax)
    near = difflib.get_close_matches(name, ANSWERS, 1, 0.85)
    return Use(line, name, UNKNOWN, f"did you mean {near[0]}?" if near else "see tenax xla --names")


class _Reader(ast.NodeVisitor):
    """Collects dotted names that begin with an import from PyTorch/XLA."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # from names in the script to those of PyTorch/XLA
        self.found: list[tuple[str, int]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] == "torch_xla":
                self.names[alias.asname or "torch_xla"] = alias.name if alias.asname else "torch_xla"
                self.found.append((alias.name, node.lineno))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if not node.level and module.partition(".")[0] == "torch_xla":
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{module}.{alias.name}"
                self.found.append((f"{module}.{alias.name}", node.lineno))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.names:
            self.found.append((_known(f"{self.names[inner.id]}.{'.'.join(reversed(parts))}"), node.lineno))
        else:
            self.visit(inner)


def _known(name: str) -> str:
    """A dotted name, cut after the module's member, without methods of it."""
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        if ".".join(parts[:end]) in ANSWERS:
            return ".".join(parts[:end])
    for end in range(len(parts) - 1, 0, -1):
        if ".".join(parts[:end]) in MODULES:
            return ".".join(parts[: end + 1])
    return name
