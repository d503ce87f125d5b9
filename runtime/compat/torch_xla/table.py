"""PyTorch/XLA's names, with their status and equivalent in tenax: `tenax xla --names` prints them.

`MODULES` makes each module of PyTorch/XLA from these rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..alias import Modules
from .names import NAMES

HOME = __package__
PUBLIC = "torch_xla"
VERSION = "2.9.0"  # the PyTorch/XLA release with these names
RUNS, NOT = "runs", "not"


@dataclass(frozen=True, slots=True)
class Row:
    """Names of one module with the same status and equivalent."""

    module: str  # a module of torch_xla
    own: tuple[str, ...]  # names, some with that of the module that has them
    home: str  # this module; "-" if there is none
    tenax: str  # the spelling without PyTorch/XLA's names
    why: str  # how they differ

    @property
    def names(self) -> list[str]:
        """The names."""
        return [name.partition(":")[0] for name in self.own]

    @property
    def status(self) -> str:
        """RUNS, "runs, differently: ..." or NOT."""
        return NOT if self.home == "-" else f"{RUNS}, differently: {self.why}" if self.why else RUNS

    @property
    def paths(self) -> list[str]:
        """The names with their module."""
        return [f"{self.module}.{name}" for name in self.names]


def _rows() -> Iterator[Row]:
    module = ""
    for line in re.sub(r"\n {8,}", " ", NAMES).strip().splitlines():
        head, names, cells = re.fullmatch(r"(?:([\w.]+):|   ) ?([^|]*)(.*)", line).groups()  # type: ignore[union-attr]
        if head:
            module = PUBLIC if head == PUBLIC else f"{PUBLIC}.{head.removeprefix(f'{PUBLIC}.')}"
        if cells:
            home, tenax, why = [*cells.removeprefix("| ").split(" | "), "", ""][:3]
            yield Row(module, tuple(names.replace(". ", "").split()), home, tenax or f"as `{home}`", why)


ROWS = list(_rows())


def _modules() -> Modules:
    table: dict[str, dict[str, str]] = {}
    lacking: dict[str, dict[str, str]] = {}
    for row in ROWS:
        parts = row.module.split(".")
        for end in range(1, len(parts) + 1):
            names = table.setdefault(".".join([HOME, *parts[1:end]]), {})
        if row.status == NOT:
            lacking.setdefault(row.module, {}).update(dict.fromkeys(row.names, row.tenax))
        else:
            home = re.sub(f"^{PUBLIC}", HOME, row.home)
            names[home] = " ".join([names.get(home, ""), *row.own])
    return Modules(HOME, PUBLIC, "PyTorch/XLA", table, lacking)


MODULES = _modules()


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
