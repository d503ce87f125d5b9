"""A torch network trains in JAX with optax as it does in torch with torch's optimizer."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax
import pytest
import torch
from torch import nn

from tenax.interop import functional, t2j
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED, LOSSES

EXAMPLE = Path(__file__).parents[2] / "examples" / "optax_training.py"


@pytest.fixture(autouse=True)
def promotion() -> Iterator[None]:
    """optax is written for JAX's usual promotion."""
    with jax.numpy_dtype_promotion("standard"):
        yield


def test_the_example_learns() -> None:
    spec = importlib.util.spec_from_file_location("optax_training", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    module, losses, accuracy = example.train(epochs=4)
    assert losses[-1] < 0.5 * losses[0]
    assert accuracy > 0.85
    assert module[1].num_batches_tracked.item() == 4 * (1347 // 128)


def test_steps_with_optax_are_steps_with_torchs_optimizer() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.BatchNorm1d(4), nn.Linear(4, 2))
    apply, params, buffers = functional(module)
    mse = t2j(nn.functional.mse_loss)
    x, y = np.random.default_rng(0).normal(size=(2, 8, 3)).astype(np.float32)
    tx = optax.adamw(0.05, weight_decay=0.01)
    state = tx.init(params)

    def loss(params: Any, buffers: Any) -> Any:
        out, buffers = apply(params, buffers, x)
        return mse(out, y[:, :2]), buffers

    @jax.jit
    def step(params: Any, buffers: Any, state: Any) -> Any:
        (value, buffers), grads = jax.value_and_grad(loss, has_aux=True)(params, buffers)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), buffers, state, value

    optimizer = torch.optim.AdamW(module.parameters(), lr=0.05, weight_decay=0.01)
    for _ in range(4):
        params, buffers, state, value = step(params, buffers, state)
        optimizer.zero_grad()
        theirs = nn.functional.mse_loss(module(torch.tensor(x)), torch.tensor(y[:, :2]))
        theirs.backward()
        optimizer.step()
        close(value, theirs, LOSSES)
    for name, tensor in module.state_dict().items():
        close({**params, **buffers}[name], tensor, COMPOSED)
