"""`nn.DataParallel` on several devices."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn.parallel import comm

from tests.helpers.agreement import close


@pytest.mark.filterwarnings("ignore:PyTorch is not compiled with NCCL")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("devices", [None, [0], [1, 0]])
@pytest.mark.parametrize("source", ["cpu", "jax"])
def test_the_parts_of_a_batch_run_on_several_devices(devices: list[int] | None, source: str) -> None:
    module, x = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), torch.randn(7, 4)
    placed = copy.deepcopy(module).to(f"jax:{(devices or [0])[0]}")
    expected, output = module(x), nn.DataParallel(placed, devices)(x.to(source))
    assert output.device == placed[0].weight.device
    close(output.cpu(), expected)
    expected.square().sum().backward()
    output.square().sum().backward()
    for a, b in zip(module.parameters(), placed.parameters(), strict=True):
        assert a.grad is not None and b.grad is not None
        close(b.grad.cpu(), a.grad)


def test_tensors_are_copied_between_devices() -> None:
    x = torch.arange(6.0, device="jax:1").reshape(2, 3)
    first, second = comm.scatter(x, [0, 1], chunk_sizes=[2, 1], dim=1)
    assert (first.device.index, second.device.index) == (0, 1) and torch.equal(second, x[:, 2:])
    out = [torch.empty(1, 3, device="jax:0"), torch.empty(1, 3, device="jax:1")]
    assert comm.scatter(x, out=out)[0] is out[0] and torch.equal(out[0].cpu(), x[:1].cpu())
    assert torch.equal(comm.gather([first, second], 1, "cpu"), x.cpu())
    target = torch.empty(2, 3, device="jax:0")
    assert comm.gather([first, second], 1, out=target) is target and torch.equal(target.cpu(), x.cpu())
    assert [t.device.index for t in comm.broadcast(x, [0, 1])] == [0, 1]
    assert torch.equal(comm.broadcast(x, out=[target])[0].cpu(), x.cpu())
    with pytest.raises(RuntimeError, match="Exactly one of 'devices' and 'out'"):
        comm.broadcast(x)
    with pytest.raises(RuntimeError, match="must not be specified"):
        comm.scatter(x, [0], out=[target])
    with pytest.raises(RuntimeError, match="must not be specified"):
        comm.gather([x], 0, 0, out=target)
