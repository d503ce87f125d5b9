"""Lazy mode beside what else a program of torch is written with: the losses and gradients of eager mode.

DDP and SPMD scripts in lazy mode are in tests/compat/torch_xla/test_scripts.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (torch's own idiom)
from torch import nn
from torch.func import functional_call, grad, jvp, vmap
from torch.utils.checkpoint import checkpoint

import tenax
from tenax._lazy import cuts
from tenax._lazy.mode import own_tape
from tenax._lazy.programs import History
from tenax.storage.tensors import cell_of
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED, COMPOSED, IN_BFLOAT16, LOSSES

pytestmark = pytest.mark.gpu

STEPS = 4


@pytest.fixture(autouse=True)
def history() -> Iterator[History]:
    """What this thread runs in lazy mode during a test."""
    tape = own_tape()
    tape.history, tape.cuts = History(), cuts.Cuts()
    yield tape.history
    tape.clear()


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.25), nn.Linear(16, 8), nn.LayerNorm(8)).to("jax")


def batches() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(8, 8, generator=generator).to("jax") for _ in range(STEPS)]


def trained(loss_of: Callable[[nn.Module, torch.Tensor], torch.Tensor], lazy: bool, model: Any = None) -> list[Any]:
    """The losses of a few steps of AdamW, and the parameters behind them."""
    model = network() if model is None else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    losses = []
    torch.manual_seed(2)
    with tenax.lazy() if lazy else nullcontext():
        for x in batches():
            optimizer.zero_grad()
            loss = loss_of(model, x)
            loss.backward()
            optimizer.step()
            tenax.sync()
            losses.append(loss.detach())
    return [loss.cpu() for loss in losses] + [p.detach().cpu() for p in model.parameters()]


def plain(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(model(x), x)


def autocast(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("jax", torch.bfloat16):
        return F.mse_loss(model(x), x)


def checkpointed(reentrant: bool) -> Callable[[nn.Module, torch.Tensor], torch.Tensor]:
    def loss_of(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(checkpoint(model, x.clone().requires_grad_(), use_reentrant=reentrant), x)

    return loss_of


def gradient_penalty(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(x).square()[:, :4].sum(), x, create_graph=True)
    return F.mse_loss(slope, x.detach())


def accumulated_by_hook(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = model[0](x)
    y.register_hook(lambda g: g.clamp(-0.01, 0.01))
    return y.square().mean()


def compiled_part(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(tenax.jit(lambda y: model(y))(x * 2) + model(x), x)


LOSSES_OF: dict[str, Callable[[nn.Module, torch.Tensor], torch.Tensor]] = {
    "plain": plain,
    "autocast": autocast,
    "checkpoint": checkpointed(False),
    "reentrant checkpoint": checkpointed(True),
    "second derivative": gradient_penalty,
    "hook": accumulated_by_hook,
    "tenax.jit inside": compiled_part,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LOSSES_OF)
def test_it_trains_as_in_eager_mode(name: str) -> None:
    rough = name == "autocast"
    found, expected = (trained(LOSSES_OF[name], lazy) for lazy in (True, False))
    close(found[:STEPS], expected[:STEPS], IN_BFLOAT16 if rough else LOSSES)
    close(found[STEPS:], expected[STEPS:], IN_BFLOAT16 if rough else ACCUMULATED)


def test_one_program_a_step_whatever_it_is_written_with(history: History) -> None:
    for name in ("autocast", "checkpoint", "second derivative", "hook"):
        before = history.runs
        trained(LOSSES_OF[name], lazy=True)
        assert history.runs - before <= STEPS + 1, name  # and the end of the context


def test_transforms_of_functions_of_recorded_tensors() -> None:
    model = network().eval()
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss_of(parameters: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        return functional_call(model, parameters, (x,)).square().sum()

    def computed() -> list[torch.Tensor]:
        x = batches()[0] * 2
        each = vmap(grad(loss_of), (None, 0))(parameters, x)
        _, slope = jvp(lambda x: loss_of(parameters, x), (x,), (torch.ones_like(x),))
        return [*each.values(), slope, x]

    with tenax.lazy():
        found = computed()
    close(found, computed(), COMPOSED)


@pytest.mark.parametrize("loss_of", [plain, checkpointed(False)], ids=["plain", "checkpoint"])
def test_a_module_on_a_mesh_trains_as_on_one_device(loss_of: Callable[..., torch.Tensor]) -> None:
    mesh = jax.make_mesh((4,), ("data",), devices=jax.devices()[:4])

    def on_mesh(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return loss_of(model, tenax.shard(x, jax.P("data"), mesh))

    models = [network().eval(), tenax.shard(network().eval(), {"0.weight": jax.P("data")}, mesh)]
    expected = trained(loss_of, False, models[0])
    found = trained(on_mesh, True, models[1])
    close(found, expected, ACCUMULATED)
    assert tenax.sharding_of(models[1][0].weight).spec == jax.P("data")


@pytest.mark.parametrize("settle", [tenax.sharding_of, lambda _: tenax.sync()], ids=["read", "synchronized"])
def test_a_jax_function_may_move_its_result_to_a_mesh(settle: Callable[..., Any]) -> None:
    mesh = jax.make_mesh((4,), ("data",), (jax.sharding.AxisType.Auto,), devices=jax.devices()[:4])
    spread = partial(jax.lax.with_sharding_constraint, shardings=jax.NamedSharding(mesh, jax.P("data")))
    with tenax.lazy():
        for _ in range(3):
            x = tenax.call_jax(spread, torch.ones(4, device="jax") * 3)
            y = x.clone()
            settle(x)
            z = x + 1
            torch._foreach_add_([x, y], 2)
            assert z.tolist() == [4] * 4 and x.tolist() == y.tolist() == [5] * 4
            assert tenax.sharding_of(z).spec == tenax.sharding_of(x).spec == jax.P("data")


def test_what_one_thread_records_another_one_uses() -> None:
    found: list[float] = []
    with tenax.lazy():
        x = torch.ones(4, device="jax") * 3
        y = x.view(2, 2)

        def work() -> None:
            with tenax.lazy():
                z = y * 2
                x.add_(1)  # behind which `z` has the values of before
                found.extend([z.sum().item(), y.sum().item()])

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        x.mul_(2)
        assert y.tolist() == [[8, 8], [8, 8]]
    assert found == [24, 16]


def test_a_compiled_step_between_recorded_operations() -> None:
    def run(lazy: bool) -> list[torch.Tensor]:
        model = network().eval()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        @tenax.jit
        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = plain(model, x)
            loss.backward()
            optimizer.step()
            return loss.detach()

        average = [p.detach().clone() for p in model.parameters()]
        with tenax.lazy() if lazy else nullcontext():
            for x in batches():
                loss = step(x.sin() * 2)
                for mean, p in zip(average, model.parameters(), strict=True):
                    mean.lerp_(p.detach(), 0.5)
                tenax.sync()
        return [loss, *average]

    close(run(True), run(False), COMPOSED)


def test_views_that_a_compiled_function_has_seen_first_are_recorded() -> None:
    x = torch.rand(7, 3, device="jax")

    def parts(x: torch.Tensor) -> list[torch.Tensor]:
        return [x[i : i + 2].exp() for i in range(3)]  # from the second on, the start of a view is an operand

    tenax.jit(parts)(x)
    with tenax.lazy():
        found = parts(x)
        assert all(cell_of(y).pending is not None for y in found)
    close(found, parts(x))


def test_functions_that_jax_traces_follow_each_other() -> None:
    traced: list[str] = []

    def plus(x: torch.Tensor) -> torch.Tensor:
        traced.append("plus")
        return x + 1

    def times(x: torch.Tensor) -> torch.Tensor:
        traced.append("times")
        return x * 2

    first, second = jax.jit(tenax.t2j(plus)), jax.jit(tenax.t2j(times))
    x, wide = torch.ones(3, device="jax"), torch.ones(4, device="jax", requires_grad=True)
    with tenax.lazy():
        y = tenax.call_jax(first, x * 3)
        z = tenax.call_jax(second, wide * 3)  # is traced while `y` is recorded
        again = tenax.call_jax(first, wide[:2])
        (slope,) = torch.autograd.grad(z.sum() + again.sum(), wide)
        inside = second(jnp.ones(5))  # JAX traces it, and what is recorded runs within
    assert y.tolist() == [4] * 3 and z.tolist() == [6] * 4 and again.tolist() == [2] * 2
    assert slope.tolist() == [7, 7, 6, 6] and inside.tolist() == [2] * 5
    assert traced.count("plus") == 2
