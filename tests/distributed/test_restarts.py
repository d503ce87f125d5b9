"""Programs of several ranks that are restarted, and checkpoints that ranks of another number load."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]


def under_torchrun(ranks: int, *arguments: str) -> str:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    process = subprocess.Popen(
        [*command, "--max-restarts=1", "-m", "tests.distributed.restarted", *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # torchrun ends the ranks, which have sessions of their own
        process.communicate(timeout=60)
        raise
    assert process.returncode == 0, errors[-3000:]
    return output


def test_torchrun_resumes_from_the_last_checkpoint_that_is_whole(tmp_path: Path) -> None:
    assert "resumed after 1 of 4 steps" in under_torchrun(2, str(tmp_path))
    assert "4 ranks have the same state" in under_torchrun(4, str(tmp_path), "compare")
