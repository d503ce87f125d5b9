"""Programs of TorchTPU train with the losses of CPU torch, on device "jax" and, unmodified, on device "tpu"."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED, IN_BFLOAT16, Allowance

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs.py"
ROOT = Path(__file__).parents[3]


def losses(program: str, device: str) -> torch.Tensor:
    environment = {**os.environ, "TENAX_DEVICE": "tpu" if device == "tpu" else "", "OMP_NUM_THREADS": "1"}
    if device != "tpu":
        environment["ACCELERATE_TORCH_DEVICE"] = device
    command = [sys.executable, str(PROGRAMS), program, device]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    return torch.tensor(ast.literal_eval(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("program", "allowance"),
    [
        *((name, ACCUMULATED) for name in ("vit", "gpt", "dlrm", "pallas", "ddp", "tensor_parallel", "gathered")),
        *((name, ACCUMULATED) for name in ("fully_sharded", "hugging_face")),
        ("mixed_precision", IN_BFLOAT16),
    ],
)
def test_losses_agree(program: str, allowance: Allowance) -> None:
    expected = losses(program, "cpu")
    assert len(expected.unique()) == 4
    for device in ("jax", "tpu"):
        close(losses(program, device), expected, allowance)
