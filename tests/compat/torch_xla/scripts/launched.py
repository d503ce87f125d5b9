"""A program for PyTorch/XLA with `torch_xla.launch`: batches that are dicts, gradients reduced by hand, closures."""

import sys

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Numbers(Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return {"x": torch.randn(5, generator=generator), "y": torch.tensor(index % 3), "name": (index, str(index))}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(5, 7) * 0.3), nn.Parameter(torch.randn(7, 3) * 0.3)])
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.calls += 1
        return torch.relu(x @ self.weights[0]) @ self.weights[1]


def batches(rank, size):
    sampler = DistributedSampler(Numbers(), num_replicas=size, rank=rank, shuffle=False)
    return DataLoader(Numbers(), batch_size=4, sampler=sampler)


def build(device):
    torch.manual_seed(0)
    model = Net().to(device)
    return model, torch.optim.RMSprop(model.parameters(), lr=1e-2, momentum=0.5)


def expected(size):
    model, optimizer = build("cpu")
    losses = []
    for _ in range(2):
        for found in zip(*(batches(rank, size) for rank in range(size)), strict=True):
            optimizer.zero_grad()
            loss = sum(nn.functional.cross_entropy(model(b["x"]), b["y"]) for b in found) / size
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 0.5)
            optimizer.step()
            losses.append(loss.detach())
    return torch.stack(losses)


def main(index, path, epochs):
    device, size = torch_xla.device(), xr.world_size()
    model, optimizer = build(device)
    xm.broadcast_master_param(model)
    loader = pl.MpDeviceLoader(batches(xr.global_ordinal(), size), device)
    losses, reported = [], []
    for _ in range(epochs):
        for step, data in enumerate(loader):
            with torch_xla.step():
                assert data["x"].device == device and data["name"][1][0] == str(int(data["name"][0][0]))
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(data["x"]), data["y"])
                loss.backward()
                xm.all_reduce(xm.REDUCE_SUM, xm._fetch_gradients(optimizer), scale=1.0 / size)
                nn.utils.clip_grad_value_(model.parameters(), 0.5)
                optimizer.step()
                losses.append(loss.detach())
                xm.add_step_closure(lambda i, loss: reported.append((i, loss.item())), args=(step, loss.detach()))
    correct = torch.zeros(2, device=device)
    for data in loader:
        right = model(data["x"]).argmax(-1).eq(data["y"])
        correct += torch.stack([right.sum(), torch.tensor(right.numel(), device=device)])
    correct = xm.all_reduce(xm.REDUCE_SUM, correct)
    assert correct[1].item() == 80 and [i for i, _ in reported] == [*range(len(losses) // epochs)] * epochs
    weights = xm.all_gather(model.weights[0].detach().reshape(1, -1))
    assert weights.shape == (size, 35) and bool((weights == weights[0]).all())
    mean = xm.mesh_reduce("losses", torch.stack(losses), lambda found: torch.stack(found).mean(0))
    xm.save({"losses": mean, "expected": expected(size)}, path)


if __name__ == "__main__":
    torch_xla.launch(main, args=(sys.argv[1] + "/losses.pt", 2))
