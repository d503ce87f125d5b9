"""The workers of a `DataLoader`, which are forked beside a running JAX."""

from __future__ import annotations

import subprocess
import sys

LOADING = """
import torch, tenax
from torch.utils.data import DataLoader, TensorDataset

torch.ones(1, device="jax") + 1  # JAX runs
batches = [batch.to("jax") for (batch,) in DataLoader(TensorDataset(torch.arange(10.0)), 4, num_workers=2)]
print(torch.cat(batches).tolist() == list(range(10)))
"""


def test_workers_that_load_data_are_started_without_a_warning() -> None:
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True)
    assert (done.stdout, "fork" in done.stderr) == ("True\n", False), done.stderr
