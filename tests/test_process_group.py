"""The backend "tenax" of torch.distributed, on two processes of this host."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from tests import rank_checks

COLLECTIVES = "tests.collective_checks"
RANKS = 2


@functools.cache
def collectives() -> dict[str, list[Any]]:
    return rank_checks.run(COLLECTIVES, RANKS)


@pytest.mark.parametrize("check", rank_checks.checks_of(COLLECTIVES))
def test_collectives(check: str) -> None:
    errors = collectives().get(check, ["did not run: an earlier check failed"])
    assert not any(errors), "\n".join(f"rank {rank}: {error}" for rank, error in enumerate(errors) if error)
