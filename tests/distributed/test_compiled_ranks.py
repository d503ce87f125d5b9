"""Collectives of process groups inside compiled functions."""

from __future__ import annotations

import pytest

from tests.distributed import rank_checks

pytestmark = pytest.mark.slow


def test_collectives_inside_compiled_functions_of_two_ranks() -> None:
    wrong, errors = rank_checks.run(2, "tests.distributed.compiled_checks", "tests.distributed.ring_checks")
    assert not wrong, "\n".join([*wrong, errors[-8000:]])
