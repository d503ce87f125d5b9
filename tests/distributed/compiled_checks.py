"""What each rank of two checks about collectives inside compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn
from torch.distributed._functional_collectives import wait_tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

import tenax
from tenax.errors import TraceError
from tenax.interop import t2j
from tests.distributed.parallel_checks import (
    SGD,
    Block,
    batch,
    cpu_losses,
    mean,
    model,
    part,
    same_losses,
    sharded,
)
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED
from tests.helpers.training import assert_same_state

Step = Callable[..., torch.Tensor]


def compiled_step(net: Any, optimizer: Any) -> Any:
    """A compiled training step."""

    @tenax.jit
    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def compiled_losses(net: Any, optimizer: Any, rank: int, data: Callable[..., Any] = part) -> tuple[list[float], Any]:
    """The losses of a compiled training step, and the step."""

    step = compiled_step(net, optimizer)
    losses = []
    for n in range(4):
        x, y = (data(t, rank).to("jax") for t in batch(n))
        losses.append(mean(step(x, y)))
    return losses, step


def kinds(step: Any) -> list[str]:
    """The collectives of the newest program."""
    return sorted(c.kind for c in tenax.explain(step).programs[0].collectives)


def check_collectives_of_a_compiled_function(rank: int) -> None:
    def every(x: torch.Tensor) -> list[torch.Tensor]:
        total, most, first, mean = x.clone(), x.clone(), x.clone(), x.clone()
        dist.all_reduce(total)
        dist.all_reduce(most, dist.ReduceOp.MAX)
        dist.broadcast(first, 1)
        work = dist.all_reduce(mean, dist.ReduceOp.AVG, async_op=True)
        assert work is not None
        work.wait()
        reduced = x.clone()
        dist.reduce(reduced, 1)
        gathered = x.new_empty(8)
        dist.all_gather_single(gathered, x)
        rows = [torch.empty_like(x) for _ in range(2)]
        dist.all_gather(rows, x[:2].repeat(2))
        scattered = x.new_empty(2)
        dist.reduce_scatter_single(scattered, x * x)
        exchanged = torch.empty_like(x)
        dist.all_to_all_single(exchanged, x)
        bits = (x > 5).to(torch.int32)
        dist.all_reduce(bits, dist.ReduceOp.BOR)
        with dist._coalescing_manager():
            for t in (work_on := [x + 1, x + 2]):
                dist.all_reduce(t)
        return [total, most, first, mean, reduced, gathered, *rows, scattered, exchanged, bits, *work_on, x[1:] * rank]

    step = tenax.jit(every)
    for n in range(3):
        x = torch.arange(4.0, device="jax") * (n + 1) + 10 * rank
        for found, expected in zip(step(x), every(x), strict=True):
            assert torch.equal(found.cpu(), expected.cpu()), (rank, found, expected)
    assert len(tenax.explain(step).traces) == 1


def check_functional_collectives_of_compiled_functions(rank: int) -> None:
    group = dist.group.WORLD

    def every(x: torch.Tensor) -> list[torch.Tensor]:
        found = [
            functional.all_reduce(x, "sum", group),
            functional.all_gather_tensor(x, 0, group),
            functional.reduce_scatter_tensor(x, "avg", 0, group),
            functional.broadcast(x, 1, group),
            functional.all_to_all_single(x, None, None, group),
            functional.all_gather_tensor(x.reshape(2, 2), 1, group),
            functional.permute_tensor(x, [1, 0], group),
            functional.all_reduce_coalesced([x, 2 * x], "sum", group)[1],
            functional.all_gather_into_tensor_coalesced([x, 2 * x], group)[1],
        ]
        return [wait_tensor(t) + 1 for t in found]

    x = torch.arange(4.0, device="jax") + 10 * rank
    expected = every(x)
    compiled: tuple[Step, ...] = (tenax.jit(every), torch.compile(every, backend="tenax", fullgraph=True))
    for step in compiled:
        for _ in range(2):
            for found, wanted in zip(step(x), expected, strict=True):
                assert torch.equal(found.cpu(), wanted.cpu()), (rank, step, found, wanted)


def check_gradients_pass_through_collectives_of_compiled_functions(rank: int) -> None:
    def loss(x: torch.Tensor) -> torch.Tensor:
        return functional.all_gather_tensor_autograd(x.sin(), 0, dist.group.WORLD).square().sum()

    gradients = []
    for f in (loss, tenax.jit(loss)):
        x = (torch.arange(4.0) + rank).to("jax").requires_grad_()
        f(x).backward()
        assert x.grad is not None
        gradients.append(x.grad.cpu())
    close(gradients[1], gradients[0], COMPOSED)


def check_a_program_whose_only_collective_is_a_permutation(rank: int) -> None:
    def moved(x: torch.Tensor) -> torch.Tensor:
        return wait_tensor(functional.permute_tensor(x, [1, 0], dist.group.WORLD)) * 2

    x = torch.arange(3.0, device="jax") + 10 * rank
    assert torch.equal(tenax.jit(moved)(x).cpu(), 2 * (torch.arange(3.0) + 10 * (1 - rank)))


def check_a_program_does_not_depend_on_what_a_rank_has_run_before(rank: int) -> None:
    """A view that starts elsewhere than one before has its start as an operand, in eager mode."""

    def parts(x: torch.Tensor) -> list[torch.Tensor]:
        total = x[3:6] + x.conj()[3:6]
        dist.all_reduce(total)
        written = x.clone()
        written[3:6].add_(total)
        return [total, written]

    x = torch.arange(18.0, device="jax").reshape(9, 2) * (1 + 1j)
    for i in range(1 + rank, 4):
        x[i : i + 3] + x.conj()[i : i + 3]
        x.clone()[i : i + 3].add_(x[:3])
    expected = parts(x)
    for found, wanted in zip(tenax.jit(parts)(x), expected, strict=True):
        close(found.cpu(), wanted.cpu())


def check_random_numbers_and_constants_are_those_of_the_rank(rank: int) -> None:
    table = torch.arange(3.0, device="jax") + 100 * rank

    @tenax.jit
    def step(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x + table + torch.tensor([1.0, 2.0, 3.0 + rank], device="jax") + torch.rand(3, device="jax")
        local = x.clone()
        dist.all_reduce(x)
        return local, x

    torch.manual_seed(rank)
    for _ in range(2):
        local, total = step(torch.zeros(3, device="jax"))
        both = [torch.empty_like(local) for _ in range(2)]
        dist.all_gather(both, local)
        assert torch.equal(total.cpu(), (both[0] + both[1]).cpu())
        assert (100 * rank <= local.cpu()).all() and (local.cpu() < 100 * rank + 8).all()
        assert not torch.equal(both[0].cpu() + 100, both[1].cpu())
    torch.manual_seed(0)


def check_a_step_with_data_parallelism_is_one_program(rank: int) -> None:
    net = DistributedDataParallel(model(rank).to("jax"))
    losses, step = compiled_losses(net, SGD(net.parameters()), rank)
    same_losses(losses, cpu_losses(4))
    assert len(tenax.explain(step).programs) == 1
    assert kinds(step) == ["all-reduce"]
    assert len(tenax.explain(step).traces) == 1


def check_compiled_data_parallelism_accumulates_and_leaves_unused_parameters(rank: int) -> None:
    net = DistributedDataParallel(model().to("jax"), find_unused_parameters=True)
    whole = model()

    @tenax.jit
    def both(x: torch.Tensor, y: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> None:
        with net.no_sync():
            nn.functional.cross_entropy(net(x, deep=False), y).backward()
        nn.functional.cross_entropy(net(u, deep=False), v).backward()

    (x, y), (u, v) = batch(0), batch(1)
    both(*(part(t, rank).to("jax") for t in (x, y, u, v)))
    for a, b in ((x, y), (u, v)):
        nn.functional.cross_entropy(whole(a, deep=False), b).backward()
    close(net.module.first.weight.grad.cpu(), whole.first.weight.grad, COMPOSED)
    assert net.module.second.weight.grad is None


class Heads(nn.Module):
    """Two heads of one shape."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(3, 2, bias=False), nn.Linear(3, 2, bias=False)

    def forward(self, x: torch.Tensor, names: str) -> list[torch.Tensor]:
        return [getattr(self, name)(x) for name in names]


def check_compiled_data_parallelism_averages_what_earlier_passes_have_accumulated(rank: int) -> None:
    def passes(net: DistributedDataParallel, compiled: Callable[[Any], Any], one: bool) -> list[torch.Tensor]:
        x = torch.ones(1, 3, device=net.module.a.weight.device) + rank

        def backward(name: str) -> None:
            net(x, name)[0].sum().backward()

        def both() -> None:
            with net.no_sync():
                backward("a")
            backward("b")

        step = compiled(both if one else backward)
        for _ in range(2):
            net.zero_grad()
            if one:
                step()
            else:
                with net.no_sync():
                    step("a")
                step("b")
        return [p.grad.cpu() for p in net.parameters()]

    gloo = dist.new_group(backend="gloo")
    net = DistributedDataParallel(Heads().to("jax"), find_unused_parameters=True)
    expected = passes(
        DistributedDataParallel(Heads(), process_group=gloo, find_unused_parameters=True), lambda f: f, True
    )
    for one in (True, False):
        close(passes(net, tenax.jit, one), expected)


def check_compiled_data_parallelism_with_an_output_that_the_loss_does_not_use(rank: int) -> None:
    net = DistributedDataParallel(Heads().to("jax"), find_unused_parameters=True)
    tenax.jit(lambda x: net(x, "ab")[0].sum().backward())(torch.ones(1, 3, device="jax") + rank)
    close(net.module.a.weight.grad.cpu(), torch.full((2, 3), 1.5))
    assert net.module.b.weight.grad is None


def check_gradients_of_different_parameters_are_refused_by_compiled_data_parallelism(rank: int) -> None:
    net = DistributedDataParallel(Heads().to("jax"), find_unused_parameters=True)
    step = tenax.jit(lambda x: net(x, "ab"[rank])[0].sum().backward())
    with pytest.raises(NotImplementedError, match=r"compiled_checks.py:.* gradient of a.weight, b.weight; expected"):
        step(torch.ones(1, 3, device="jax"))
    with net.no_sync():
        tenax.jit(lambda x: net(x, "a")[0].sum().backward())(torch.ones(1, 3, device="jax"))
    with pytest.raises(NotImplementedError, match=r"compiled_checks.py:.*expected a compiled function for this pass"):
        net(torch.ones(1, 3, device="jax"), "b")


def normalized(module: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 3, 3), module, nn.ReLU(), nn.Flatten(), nn.Linear(27, 4))


def check_synchronized_batch_norm_in_a_compiled_step(rank: int) -> None:
    def losses(net: nn.Module, images: list[torch.Tensor], compiled: Callable[[Any], Any]) -> list[torch.Tensor]:
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        @compiled
        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        found = [step(x) for x in images]
        assert compiled is not tenax.jit or len(step.history) == 1
        return found

    images = [torch.randn(4, 2, 5, 5, generator=torch.Generator().manual_seed(n)) for n in range(3)]
    for options in ({}, {"affine": False}, {"track_running_stats": False, "momentum": None}):
        plain = normalized(nn.BatchNorm2d(3, **options))
        expected = losses(plain, images, lambda step: step)
        net = nn.SyncBatchNorm.convert_sync_batchnorm(normalized(nn.BatchNorm2d(3, **options))).to("jax")
        found = losses(DistributedDataParallel(net), [part(x, rank).to("jax") for x in images], tenax.jit)
        same_losses([mean(x) for x in found], [x.item() for x in expected])
        assert_same_state(net, plain, COMPOSED)


def check_backward_outside_of_compiled_data_parallelism_is_refused(rank: int) -> None:
    net = tenax.jit(DistributedDataParallel(model().to("jax")))
    x, y = (part(t, rank).to("jax") for t in batch(0))
    with pytest.raises(RuntimeError, match=r"compiled_checks.py:.*Call backward\(\) within"):
        nn.functional.cross_entropy(net(x), y).backward()
    with torch.no_grad():
        assert net(x).shape == (4, 4)


def check_a_fully_sharded_step_is_one_program(rank: int) -> None:
    def make(parameters: Any) -> Any:
        return torch.optim.AdamW(parameters, lr=0.01)

    net = sharded()
    losses, step = compiled_losses(net, make(net.parameters()), rank)
    same_losses(losses, cpu_losses(4, make))
    weight = net.first.weight
    assert isinstance(weight, DTensor) and isinstance(weight.grad, DTensor)
    assert weight.to_local().shape == (8, 8)
    # Of three groups of parameters, that of the root stays gathered until backward, and the last needs no second one.
    assert set(kinds(step)) == {"all-gather", "reduce-scatter"}
    assert kinds(step).count("reduce-scatter") == 3
    assert len(tenax.explain(step).traces) == 2


def check_the_numbers_of_a_fused_optimizer_of_distributed_tensors_change_without_a_new_program(rank: int) -> None:
    def make(parameters: Any) -> Any:
        def schedule(optimizer: Any, *_: Any) -> None:
            group = optimizer.param_groups[0]
            group["weight_decay"] = 0.9 * group["weight_decay"]
            group["betas"] = tuple(b - 0.01 for b in group["betas"])

        optimizer = torch.optim.AdamW(parameters, lr=0.01, weight_decay=0.5, fused=True)
        changes.append(lambda: schedule(optimizer))
        return optimizer

    changes: list[Callable[[], None]] = []
    net = sharded()
    optimizer = make(net.parameters())
    reference = model()
    theirs = make(reference.parameters())

    step = compiled_step(net, optimizer)
    for n in range(6):
        x, y = (part(t, rank).to("jax") for t in batch(n))
        found = mean(step(x, y))
        theirs.zero_grad()
        x, y = batch(n)
        expected = nn.functional.cross_entropy(reference(x), y)
        expected.backward()
        theirs.step()
        same_losses([found], [expected.item()])
        for change in changes:
            change()
    assert len(tenax.explain(step).traces) <= 3


def check_eager_and_compiled_steps_of_a_sharded_model_alternate(rank: int) -> None:
    net = sharded()
    optimizer = SGD(net.parameters())

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = tenax.jit(step)
    losses = []
    for n in range(4):
        x, y = (part(t, rank).to("jax") for t in batch(n))
        losses.append(mean((compiled if n % 2 else step)(x, y)))
    same_losses(losses, cpu_losses(4))


def check_a_step_with_tensor_parallelism_is_one_program(rank: int) -> None:
    torch.manual_seed(0)
    whole = nn.Sequential(Block(), nn.Linear(8, 6))
    plan = {
        "0.norm": SequenceParallel(use_local_output=True),
        "0.up": ColwiseParallel(input_layouts=Shard(1)),
        "0.down": RowwiseParallel(output_layouts=Shard(1)),
        "1": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
    }
    torch.manual_seed(0)
    net = parallelize_module(nn.Sequential(Block(), nn.Linear(8, 6)).to("jax"), init_device_mesh("jax", (2,)), plan)
    x, y = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 6
    other, reference = SGD(net.parameters(), foreach=False), SGD(whole.parameters())

    @tenax.jit
    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        other.zero_grad()
        with loss_parallel():
            loss = nn.functional.cross_entropy(net(x).flatten(0, 1), y)
            loss.backward()
        other.step()
        value = loss.detach()
        return value.full_tensor() if isinstance(value, DTensor) else value

    for _ in range(3):
        reference.zero_grad()
        expected = nn.functional.cross_entropy(whole(x).flatten(0, 1), y)
        expected.backward()
        reference.step()
        found = step(x.chunk(2, 1)[rank].to("jax"), y.to("jax"))
        same_losses([found.item()], [expected.item()])
    assert {"all-reduce"} < set(kinds(step))


def check_distributed_tensors_of_compiled_functions(rank: int) -> None:
    mesh = init_device_mesh("jax", (2,))
    host = torch.arange(12.0).reshape(4, 3)
    held = distribute_tensor(host.to("jax"), mesh, [Shard(0)])

    @tenax.jit
    def double() -> DTensor:
        return (held * 2).redistribute(mesh, [Replicate()])

    assert torch.equal(double().to_local().cpu(), 2 * host)
    with torch.no_grad():
        held.add_(1)
    assert torch.equal(double().to_local().cpu(), 2 * host + 2)
    assert len(tenax.explain(double).traces) == 1
    with pytest.raises(NotImplementedError, match=r"argument 0 is a DTensor.*to_local"):
        tenax.jit(lambda x: x + 1)(held)
    with pytest.raises(TraceError, match="DTensor with a history"):
        tenax.jit(lambda x: DTensor.from_local(x, mesh, [Shard(0)]) * 2)(
            torch.ones(2, device="jax", requires_grad=True)
        )


def check_graphs_of_uneven_shards_run_op_by_op(rank: int) -> None:
    mesh = init_device_mesh("jax", (2,))
    x, w = torch.arange(15.0).reshape(5, 3), torch.ones(3, 5)
    rows, columns = (distribute_tensor(t.to("jax"), mesh, [Shard(0)]) for t in (x, w))
    columns.requires_grad_()
    compiled = torch.compile(
        lambda: (rows.redistribute(mesh, [Replicate()]) @ columns.redistribute(mesh, [Replicate()])).relu(),
        backend="tenax",
        dynamic=False,
    )
    with pytest.warns(UserWarning, match="has traced another program than rank .*; this graph runs op by op"):
        loss = compiled().sum()
    for _ in range(2):
        loss.backward()
        close(columns.grad.full_tensor().cpu(), x.sum(0)[:, None].expand(3, 5))
        columns.grad = None
        loss = compiled().sum()
        close(loss.full_tensor().cpu(), (x @ w).sum())


def check_a_pure_function_says_what_to_use(rank: int) -> None:
    with pytest.raises(NotImplementedError, match=r"all_reduce inside a function of t2j.*axis_group"):
        t2j(lambda x: (dist.all_reduce(x), x + 1)[1])(torch.ones(4, device="jax").jax())


def check_what_no_program_repeats_is_refused(rank: int) -> None:
    x = torch.ones(4, device="jax")
    for call, message in (
        (dist.barrier, "barrier inside a compiled function"),
        (lambda: dist.send(x, 1 - rank), r"send inside .*permute_tensor"),
        (lambda: dist.recv(x, 1 - rank), r"recv inside .*permute_tensor"),
        (lambda: dist.gather(x, [x, x] if rank == 0 else None), "gather inside .*all_gather"),
        (lambda: dist.all_reduce(torch.ones(2)), "on the CPU inside a compiled function.*on the device"),
    ):
        with pytest.raises(NotImplementedError, match=message) as raised:
            tenax.jit(lambda t, call=call: (call(), t + 1)[1])(x)
        assert "compiled_checks.py" in str(raised.value)
