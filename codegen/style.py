"""Check that the generated code is formatted as by ruff, and report the spec line that must change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tenax.codegen.check import Context
from tenax.codegen.fault import Fault
from tenax.codegen.render import WIDTH, Function, has_functions
from tenax.codegen.spec import Entry, call

# Expressions are formatted one per line at ruff's maximum width, so that only changes within a line count.
_FORMAT = ("format", "--isolated", "--line-length", "320", "-")


def style(entries: Iterable[Entry], context: Context) -> Iterator[Fault]:
    """Report lines that are too long, and expressions that ruff would format differently (if ruff is installed)."""
    lowered = [e for e in entries if e.lowered]
    for entry in (e for e in lowered if has_functions(e, context)):
        source = Function(entry, context.schemas[entry.name].func, context).source
        longest = max(map(len, source.splitlines()))
        if longest > WIDTH:
            yield entry.fault(
                entry.body, f"`{entry.name}` becomes a line of {longest} characters", f"at most {WIDTH}, or a kernel"
            )
    expressions = [(e, "jnp", e.jnp) for e in lowered if e.jnp]
    expressions += [(e, "check", c.that) for e in lowered for c in e.conditions if c.error or call(c.that)]
    for (entry, key, text), better in zip(expressions, _formatted([x[2] for x in expressions]), strict=False):
        if text != better:
            yield entry.fault(key, f"`{text}` is not formatted", f"`{better}`")


def _formatted(expressions: Sequence[str]) -> list[str]:
    """The expressions, formatted by ruff; empty if it is not installed or splits an expression over lines."""
    ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if ruff is None or not expressions:
        return []
    text = "".join(f"_ = {e}\n" for e in expressions)
    made = subprocess.run([ruff, *_FORMAT], input=text, capture_output=True, text=True, check=False).stdout
    lines = made.splitlines()
    return [line.removeprefix("_ = ") for line in lines] if len(lines) == len(expressions) else []
