"""Train a PyTorch network, with its buffers and its dropout, in a JAX program: `jax.grad`, `jax.jit` and optax.

The network and the loss are plain PyTorch. `tenax.interop` makes them pure functions; the training loop is what it is
for any JAX model. `python examples/optax_training.py --epochs 3` runs a shorter one.
"""

from __future__ import annotations

import argparse
from typing import Any

import jax
import numpy as np
import optax
import torch
from rich.console import Console
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from tenax.interop import functional, t2j


def network() -> nn.Module:
    """A convolution with batch normalisation, dropout, a linear classifier."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, stride=2),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(16 * 4 * 4, 10),
    )


def data() -> list[np.ndarray]:
    """Training images, test images, training labels, test labels: 8x8 pixels in [0, 1], the digits 0 to 9."""
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    return train_test_split(images, digits.target, test_size=0.25, random_state=0, stratify=digits.target)


def train(epochs: int, batch: int = 128, seed: int = 0) -> tuple[nn.Module, list[float], float]:
    """Train; the trained network in eval mode, the mean loss of each epoch, the test accuracy in [0, 1]."""
    torch.manual_seed(seed)
    module = network()
    apply, params, buffers = functional(module)
    cross_entropy = t2j(nn.functional.cross_entropy)
    optimizer = optax.adamw(3e-3)

    def loss(params: Any, buffers: Any, x: jax.Array, y: jax.Array, rng: jax.Array) -> tuple[jax.Array, Any]:
        logits, buffers = apply(params, buffers, x, rng=rng)
        return cross_entropy(logits, y), buffers

    @jax.jit
    def step(params: Any, buffers: Any, state: Any, x: jax.Array, y: jax.Array, rng: jax.Array) -> Any:
        (value, buffers), grads = jax.value_and_grad(loss, has_aux=True)(params, buffers, x, y, rng)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), buffers, state, value

    x, x_test, y, y_test = data()
    state, key, order = optimizer.init(params), jax.random.key(seed), np.random.default_rng(seed)
    losses = []
    for _ in range(epochs):
        values = []
        for rows in order.permutation(len(x))[: len(x) // batch * batch].reshape(-1, batch):
            key, rng = jax.random.split(key)
            params, buffers, state, value = step(params, buffers, state, x[rows], y[rows], rng)
            values.append(value)
        losses.append(float(np.mean(values)))

    module = module.to("jax").eval()
    module.load_state_dict({k: torch.tensor(np.asarray(v)) for k, v in {**params, **buffers}.items()})
    predict = jax.jit(t2j(module))
    return module, losses, float((predict(x_test).argmax(1) == y_test).mean())


def main() -> None:
    """Train and print the losses and the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    console = Console()
    _, losses, accuracy = train(parser.parse_args().epochs)
    for epoch, value in enumerate(losses, 1):
        console.print(f"epoch {epoch:2}: loss {value:.4f}")
    console.print(f"test accuracy {accuracy:.1%}")


if __name__ == "__main__":
    main()
