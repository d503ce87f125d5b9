"""PyTorch/XLA's names, with their status and equivalent in tenax: `tenax xla --names` prints them.

A row is (names, status, tenax), under the module of the names. Status is "runs", "runs, differently: why" or "not".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .more_names import MORE_NAMES
from .names import NAMES
from .names import NOT as NOT
from .names import RUNS as RUNS


@dataclass(frozen=True, slots=True)
class Row:
    """Names of one module with the same status and equivalent."""

    module: str  # a module of torch_xla
    names: tuple[str, ...]
    status: str  # RUNS, "runs, differently: ..." or NOT
    tenax: str  # the spelling without PyTorch/XLA's names

    @property
    def paths(self) -> list[str]:
        """The names with their module."""
        return [f"{self.module}.{name}" for name in self.names]


ROWS = [
    Row(module, tuple(names.split()), status, tenax)
    for module, rows in (NAMES | MORE_NAMES).items()
    for names, status, tenax in rows
]


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
