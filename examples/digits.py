"""Train a small convolutional network on handwritten digits: on CPU torch, on device "jax", and there compiled.

An ordinary PyTorch program: DataLoader, BatchNorm, dropout, AdamW, a learning-rate schedule. The device needs only the
import of tenax, and the decorator `tenax.jit` compiles the whole training step. `python examples/digits.py --epochs 3`
runs a shorter one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import tenax


@dataclass(frozen=True)
class Outcome:
    """What a training run ended with: mean loss of the last epoch, test accuracy in [0, 1], images per second."""

    way: str
    loss: float
    accuracy: float
    speed: float
    first_epoch: float


def data() -> tuple[TensorDataset, TensorDataset]:
    """The 1,797 digits that scikit-learn ships, 8x8 pixels in [0, 1], a quarter of them for testing."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    train, test = train_test_split(range(len(labels)), test_size=0.25, random_state=0, stratify=digits.target)
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


def network() -> nn.Module:
    """Two convolutions with batch normalisation, dropout, a linear classifier."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(32 * 4 * 4, 10),
    )


def train(way: str, device: str, decorator: Callable[..., Any] | None, epochs: int, progress: Progress) -> Outcome:
    """Train from the same seed on any device, with the training step under a decorator or as it is."""
    torch.manual_seed(0)
    training, testing = data()
    loader = DataLoader(
        training, batch_size=64, shuffle=True, drop_last=True, generator=torch.Generator().manual_seed(0)
    )
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=epochs * len(loader))
    criterion = nn.CrossEntropyLoss()

    def step(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss.detach()

    run = step if decorator is None else decorator(step)
    bar = progress.add_task(way, total=epochs * len(loader), loss=float("nan"))
    first_epoch = elapsed = 0.0
    for epoch in range(epochs):
        model.train()
        total = torch.zeros((), device=device)
        started = time.perf_counter()
        for images, labels in loader:
            total += run(images.to(device), labels.to(device))
            progress.advance(bar)
        mean = total.item() / len(loader)
        progress.update(bar, loss=mean)
        if epoch == 0:
            first_epoch = time.perf_counter() - started  # compiles each op once, or the step
        else:
            elapsed += time.perf_counter() - started
    model.eval()
    with torch.no_grad():
        images, labels = testing.tensors
        predicted = model(images.to(device)).argmax(1).cpu()
    accuracy = (predicted == labels).float().mean().item()
    seen = (epochs - 1) * len(loader) * 64
    return Outcome(way, mean, accuracy, seen / elapsed if elapsed else float("nan"), first_epoch)


def main() -> None:
    """Run all three and print them beside each other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    epochs = parser.parse_args().epochs
    console = Console()
    columns = [
        TextColumn("{task.description:>24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
    ]
    with Progress(*columns, console=console) as progress:
        outcomes = [
            train("CPU torch", "cpu", None, epochs, progress),
            train("device jax, eager", "jax", None, epochs, progress),
            train("device jax, @tenax.jit", "jax", tenax.jit, epochs, progress),
        ]
    table = Table("", "loss", "test accuracy", "first epoch", "images/s after it")
    for o in outcomes:
        table.add_row(o.way, f"{o.loss:.4f}", f"{o.accuracy:.2%}", f"{o.first_epoch:.1f} s", f"{o.speed:,.0f}")
    console.print(table)
    name = torch.jax.get_device_name()  # type: ignore[attr-defined]
    console.print(f"device jax is {name}; tenax {tenax.__version__}, torch {torch.__version__}")
    console.print("Next: README.md, examples/, `tenax doctor`, `tenax coverage report`.")
    worst = min(o.accuracy for o in outcomes)
    if epochs >= 12 and worst < 0.97:
        raise SystemExit(f"test accuracy {worst:.2%}; expected at least 97 % in all three")


if __name__ == "__main__":
    main()
