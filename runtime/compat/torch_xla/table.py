"""PyTorch/XLA's names, with their status and equivalent in tenax: `tenax xla --names` prints them."""

from __future__ import annotations

from collections.abc import Iterator

from ..alias import NOT as NOT
from ..alias import Modules, Row, rows
from .names import NAMES

PUBLIC = "torch_xla"
VERSION = "2.9.0"  # the PyTorch/XLA release with these names
ROWS = list(rows(PUBLIC, NAMES))
MODULES = Modules(__package__, PUBLIC, "PyTorch/XLA", ROWS)


def answers() -> Iterator[tuple[str, Row]]:
    """Each dotted name with its row; a row without names is that of the module itself."""
    for row in ROWS:
        yield from ((path, row) for path in row.paths or [row.module])


def markdown() -> str:
    """The table as Markdown."""
    lines = ["| torch_xla | status | tenax |", "|---|---|---|"]
    for row in ROWS:
        module = row.module.removeprefix("torch_xla").lstrip(".")
        shown = ", ".join(f"`{f'{module}.' if module and i == 0 else ''}{n}`" for i, n in enumerate(row.names))
        lines.append(f"| {shown or f'`{module}`'} | {row.status} | {row.tenax} |")
    return "\n".join(lines)
