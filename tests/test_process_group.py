"""The backend "tenax" of torch.distributed, on two processes of this host."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
import torch

import tenax
from tests import launched, rank_checks

COLLECTIVES = "tests.collective_checks"
RANKS = 2


@functools.cache
def collectives() -> dict[str, list[Any]]:
    return rank_checks.run(COLLECTIVES, RANKS)


@pytest.mark.parametrize("check", rank_checks.checks_of(COLLECTIVES))
def test_collectives(check: str) -> None:
    errors = collectives().get(check, ["did not run: an earlier check failed"])
    assert not any(errors), "\n".join(f"rank {rank}: {error}" for rank, error in enumerate(errors) if error)


def test_the_error_of_a_rank_is_raised_with_its_traceback_and_the_others_are_ended() -> None:
    with pytest.raises(torch.multiprocessing.ProcessRaisedException) as caught:
        tenax.launch(launched.fails, 2, ("wrong on rank one",), timeout=timedelta(seconds=30))
    text = str(caught.value)
    assert "Process 1 terminated" in text
    assert "ValueError: wrong on rank one" in text
    assert "in fails" in text


def started(function: str, **environment: str) -> subprocess.Popen[str]:
    program = f"from tests.launched import {function}; {function}()"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=rank_checks.REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_a_process_that_has_used_jax_is_a_group_of_one_rank_and_cannot_join_others() -> None:
    output, errors = started("late").communicate(timeout=60)
    assert output == "alone [1.0, 1.0]\n"
    assert "expected the call before the first tensor on device" in errors


def test_the_processes_that_jax_detects_are_a_group() -> None:
    cluster = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2"}
    processes = [started("detected", **cluster, SLURM_PROCID=r, SLURM_LOCALID=r) for r in "01"]
    try:
        outputs = [process.communicate(timeout=60)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for rank, output in enumerate(outputs):
        assert f"detected {rank} 2 [3.0, 3.0]" in output


def test_the_example_trains_under_torchrun() -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, "examples/ddp.py"], cwd=rank_checks.REPOSITORY, capture_output=True, text=True, timeout=120
    )
    losses = [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines() if line.startswith("epoch")]
    assert done.returncode == 0, done.stderr
    assert len(losses) == 3
    assert losses[-1] < losses[0] / 2
