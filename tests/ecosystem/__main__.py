"""Run the programs, or some of them, and write the table.

`python -m tests.ecosystem` runs each program in a process of its own, from the same seed on the CPU and on the device,
and prints a table; `--only WORD,WORD` selects by name, `--write` keeps the results and writes docs/ecosystem.md. The
exit status is 1 if a program fails or disagrees, but not if the installed build of its library cannot even be imported
beside this torch, without tenax: the row says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import torch
from rich.console import Console
from rich.table import Table

from tests.ecosystem import programs, trainers  # noqa: F401  (they fill the table of programs)
from tests.ecosystem.command import parser, selected
from tests.ecosystem.page import PAGE, RESULTS, ROOT, UNIMPORTABLE, Row, environment, page, read, version, write
from tests.ecosystem.program import ALLOWED, CLASSICS, PROGRAMS, difference

# Libraries whose trainers have tests of their own, on the device and as written for PyTorch/XLA.
SUITES = ("accelerate", "lightning", "transformers")
TESTS = ("tests/integrations/test_trainers.py", "tests/compat/torch_xla/test_scripts.py")
# What a library is imported as, where that is not its name with `_` for `-`.
MODULES = {"pyro-ppl": "pyro", "pytorch-ignite": "ignite"}


def one(name: str) -> None:
    """Run one program on both devices, and print the difference."""
    import tenax  # noqa: F401

    warnings.simplefilter("ignore")
    results = []
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        results.append(PROGRAMS[name](device))
    print(f"difference {difference(results[1], results[0]):.1e}")


def import_error(name: str) -> str:
    """Why a library cannot be imported in a process without tenax, or nothing."""
    command = [sys.executable, "-c", f"import {MODULES.get(name, name.replace('-', '_'))}"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TENAX_AUTOLOAD": "0"})
    return done.stderr.strip().splitlines()[-1][:200] if done.returncode else ""


def run(name: str) -> Row:
    """Run the program of a library in a process of its own."""
    library = "torch" if name in CLASSICS else name
    if (installed := version(library)) is None:
        return Row(name, "", "not installed")
    if reason := import_error(library):
        return Row(name, installed, f"{UNIMPORTABLE}, tenax or not: {reason}")
    command = [sys.executable, "-m", "tests.ecosystem", "--one", name]
    if name in SUITES:
        command = [sys.executable, "-m", "pytest", "-q", *TESTS, "-k", name]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    seconds = round(time.perf_counter() - began)
    if done.returncode:
        reason = (done.stderr if name not in SUITES else done.stdout).strip().splitlines()[-1:]
        return Row(name, installed, f"fails: {' '.join(reason)[:200]}", None, seconds)
    if name in SUITES:
        return Row(name, installed, "agrees", None, seconds)
    error = float(done.stdout.split("difference ")[-1])
    return Row(name, installed, "agrees" if error < ALLOWED else "differs", error, seconds)


def main() -> None:
    """Run every program, print the table."""
    arguments = parser("tests.ecosystem", __doc__, "Select by words of names, with commas between.")
    arguments.add_argument("--one", choices=PROGRAMS, help="Run one program in this process, and print the difference.")
    options = arguments.parse_args()
    if options.one:
        one(options.one)
        return
    rows = [run(name) for name in selected(arguments, sorted([*PROGRAMS, *SUITES]), options.only)]
    table = Table("library", "version", "result", "relative error", "s")
    for row in rows:
        table.add_row(row.library, row.version, row.result, row.digits, str(row.seconds or ""))
    Console().print(table)
    if options.write:
        before = read() if options.only else None
        kept = {row.library: row for row in before["rows"]} if before else {}
        write(RESULTS, environment(before), {**kept, **{row.library: row for row in rows}})
        PAGE.write_text(page())
    sys.exit(any(not row.result.startswith(("agrees", "not installed", UNIMPORTABLE)) for row in rows))


if __name__ == "__main__":
    main()
