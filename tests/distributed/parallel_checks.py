"""What each rank of two checks about torch's parallel training on device "jax": its losses are those of the CPU."""

from __future__ import annotations

import copy
import functools
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed._functional_collectives import wait_tensor
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.checkpoint.state_dict import (
    get_model_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED, COMPOSED, IN_HALVES

SIZE = 2
STEPS = 3
SGD = functools.partial(torch.optim.SGD, lr=0.1)


class Net(nn.Module):
    """Two blocks, of which the second is used when asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)
        self.second = nn.Linear(16, 16)
        self.last = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor, deep: bool = True) -> torch.Tensor:
        x = self.norm(torch.relu(self.first(x)))
        return self.last(torch.relu(self.second(x)) if deep else x)


def model(seed: int = 0) -> Net:
    torch.manual_seed(seed)
    return Net()


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The batch of all ranks."""
    generator = torch.Generator().manual_seed(step)
    return torch.randn(8, 8, generator=generator), torch.randint(0, 4, (8,), generator=generator)


def part(tensor: torch.Tensor, rank: int) -> torch.Tensor:
    return tensor.chunk(SIZE)[rank]


def cpu_losses(steps: int = STEPS, make: Callable[..., Any] = SGD) -> list[float]:
    """The losses of one process on the CPU with the whole batch."""
    net = model()
    optimizer = make(net.parameters())
    losses = []
    for step in range(steps):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def mean(loss: torch.Tensor) -> float:
    """The mean of the losses of the ranks."""
    loss = loss.detach().clone()
    dist.all_reduce(loss, dist.ReduceOp.AVG)
    return loss.item()


def train(net: Any, optimizer: Any, rank: int, steps: int = STEPS, data: Callable[..., Any] = part) -> list[float]:
    losses = []
    for step in range(steps):
        x, y = (data(t, rank).to("jax") for t in batch(step))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(mean(loss))
    return losses


def same_losses(found: list[float], expected: list[float], dtype: torch.dtype = torch.float32) -> None:
    """Losses of steps in a dtype agree."""
    allowance = COMPOSED if dtype is torch.float32 else IN_HALVES
    close(torch.tensor(found, dtype=dtype), torch.tensor(expected, dtype=dtype), allowance)


def check_functional_collectives(rank: int) -> None:
    group = dist.group.WORLD
    x = torch.arange(4.0) + 10 * rank
    jax = x.to("jax")
    for call in (
        lambda t: functional.all_reduce(t, "sum", group),
        lambda t: functional.all_reduce(t, "max", group),
        lambda t: functional.all_gather_tensor(t, 0, group),
        lambda t: functional.reduce_scatter_tensor(t, "sum", 0, group),
        lambda t: functional.broadcast(t, 1, group),
        lambda t: functional.all_to_all_single(t, [1, 1] if rank == 0 else [3, 3], [1, 3], group),
        lambda t: functional.all_gather_tensor(t.reshape(2, 2), 1, group),
        lambda t: functional.reduce_scatter_tensor(t.reshape(2, 2), "sum", 1, group),
        lambda t: functional.permute_tensor(t, [1, 0], group),
        lambda t: functional.all_reduce_coalesced([t, 2 * t], "sum", group)[1],
        lambda t: functional.all_gather_into_tensor_coalesced([t, 2 * t], group)[1],
        lambda t: functional.reduce_scatter_tensor_coalesced([t, 2 * t], "sum", [0, 0], group)[1],
    ):
        found = call(jax)
        assert torch.equal(wait_tensor(found).cpu(), wait_tensor(call(x))), call
    assert torch.equal(jax.cpu(), x)
    graded = jax.clone().requires_grad_()
    functional.all_gather_tensor_autograd(graded, 0, group).square().sum().backward()
    assert torch.equal(graded.grad.cpu(), 4 * x), graded.grad
    torch.ops._c10d_functional.wait_tensor(torch.ops._c10d_functional.all_reduce_(jax, "sum", group.group_name))
    assert torch.equal(jax.cpu(), 2 * torch.arange(4.0) + 10)


def check_data_parallel(rank: int) -> None:
    for options in ({}, {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.0005}):
        net = DistributedDataParallel(model(rank).to("jax"), **options)
        net.module.load_state_dict(model().state_dict())
        same_losses(train(net, SGD(net.parameters()), rank), cpu_losses())


def check_data_parallel_broadcasts_the_parameters_of_the_first_rank(rank: int) -> None:
    net = DistributedDataParallel(model(rank).to("jax"))
    assert torch.equal(net.module.first.weight.cpu(), model(0).first.weight)


def check_data_parallel_without_synchronization_accumulates(rank: int) -> None:
    net = DistributedDataParallel(model().to("jax"))
    (x, y), (u, v) = ([part(t, rank).to("jax") for t in batch(s)] for s in (0, 1))
    with net.no_sync():
        nn.functional.cross_entropy(net(x), y).backward()
    nn.functional.cross_entropy(net(u), v).backward()
    whole = model()
    for step in (0, 1):
        x, y = batch(step)
        nn.functional.cross_entropy(whole(x), y).backward()
    close(net.module.first.weight.grad.cpu(), whole.first.weight.grad, COMPOSED)


def check_data_parallel_with_unused_parameters(rank: int) -> None:
    net = DistributedDataParallel(model().to("jax"), find_unused_parameters=True)
    x, y = (part(t, rank).to("jax") for t in batch(0))
    nn.functional.cross_entropy(net(x, deep=rank == 0), y).backward()
    assert net.module.second.weight.grad is not None
    net.zero_grad()
    nn.functional.cross_entropy(net(x, deep=False), y).backward()
    assert net.module.second.weight.grad is None
    whole = model()
    x, y = batch(0)
    nn.functional.cross_entropy(whole(x, deep=False), y).backward()
    close(net.module.first.weight.grad.cpu(), whole.first.weight.grad, COMPOSED)


def check_data_parallel_with_a_static_graph(rank: int) -> None:
    found = {}
    for device in ("cpu", "jax"):
        net = DistributedDataParallel(model().to(device), static_graph=True)
        optimizer = SGD(net.parameters())
        for step in range(3):
            x, y = (part(t, rank).to(device) for t in batch(step))
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x, deep=False), y).backward()
            optimizer.step()
        assert net.module.second.weight.grad is None
        found[device] = net.module.first.weight.detach().cpu()
    close(found["jax"], found["cpu"], COMPOSED)
    net = DistributedDataParallel(model().to("jax"), static_graph=True)
    same_losses(train(net, SGD(net.parameters()), rank), cpu_losses())


def check_a_graph_becomes_static_before_training(rank: int) -> None:
    net = DistributedDataParallel(model().to("jax"))
    net._set_static_graph()
    for step in range(3):
        x, y = (part(t, rank).to("jax") for t in batch(step))
        nn.functional.cross_entropy(net(x, deep=False), y).backward()
    assert net.module.second.weight.grad is None and net.module.first.weight.grad is not None
    net = DistributedDataParallel(model().to("jax"))
    net._set_static_graph()
    same_losses(train(net, SGD(net.parameters()), rank), cpu_losses())
    net = DistributedDataParallel(model().to("jax"))
    train(net, SGD(net.parameters()), rank)
    with pytest.raises(RuntimeError, match="should be called before training loop starts"):
        net._set_static_graph()
    net = DistributedDataParallel(model().to("jax"))
    net.register_comm_hook(None, default_hooks.allreduce_hook)
    with pytest.raises(NotImplementedError, match="static_graph=True"):
        net._set_static_graph()


def check_data_parallel_with_sparse_gradients(rank: int) -> None:
    found = {}
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        net = DistributedDataParallel(nn.EmbeddingBag(7, 3, sparse=True, mode="sum").to(device))
        optimizer = SGD(net.parameters(), lr=0.5)
        for step in range(3):
            optimizer.zero_grad()
            net(torch.tensor([[rank, 2, step], [2, 2, 5]], device=device)).square().sum().backward()
            assert net.module.weight.grad.is_sparse
            optimizer.step()
        found[device] = net.module.weight.detach().cpu()
    close(found["jax"], found["cpu"], COMPOSED)


def check_data_parallel_with_a_communication_hook(rank: int) -> None:
    net = DistributedDataParallel(model().to("jax"))
    net.register_comm_hook(None, default_hooks.fp16_compress_hook)
    same_losses(train(net, SGD(net.parameters()), rank), cpu_losses(), torch.float16)


def check_a_communication_hook_calls_collectives_in_its_callbacks(rank: int) -> None:
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    net = DistributedDataParallel(model().to("jax"), bucket_cap_mb=0.0005)
    # Of full rank, so that nothing is lost.
    state = powerSGD_hook.PowerSGDState(None, 64, start_powerSGD_iter=2, min_compression_rate=0.01)
    net.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    same_losses(train(net, SGD(net.parameters()), rank), cpu_losses())
    assert len(state.q_memory_dict) > 1


def check_callbacks_of_a_call_run_where_they_are_added(rank: int) -> None:
    work = dist.all_reduce(torch.ones(2, device="jax"), async_op=True)
    threads = []
    future = work.get_future().then(lambda done: threads.append(threading.get_ident()) or done.value()[0] * 3)
    work.get_future().add_done_callback(lambda done: threads.append(threading.get_ident()))
    assert threads == [threading.get_ident()] * 2
    assert future.wait().tolist() == [6, 6]


def check_data_parallel_joins_uneven_inputs(rank: int) -> None:
    found = {}
    for device in ("cpu", "jax"):
        net = DistributedDataParallel(model().to(device))
        optimizer = SGD(net.parameters())
        with net.join():
            for step in range(2 + rank):
                x, y = (part(t, rank).to(device) for t in batch(step))
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(x), y).backward()
                optimizer.step()
        found[device] = net.module.first.weight.detach().cpu()
    close(found["jax"], found["cpu"], COMPOSED)


def check_synchronized_batch_norm(rank: int) -> None:
    for affine in (True, False):
        torch.manual_seed(0)
        plain = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3, affine=affine), nn.ReLU())
        net = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(plain)).to("jax")
        net = DistributedDataParallel(net)
        x = torch.randn(4, 2, 5, 5)
        mine = part(x, rank).to("jax").requires_grad_()
        net(mine).square().mean().backward()
        plain(x).square().mean().backward()
        close(net.module[1].running_var.cpu(), plain[1].running_var, COMPOSED)
        close(net.module[0].weight.grad.cpu(), plain[0].weight.grad, ACCUMULATED)


def check_zero_redundancy_optimizer(rank: int) -> None:
    make = functools.partial(torch.optim.AdamW, lr=0.01)
    net = DistributedDataParallel(model().to("jax"))
    optimizer = ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.AdamW, lr=0.01)
    same_losses(train(net, optimizer, rank), cpu_losses(make=make))
    optimizer.consolidate_state_dict(0)
    if rank == 0:
        assert len(optimizer.state_dict()["state"]) == len(list(net.parameters()))


def sharded(**options: Any) -> nn.Module:
    net = model().to("jax")
    mesh = init_device_mesh("jax", (SIZE,))
    for layer in (net.first, net.second):
        fully_shard(layer, mesh=mesh, **options)
    return fully_shard(net, mesh=mesh, **options)


def check_fully_sharded_data_parallel(rank: int) -> None:
    make = functools.partial(torch.optim.AdamW, lr=0.01)
    net = sharded()
    weight = net.first.weight
    assert isinstance(weight, DTensor)
    assert weight.to_local().shape == (8, 8)
    same_losses(train(net, make(net.parameters()), rank), cpu_losses(make=make))
    assert weight.full_tensor().shape == torch.Size([16, 8])


def check_fully_sharded_data_parallel_keeps_parameters_until_backward(rank: int) -> None:
    same_losses(
        train(net := sharded(reshard_after_forward=False), SGD(net.parameters()), rank),
        cpu_losses(),
    )


def check_fully_sharded_data_parallel_in_mixed_precision(rank: int) -> None:
    net = sharded(mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    same_losses(train(net, SGD(net.parameters()), rank), cpu_losses(), torch.bfloat16)
    assert net.first.weight.dtype is torch.float32


def check_gradients_of_sharded_parameters_are_clipped(rank: int) -> None:
    net, whole = sharded(), model()
    x, y = batch(0)
    nn.functional.cross_entropy(net(part(x, rank).to("jax")), part(y, rank).to("jax")).backward()
    nn.functional.cross_entropy(whole(x), y).backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    expected = nn.utils.clip_grad_norm_(whole.parameters(), 0.1)
    close(norm.full_tensor().cpu(), expected, COMPOSED)


def check_parameters_are_offloaded_to_the_host(rank: int) -> None:
    net = sharded(offload_policy=CPUOffloadPolicy(pin_memory=False))
    same_losses(train(net, SGD(net.parameters()), rank), cpu_losses())
    assert net.first.weight.device.type == "cpu"


def check_placements_of_distributed_tensors(rank: int) -> None:
    mesh = init_device_mesh("jax", (SIZE,))
    host = torch.randn(5, 6, generator=torch.Generator().manual_seed(3))
    x = host.to("jax")
    for source in (Shard(0), Shard(1), Replicate()):
        d = distribute_tensor(x, mesh, [source])
        assert torch.equal(d.full_tensor().cpu(), host)
        for target in (Shard(0), Shard(1), Replicate()):
            assert torch.equal(d.redistribute(mesh, [target]).full_tensor().cpu(), host), (source, target)
    partial = DTensor.from_local(x, mesh, [Partial()])
    for target in (Shard(0), Shard(1), Replicate()):
        close(partial.redistribute(mesh, [target]).full_tensor().cpu(), 2 * host)
    maximum = DTensor.from_local(x + rank, mesh, [Partial("max")]).full_tensor()
    close(maximum.cpu(), host + 1)
    a, b = distribute_tensor(x, mesh, [Shard(1)]), distribute_tensor(x.t(), mesh, [Shard(0)])
    product = a @ b
    assert product.placements == (Partial(),)
    close(product.full_tensor().cpu(), host @ host.t(), COMPOSED)
    close(a.softmax(1).full_tensor().cpu(), host.softmax(1))
    grid = init_device_mesh("jax", (SIZE, 1), mesh_dim_names=("data", "model"))
    two = distribute_tensor(x, grid, [Shard(0), Shard(0)])
    assert torch.equal(two.full_tensor().cpu(), host)


def check_tensor_parallel(rank: int) -> None:
    mesh = init_device_mesh("jax", (SIZE,))
    net = model().to("jax")
    plan = {
        "first": ColwiseParallel(output_layouts=Shard(-1)),
        "norm": PrepareModuleInput(input_layouts=Shard(-1), desired_input_layouts=Replicate(), use_local_output=True),
        "second": ColwiseParallel(),
        "last": RowwiseParallel(),
    }
    net = parallelize_module(net, mesh, plan)
    losses = train_deep(net, rank)
    same_losses(losses, cpu_losses())


def train_deep(net: nn.Module, rank: int) -> list[float]:
    """Every rank has the whole batch."""
    return train(net, torch.optim.SGD(net.parameters(), lr=0.1, foreach=False), rank, data=lambda t, rank: t)


class Block(nn.Module):
    """A block of a transformer without attention, over (batch, sequence, features)."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


def check_sequence_parallel_and_loss_parallel(rank: int) -> None:
    def make() -> nn.Module:
        torch.manual_seed(0)
        return nn.Sequential(Block(), nn.Linear(8, 6))

    x, y = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 6
    whole = make()
    expected = nn.functional.cross_entropy(whole(x).flatten(0, 1), y)
    expected.backward()
    mesh = init_device_mesh("jax", (SIZE,))
    net = parallelize_module(
        make().to("jax"),
        mesh,
        {
            "0.norm": SequenceParallel(use_local_output=True),
            "0.up": ColwiseParallel(input_layouts=Shard(1)),
            "0.down": RowwiseParallel(output_layouts=Shard(1)),
            "1": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
        },
    )
    mine = x.chunk(SIZE, 1)[rank].to("jax")
    with loss_parallel():
        loss = nn.functional.cross_entropy(net(mine).flatten(0, 1), y.to("jax"))
        loss.backward()
    value = loss.full_tensor() if isinstance(loss, DTensor) else loss
    same_losses([value.item()], [expected.item()])
    gradient = net[0].up.weight.grad.full_tensor().cpu()
    close(gradient, whole[0].up.weight.grad, COMPOSED)


def check_distribute_module(rank: int) -> None:
    net = distribute_module(model().to("jax"), init_device_mesh("jax", (SIZE,)))
    assert all(isinstance(p, DTensor) and p.placements == (Replicate(),) for p in net.parameters())


def check_distributed_checkpoint(rank: int) -> None:
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder, 0)
    net = sharded()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    train(net, optimizer, rank, 2)
    parameters, state = get_state_dict(net, optimizer)
    dcp.save({"model": parameters, "optimizer": state}, checkpoint_id=Path(folder[0]))
    after = train(net, optimizer, rank, 2)
    fresh = sharded()
    nn.init.zeros_(fresh.first.bias)
    other = torch.optim.AdamW(fresh.parameters(), lr=0.5)
    parameters, state = get_state_dict(fresh, other)
    loaded = {"model": parameters, "optimizer": state}
    dcp.load(loaded, checkpoint_id=Path(folder[0]))
    set_state_dict(fresh, other, model_state_dict=loaded["model"], optim_state_dict=loaded["optimizer"])
    assert train(fresh, other, rank, 2) == after


def check_asynchronous_and_hugging_face_checkpoints(rank: int) -> None:
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder, 0)
    net = sharded()
    expected = [p.full_tensor().cpu() for p in net.parameters()]
    path = Path(folder[0]) / "asynchronous"
    hugging_face = f"{folder[0]}/hugging_face"
    dcp.save(
        get_model_state_dict(net), storage_writer=dcp.HuggingFaceStorageWriter(hugging_face, save_distributed=True)
    )
    saving = dcp.async_save(get_model_state_dict(net), checkpoint_id=path)
    with torch.no_grad():
        for p in net.parameters():
            p.zero_()  # what is saved was copied
    saving.result()
    for reader in (dcp.FileSystemReader(path), dcp.HuggingFaceStorageReader(hugging_face)):
        state = get_model_state_dict(net)
        dcp.load(state, storage_reader=reader)
        set_model_state_dict(net, state)
        for p, q in zip(net.parameters(), expected, strict=True):
            assert torch.equal(p.full_tensor().cpu(), q)
