"""DDP, FSDP2, DTensor, tensor parallelism and checkpoints of torch.distributed, on two processes of this host."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from tests import rank_checks

CHECKS = "tests.parallel_checks"
RANKS = 2


@functools.cache
def results() -> dict[str, list[Any]]:
    return rank_checks.run(CHECKS, RANKS)


@pytest.mark.parametrize("check", rank_checks.checks_of(CHECKS))
def test_parallel_training(check: str) -> None:
    errors = results().get(check, ["did not run: an earlier check failed"])
    assert not any(errors), "\n".join(f"rank {rank}: {error}" for rank, error in enumerate(errors) if error)
