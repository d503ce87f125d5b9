"""What each rank of two checks about attention whose sequence is split over the ranks."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import context_parallel_unshard, set_rotate_method

from tests.distributed.parallel_checks import SIZE
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

F = nn.functional


class Attention(nn.Module):
    """Causal attention of 4 heads and of 2 of keys, with embeddings of positions."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs, self.output = nn.Linear(8, 16), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        q, k, v = (t.unflatten(-1, (-1, 2)).transpose(1, 2) for t in self.inputs(x + positions).split([8, 4, 4], -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.output(y.transpose(1, 2).flatten(2))


def problem() -> tuple[Attention, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return Attention(), torch.randn(2, 16, 8), torch.randn(16, 8)


def reference(steps: int) -> tuple[list[float], torch.Tensor, torch.Tensor]:
    net, x, positions = problem()
    out = net(x, positions).detach()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = net(x, positions).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, out, net.inputs.weight.detach()


def check_context_parallel_training(rank: int) -> None:
    expected, out, weight = reference(3)
    mesh = init_device_mesh("jax", (SIZE,))
    for method in ("allgather", "alltoall"):
        set_rotate_method(method)
        net, *host = problem()
        net.to("jax")
        x, positions = (t.to("jax") for t in host)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        losses = []
        for step in range(3):
            with context_parallel(mesh, buffers=[x, positions], buffer_seq_dims=[1, 0]):
                assert x.shape == (2, 16 // SIZE, 8)
                optimizer.zero_grad()
                y = net(x, positions)
                if step == 0:
                    (found,) = context_parallel_unshard(mesh, [y.detach().clone()], [1])
                    close(found.cpu(), out, COMPOSED)
                loss = y.square().mean() / SIZE
                loss.backward()
                for p in net.parameters():
                    torch.distributed.all_reduce(p.grad)
                optimizer.step()
                total = loss.detach().clone()
                torch.distributed.all_reduce(total)
                losses.append(total.item())
            assert torch.equal(x.cpu(), host[0])
        close(torch.tensor(losses), torch.tensor(expected), COMPOSED)
        close(net.inputs.weight.detach().cpu(), weight, COMPOSED)
    set_rotate_method("allgather")


def check_attention_of_distributed_tensors(rank: int) -> None:
    mesh = init_device_mesh("jax", (SIZE,))
    torch.manual_seed(1)
    host = [torch.randn(2, 4, 6, 3, requires_grad=True) for _ in range(3)]
    expected = F.scaled_dot_product_attention(*host, is_causal=True)
    expected.square().sum().backward()
    for split in (Shard(0), Shard(1)):
        given = [distribute_tensor(t.detach().to("jax"), mesh, [split]).requires_grad_() for t in host]
        found: Any = F.scaled_dot_product_attention(*given, is_causal=True)
        assert isinstance(found, DTensor) and found.placements == (split,)
        close(found.full_tensor().detach().cpu(), expected.detach(), COMPOSED)
        found.square().sum().backward()
        for a, b in zip(given, host, strict=True):
            close(a.grad.full_tensor().cpu(), b.grad, COMPOSED)
