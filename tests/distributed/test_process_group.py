"""The backend "tenax" of torch.distributed, on processes of this host."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.distributed import rank_checks

pytestmark = pytest.mark.slow


def test_collectives_and_parallel_training_on_two_ranks() -> None:
    wrong, errors = rank_checks.run(
        2,
        "tests.distributed.collective_checks",
        "tests.distributed.parallel_checks",
        "tests.distributed.context_checks",
    )
    assert not wrong, "\n".join([*wrong, errors[-8000:]])
    # tenax.launch raised the error of the rank that raised one at the end, and ended the others.
    assert "ProcessRaisedException" in errors
    assert "Process 1 terminated" in errors
    assert f"ValueError: {rank_checks.LAST_WORDS}" in errors


def test_pipelines_of_two_ranks() -> None:
    wrong, errors = rank_checks.run(2, "tests.distributed.pipeline_checks")
    assert not wrong, "\n".join([*wrong, errors[-8000:]])


def test_groups_and_meshes_of_four_ranks() -> None:
    wrong, errors = rank_checks.run(4, "tests.distributed.grid_checks", "tests.distributed.ring_checks")
    assert not wrong, "\n".join([*wrong, errors[-8000:]])


def started(function: str, **environment: str) -> subprocess.Popen[str]:
    program = f"from tests.distributed.launched import {function}; {function}()"
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
    assert "expected the call before the first tensor on the device" in errors


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


def test_programs_of_one_host_do_not_meet() -> None:
    """The ports of each are chosen by the operating system, and held."""
    processes = [started("beside_others", NUMBER=str(n)) for n in (1, 2)]
    try:
        outputs = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for n, (output, errors) in enumerate(outputs, 1):
        assert f"sum of {n} [{10 * n + 0.5}, {10 * n + 0.5}]" in output, errors[-2000:]


def under_torchrun(example: str, word: str) -> list[float]:
    """The losses that an example of two ranks prints in lines that begin with a word."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run([*command, example], cwd=rank_checks.REPOSITORY, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines() if line.startswith(word)]


def test_the_example_trains_under_torchrun() -> None:
    losses = under_torchrun("examples/ddp.py", "epoch")
    assert len(losses) == 3
    assert losses[-1] < losses[0] / 2


def test_the_example_of_a_pipeline_trains_under_torchrun() -> None:
    losses = under_torchrun("examples/pipeline.py", "step")
    assert len(losses) == 6
    assert losses[-1] < 0.7 * losses[0]
