"""Checks that run on every rank of a group, one after another.

`python -m tests.distributed.rank_checks RANKS MODULE...` runs them. A check is a function `check_*` of a module. For
each rank and check, one line of JSON tells its name and its error. The ranks meet after each check. One that fails on a
single rank ends the run, because the others wait in it. Ranks that hang print the stacks of their threads. At the end
rank 1 raises, for the test of `tenax.launch`.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import torch

import tenax

REPOSITORY = Path(__file__).parents[2]
TIMEOUT = timedelta(seconds=30)
PATIENCE = 260.0  # seconds until the ranks print their stacks
LAST_WORDS = "rank 1 has no more checks"


def checks_of(module: str) -> list[str]:
    return [name for name in vars(importlib.import_module(module)) if name.startswith("check_")]


def run_rank(rank: int, *modules: str) -> None:
    faulthandler.dump_traceback_later(PATIENCE)
    torch.manual_seed(0)
    for module in modules:
        for name in checks_of(module):
            error = None
            try:
                getattr(importlib.import_module(module), name)(rank)
            except BaseException:  # pytest's failures are no Exception
                error = traceback.format_exc()
            os.write(1, (json.dumps([name, rank, error]) + "\n").encode())
            torch.distributed.barrier()
    if rank == 1:
        raise ValueError(LAST_WORDS)


def run(ranks: int, *modules: str) -> tuple[list[str], str]:
    """What went wrong in the checks, and what the launcher and the ranks wrote to stderr; the processes are gone
    afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.distributed.rank_checks", str(ranks), *modules],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=PATIENCE + 20)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    output, errors = process.communicate()  # all of it
    found = [json.loads(line) for line in output.splitlines() if line.startswith('["check_')]
    wrong = [f"{name}, rank {rank}: {error}" for name, rank, error in found if error]
    ended = {(name, rank) for name, rank, _ in found}
    expected = [(name, rank) for module in modules for name in checks_of(module) for rank in range(ranks)]
    missing = [f"{name}, rank {rank}: did not end" for name, rank in expected if (name, rank) not in ended]
    return wrong + missing[:ranks], errors


if __name__ == "__main__":
    tenax.launch(run_rank, int(sys.argv[1]), sys.argv[2:], timeout=TIMEOUT)
