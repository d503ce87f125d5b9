"""What the command lines of this folder share: their parser, and how they keep results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.ecosystem.page import PAGE, environment, page


def parser(module: str, doc: str | None, only: str) -> argparse.ArgumentParser:
    """A parser with `--only` and `--write`.

    Args:
        module: the name of the program.
        doc: its docstring, of which the first line is shown.
        only: the help of `--only`.
    """
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=(doc or "").splitlines()[0])
    made.add_argument("--only", default="", help=only)
    made.add_argument("--write", action="store_true", help="Keep the results, and write docs/ecosystem.md.")
    return made


def selected(made: argparse.ArgumentParser, names: Iterable[str], only: str) -> list[str]:
    """The names that contain one of the words between the commas of `--only`; a word in no name ends the program."""
    known, words = list(names), only.split(",")
    for word in words:
        if not any(word in name for name in known):
            made.error(f"--only: no name contains {word!r}; expected a part of one of {', '.join(known)}")
    return [name for name in known if any(word in name for word in words)]


def keep(kind: Any, found: Mapping[Any, Any], key: Callable[[Any], Any], partial: bool) -> None:
    """Keep results, and write docs/ecosystem.md.

    Args:
        kind: the module that reads and writes results of this kind.
        found: the results by key.
        key: the key of a result.
        partial: whether earlier results of other keys stay.
    """
    before = kind.read() if partial else None
    kept = {key(row): row for row in before["rows"]} if before else {}
    kind.write(environment(before), {**kept, **found}.values())
    PAGE.write_text(page())
