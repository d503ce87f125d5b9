"""Write a checkpoint, and what the model answers, with torch alone."""

import sys

import torch
from torch import nn


def build() -> nn.Module:
    """A small transformer."""
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    return nn.Sequential(
        nn.Linear(8, 32), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(32, 1)
    )


if __name__ == "__main__":
    assert "tenax" not in sys.modules
    torch.manual_seed(0)
    model = build().eval()
    x = torch.randn(2, 16, 8)
    torch.save({"model": model.state_dict(), "x": x, "y": model(x).detach()}, sys.argv[1])
    print(f"torch wrote {sum(p.numel() for p in model.parameters())} parameters")
