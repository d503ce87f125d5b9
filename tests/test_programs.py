"""Unmodified PyTorch programs train on the device as on the CPU."""

from __future__ import annotations

import pytest
import torch

from .programs import PROGRAMS, worst

# bfloat16 rounds at 2**-8.
TOLERANCE = {"autocast_bfloat16": 2e-2}


@pytest.mark.parametrize("name", PROGRAMS)
def test_twenty_steps_agree_with_the_cpu(name: str) -> None:
    losses = {}
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        losses[device] = PROGRAMS[name](device, 20)
    assert worst(losses["jax"], losses["cpu"]) < TOLERANCE.get(name, 1e-4), losses
