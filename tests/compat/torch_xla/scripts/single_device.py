"""The first programs of the classic guide: one device, what it says of tensors, step closures, saving."""

import sys

import models
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch import nn

name, path = sys.argv[1:]
device = xm.xla_device()
t = torch.randn(2, 2, device=device)
assert t.device == device == torch.zeros(1, device="xla").device == torch.zeros(1).to(torch.device("xla:0")).device
message = ""
try:
    nn.Linear(10, 20)(torch.randn(10, device=device))
except RuntimeError as error:
    message = str(error)
assert "Input tensor is not an XLA tensor: torch.FloatTensor" in message, message

model = models.build(name).train().to(device)
optimizer = models.optimizer_of(name, model.parameters())
losses, printed, late = [], [], []


def report(into, step, loss):
    into.append((step, loss.item()))


for step, (x, y) in enumerate(models.batches(name)):
    optimizer.zero_grad()
    x, y = x.to(device), y.to("xla")
    loss = models.loss_of(model, x, y)
    loss.backward()
    xm.add_step_closure(report, args=(printed, step, loss.detach()))
    xm.add_step_closure(report, args=(late, step, loss.detach()), run_async=True)
    if step % 2:
        optimizer.step()
        assert len(printed) == step
        xm.mark_step()
    else:
        assert xm.optimizer_step(optimizer, barrier=True) is None
    assert len(printed) == step + 1
    losses.append(loss.detach())
torch_xla.sync(wait=True)
assert [s for s, _ in printed] == [*range(models.STEPS)]
compiled = torch.compile(torch.nn.Linear(2, 2).to(device), backend="openxla")
x = torch.ones(3, 2, device=device)
assert torch.equal(compiled(x), compiled._orig_mod(x))
xm.save({"losses": torch.stack(losses), "model": model.state_dict()}, path)
torch.save(losses[0], path + ".direct")
assert torch.load(path + ".direct", weights_only=True).device == device
assert torch.load(path, weights_only=True)["losses"].device.type == "cpu"
