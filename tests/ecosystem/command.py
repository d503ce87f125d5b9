"""What the command lines of this folder share: their parser, and how they keep results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
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


def keep(kind: Any, found: Mapping[Any, Any], key: Callable[[Any], Any], partial: bool) -> None:
    """Keep results, and write docs/ecosystem.md.

    Args:
        kind: the module that reads and writes results of this kind.
        found: the results by key.
        key: the key of a result.
        partial: whether earlier results of other keys stay.
    """
    kept = {key(row): row for row in kind.read()["rows"]} if partial else {}
    kind.write(environment(), {**kept, **found}.values())
    PAGE.write_text(page())
