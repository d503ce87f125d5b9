"""What each rank checks about attention whose sequence is split over the ranks, in compiled functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import _cp_options, context_parallel_unshard

import tenax
from tests.distributed.context_checks import problem, reference
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED


@contextmanager
def split(mesh: DeviceMesh, x: torch.Tensor, positions: torch.Tensor, balanced: bool) -> Iterator[None]:
    """`context_parallel` of a batch and its positions, with or without torch's balance of the work."""
    before, _cp_options.enable_load_balance = _cp_options.enable_load_balance, balanced
    try:
        with context_parallel(mesh, buffers=[x, positions], buffer_seq_dims=[1, 0]):
            yield
    finally:
        _cp_options.enable_load_balance = before


def on_all_ranks() -> tuple[Any, ...]:
    """The mesh of the ranks, and the problem on the device: the model, its optimizer, inputs and positions."""
    net, *host = problem()
    net.to("jax")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    return init_device_mesh("jax", (dist.get_world_size(),)), net, optimizer, *(t.to("jax") for t in host)


def trained(rank: int, balanced: bool) -> None:
    expected, out, weight = reference(3)
    size = dist.get_world_size()
    mesh, net, optimizer, x, positions = on_all_ranks()
    before = x.cpu()

    @tenax.jit
    def step(x: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        with split(mesh, x, positions, balanced):
            optimizer.zero_grad()
            y = net(x, positions)
            loss = y.square().mean() / size
            loss.backward()
            for p in net.parameters():
                dist.all_reduce(p.grad)
            optimizer.step()
            total = loss.detach().clone()
            dist.all_reduce(total)
            (whole,) = context_parallel_unshard(mesh, [y.detach()], [1])
            return total, whole

    losses = []
    for n in range(3):
        total, found = step(x, positions)
        losses.append(total.item())
        if not n:
            close(found.cpu(), out, COMPOSED)
    close(torch.tensor(losses), torch.tensor(expected), COMPOSED)
    close(net.inputs.weight.detach().cpu(), weight, COMPOSED)
    assert torch.equal(x.cpu(), before)
    explained = tenax.explain(step)
    assert len(explained.programs) == 1
    kinds = [c.kind for c in explained.programs[0].collectives]
    # Keys and values go around once; in the backward pass again, with their gradients, which then go home.
    assert kinds.count("collective-permute") <= (size - 1) + 2 * (size - 1) + 1
    assert kinds.count("collective-permute") >= (size - 1) + size


def check_a_compiled_step_with_context_parallel(rank: int) -> None:
    trained(rank, balanced=True)


def check_a_compiled_step_with_context_parallel_that_is_not_balanced(rank: int) -> None:
    trained(rank, balanced=False)


def check_a_compiled_step_within_context_parallel(rank: int) -> None:
    expected, _, _ = reference(1)
    size = dist.get_world_size()
    mesh = init_device_mesh("jax", (size,))
    net, *host = problem()
    net.to("jax")
    x, positions = (t.to("jax") for t in host)

    @tenax.jit
    def loss(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return net(x, positions).square().mean() / size

    for _ in range(2):  # torch makes another function each time, and the program stays
        with context_parallel(mesh, buffers=[x, positions], buffer_seq_dims=[1, 0]):
            found = loss(x, positions).detach()
            dist.all_reduce(found)
        close(found.cpu(), torch.tensor(expected[0]), COMPOSED)
    assert len(tenax.explain(loss).programs) == 1


def trained_by_torch_compile(rank: int, whole_step: bool) -> None:
    expected, _, weight = reference(3)
    size = dist.get_world_size()
    mesh, net, optimizer, x, positions = on_all_ranks()
    forward = net if whole_step else torch.compile(net, backend="tenax")

    def step(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = forward(x, positions).square().mean() / size
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
        optimizer.step()
        return loss.detach()

    run = torch.compile(step, backend="tenax") if whole_step else step
    losses = []
    for _ in range(3):
        with context_parallel(mesh, buffers=[x, positions], buffer_seq_dims=[1, 0]):
            total = run(x, positions).clone()
            dist.all_reduce(total)
            losses.append(total.item())
    close(torch.tensor(losses), torch.tensor(expected), COMPOSED)
    close(net.inputs.weight.detach().cpu(), weight, COMPOSED)


def check_a_model_that_torch_compiles_within_context_parallel(rank: int) -> None:
    trained_by_torch_compile(rank, whole_step=False)


def check_a_step_that_torch_compiles_within_context_parallel(rank: int) -> None:
    trained_by_torch_compile(rank, whole_step=True)
