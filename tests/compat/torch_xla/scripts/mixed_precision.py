"""A program for PyTorch/XLA with `torch_xla.amp`: autocast, a gradient scaler, and optimizers that skip a step."""

import sys

import torch
import torch_xla.core.xla_model as xm
from torch import nn
from torch_xla.amp import GradScaler, autocast, syncfree


def train(name, device, dtype):
    torch.manual_seed(0)
    on_cpu = device == "cpu"
    model = nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(48, 5)).to(device)
    optimizer = getattr(torch.optim if on_cpu else syncfree, name)(model.parameters(), lr=1e-2)
    make = (lambda **options: torch.amp.GradScaler("cpu", **options)) if on_cpu else GradScaler
    scaler = make(init_scale=256.0, growth_interval=5)
    generator = torch.Generator().manual_seed(8)
    losses, scales = [], []
    for step in range(20):
        x, y = torch.randn(8, 4, 6, generator=generator), torch.randint(0, 5, (8,), generator=generator)
        if step == 7:
            x[0] = float("inf")
        optimizer.zero_grad()
        enabled = dtype != torch.float32
        with (
            torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled)
            if on_cpu
            else autocast(device, dtype=torch.bfloat16, enabled=enabled)
        ):
            loss = nn.functional.cross_entropy(model(x.to(device)).float(), y.to(device))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        xm.mark_step()
        losses.append(loss.detach())
        scales.append(scaler.get_scale())
    return torch.stack(losses).cpu(), scales


found, expected = {}, {}
for name in ("SGD", "Adam", "AdamW"):
    found[name], scales = train(name, xm.xla_device(), getattr(torch, sys.argv[2]))
    expected[name], expected_scales = train(name, "cpu", getattr(torch, sys.argv[2]))
    assert scales == expected_scales and scales[7] == scales[6] / 2, scales
xm.save({"losses": found, "expected": expected}, sys.argv[1] + "/losses.pt")
