"""The pages of the documentation taken apart: their blocks of code, and the commands that they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for pattern in ("*.md", "docs/**/*.md", "ops_spec/*.md") for path in ROOT.glob(pattern))

_BLOCK = re.compile(r"(?:^<!-- ([^\n]*?) -->\n\n?)?^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
# A command: a variable of the environment may stand before it, its output after it.
_PROGRAM = re.compile(r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(tenax|make|python -m tenax[\w.]*)(?: (.*))?$")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `mark` is the HTML comment above it."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, text.count("\n", 0, found.start(3)), found[2], found[1] or "", found[3])
        for found in _BLOCK.finditer(text)
    ]


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", page.read_text())


def commands(page: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The programs with their arguments that a page names, in its text and in blocks that are no Python."""
    lines = [line for block in blocks(page) if block.language != "python" for line in block.text.splitlines()]
    for line in [*lines, *_SPAN.findall(prose(page))]:
        if found := _PROGRAM.match(line):
            yield found[1], tuple(shlex.split(found[2] or "", comments=True))
