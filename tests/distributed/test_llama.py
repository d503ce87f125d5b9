"""A Llama of transformers trains on several processes with the losses of one CPU device."""

from __future__ import annotations

import pytest

from tests.distributed import rank_checks

pytestmark = pytest.mark.slow


def test_a_llama_trains_on_two_ranks() -> None:
    wrong, errors = rank_checks.run(2, "tests.distributed.llama_checks")
    assert not wrong, "\n".join([*wrong, errors[-8000:]])
