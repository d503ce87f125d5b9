"""An ordinary Lightning module; the trainer's `accelerator` and `strategy` put it on the device, as one XLA program."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import tenax  # noqa: F401 (registers the device)


class Regression(lightning.LightningModule):
    """A network that learns the squared length of a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.GELU(), nn.Linear(64, 1))

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


def train(**options: Any) -> float:
    """The loss of the last step."""
    lightning.seed_everything(0, verbose=False)
    x = torch.randn(512, 4)
    data = DataLoader(TensorDataset(x, (x**2).sum(1, keepdim=True)), batch_size=64)
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = lightning.Trainer(max_epochs=10, **quiet, **options)
    trainer.fit(Regression(), data)
    return trainer.callback_metrics["loss"].item()


if __name__ == "__main__":
    warnings.filterwarnings("ignore", module="lightning")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    for options in ({"accelerator": "cpu"}, {"accelerator": "jax"}, {"accelerator": "jax", "strategy": "jax_compiled"}):
        print(f"{' '.join(options.values()):20} loss {train(**options):.4f}")
