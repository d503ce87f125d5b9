"""Checks that run on every rank of a group, one after another: `python -m tests.rank_checks MODULE RANKS`.

A check is a function `check_*` of the module. For each rank and check, one line of JSON tells its name and its error.
The ranks meet after each check. One that fails on a single rank ends the run, because the other waits in it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

import tenax

REPOSITORY = Path(__file__).parent.parent
TIMEOUT = timedelta(seconds=30)


def checks_of(module: str) -> list[str]:
    return [name for name in vars(importlib.import_module(module)) if name.startswith("check_")]


def run_rank(rank: int, module: str) -> None:
    torch.manual_seed(0)
    for name in checks_of(module):
        error = None
        try:
            getattr(importlib.import_module(module), name)(rank)
        except BaseException:  # pytest's failures are no Exception
            error = traceback.format_exc()
        os.write(1, (json.dumps([name, rank, error]) + "\n").encode())
        torch.distributed.barrier()


def run(module: str, ranks: int, seconds: float = 240) -> dict[str, list[Any]]:
    """The errors of each check by rank, of new processes that are gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.rank_checks", module, str(ranks)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    found: dict[str, list[Any]] = {}
    for line in output.splitlines():
        if line.startswith('["check_'):
            name, rank, error = json.loads(line)
            found.setdefault(name, [f"did not finish\n{errors[-2000:]}"] * ranks)[rank] = error
    return found


if __name__ == "__main__":
    tenax.launch(run_rank, int(sys.argv[2]), (sys.argv[1],), timeout=TIMEOUT)
