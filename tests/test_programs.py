"""Unmodified PyTorch programs train on the device as on the CPU."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.agreement import close
from tests.helpers.programs import PROGRAMS
from tests.helpers.tolerances import LOSSES


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_twenty_steps_agree_with_the_cpu(name: str) -> None:
    losses = {}
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        losses[device] = PROGRAMS[name](device, 20)
    close(*(torch.tensor(losses[device]) for device in ("jax", "cpu")), LOSSES)
