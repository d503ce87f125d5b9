"""Training steps under `tenax.jit` against the same steps on CPU torch, run eagerly."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import tenax
from tenax.errors import TraceError
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED
from tests.helpers.training import OPTIMIZERS, assert_same_state, both, data, mlp, trainer


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_an_unmodified_training_step_trains_as_on_the_cpu(kind: str) -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, _ = trainer(reference, kind, OPTIMIZERS[kind])
    step, optimizer = trainer(ours, kind, OPTIMIZERS[kind])
    step = tenax.jit(step)
    for _ in range(5):
        want = expected(x, y)
        got = step(x.to("jax"), y.to("jax"))
        close(got, want, COMPOSED)
    assert_same_state(ours, reference, COMPOSED)
    close(optimizer.param_groups[0]["lr"], OPTIMIZERS[kind]["lr"] * 0.9**5)


def test_the_first_step_and_later_ones_share_one_trace() -> None:
    x, y = data()
    model = mlp(6, 8, 4).to("jax")
    step, _ = trainer(model, "AdamW", {"lr": 0.01})
    step = tenax.jit(step)
    for _ in range(4):
        step(x.to("jax"), y.to("jax"))
    assert len(step.history) == 1


def test_a_compiled_module_is_differentiable_outside() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    forward = tenax.jit(ours)
    theirs = torch.optim.SGD(reference.parameters(), lr=0.1)
    optimizer = torch.optim.SGD(forward.parameters(), lr=0.1)
    for _ in range(3):
        for one, model, device in ((theirs, reference, "cpu"), (optimizer, forward, "jax")):
            one.zero_grad()
            start = x.clone().to(device).requires_grad_()
            loss = F.cross_entropy(model(start * 2), y.to(device))
            loss.backward()
            one.step()
            if device == "cpu":
                want = start.grad
        close(start.grad, want)
    assert_same_state(ours, reference)
    assert len(tenax._jit.jitted.compiled_of(forward).history) == 1


def test_scaler_skips_a_step_with_infinities() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))

    def make(model: nn.Module, device: str):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            return loss

        return step, scaler

    expected, theirs = make(reference, "cpu")
    step, scaler = make(ours, "jax")
    step = tenax.jit(step)
    for bad in (False, False, True, False):
        batch = torch.full_like(x, torch.inf) if bad else x
        expected(batch, y)
        step(batch.to("jax"), y.to("jax"))
        assert scaler.get_scale() == theirs.get_scale()
    assert_same_state(ours, reference, COMPOSED)


def average_beside(
    model: nn.Module, start: Callable[[nn.Module], tuple[nn.Module, Callable[[], None]]]
) -> tuple[Any, nn.Module]:
    """Train on the CPU and on the device, there compiled, with an average that `start` makes and each step moves; the
    averages must agree. The compiled step, and the device's average."""

    def make(one: nn.Module) -> tuple[Callable[..., torch.Tensor], nn.Module]:
        average, move = start(one)
        train, _ = trainer(one, "SGD", {"lr": 0.1}, decay=False)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            loss = train(x, y)
            move()
            return loss

        return step, average

    x, y = data()
    (expected, want), (step, got) = map(make, both(model))
    compiled = tenax.jit(step)
    for _ in range(4):
        expected(x, y)
        compiled(x.to("jax"), y.to("jax"))
    assert_same_state(got, want)
    return compiled, got


def test_moving_average_of_weights() -> None:
    def start(model: nn.Module) -> tuple[nn.Module, Callable[[], None]]:
        average = copy.deepcopy(model)

        @torch.no_grad()
        def move() -> None:
            for p, q in zip(average.parameters(), model.parameters(), strict=True):
                p.lerp_(q, 0.1)

        return average, move

    average_beside(mlp(6, 8, 4), start)


def test_an_exception_within_leaves_everything_as_it_was() -> None:
    x, y = data()
    model = mlp(6, 8, 4).to("jax")
    before = {k: v.clone() for k, v in model.state_dict().items()}
    step, optimizer = trainer(model, "AdamW", {"lr": 0.01})

    def failing(x: torch.Tensor, y: torch.Tensor) -> None:
        step(x, y)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tenax.jit(failing)(x.to("jax"), y.to("jax"))
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    assert not optimizer.state and optimizer.param_groups[0]["lr"] == 0.01
    assert optimizer.param_groups[0]["capturable"] is False


def test_eager_steps_before_and_after_go_on_with_the_same_state() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, _ = trainer(reference, "AdamW", {"lr": 0.01}, decay=False)
    eager, _ = trainer(ours, "AdamW", {"lr": 0.01}, decay=False)
    compiled = tenax.jit(eager)
    for step in (eager, compiled, compiled, eager, compiled):
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert_same_state(ours, reference, COMPOSED)


# Torch's plain average of the whole numbers among the buffers raises on every device but the CPU.
@pytest.mark.parametrize(("ema", "use_buffers"), [(True, True), (True, False), (False, False)])
def test_averaged_models(ema: bool, use_buffers: bool) -> None:
    def start(model: nn.Module) -> tuple[nn.Module, Callable[[], None]]:
        average = get_ema_multi_avg_fn(0.9) if ema else None
        averaged = AveragedModel(model, multi_avg_fn=average, use_buffers=use_buffers)
        return averaged, lambda: averaged.update_parameters(model)

    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
    compiled, averaged = average_beside(model, start)
    assert len(compiled.history) <= 2
    assert averaged.n_averaged.item() == 4


@pytest.mark.parametrize("foreach", [True, False])
def test_complex_parameters_train(foreach: bool) -> None:
    """Optimizers see them as pairs of real numbers, a second dtype on one storage."""

    def weight_after(device: str, wrap: Callable[..., Any]) -> torch.Tensor:
        p = nn.Parameter(torch.tensor([1 + 2j, 3 - 1j], device=device))
        optimizer = torch.optim.Adam([p], lr=0.1, foreach=foreach)

        def step(g: torch.Tensor) -> None:
            optimizer.zero_grad()
            (p * g.conj()).real.sum().backward()
            optimizer.step()

        step = wrap(step)
        for i in range(1, 5):
            step(torch.tensor([0.3 + 0.1j * i, 0.5 * i - 0.2j], device=device))
        return p.detach().cpu()

    close(weight_after("jax", tenax.jit), weight_after("cpu", lambda f: f), COMPOSED)


def test_a_packed_sequence_of_captured_lengths() -> None:
    lengths, rnn = torch.tensor([2, 4, 3]), nn.GRU(3, 5, batch_first=True)

    def run(rnn: nn.GRU, x: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(rnn(packed)[0], batch_first=True)[0]

    x = torch.randn(3, 4, 3)
    want = run(rnn, x)
    close(tenax.jit(run)(rnn.to("jax"), x.to("jax")), want)


def test_the_second_device_compiles_too() -> None:
    x, y = data()
    reference = mlp(6, 8, 4)
    ours = copy.deepcopy(reference).to("jax:1")
    expected, _ = trainer(reference, "AdamW", {"lr": 0.01})
    step = tenax.jit(trainer(ours, "AdamW", {"lr": 0.01})[0])
    for _ in range(2):
        expected(x, y)
        loss = step(x.to("jax:1"), y.to("jax:1"))
    assert loss.device == ours[0].weight.device == torch.device("jax:1")
    assert_same_state(ours, reference, COMPOSED)
    view = tenax.jit(lambda x: (x * 2).t())(x.to("jax:1"))
    assert view.device == torch.device("jax:1") and view.stride() == (1, 6)
    two = torch.tensor(2.0)
    close(tenax.jit(lambda x: two - x)(x.to("jax:1")), two - x)
    for made in (torch.rand(3, device="jax:1", dtype=torch.float64), torch.arange(3, device="jax:1")):
        close(tenax.jit(lambda x: x * 2 + torch.ones(3, dtype=x.dtype).to("jax:1"))(made), made.cpu() * 2 + 1)


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("of", ["module", "optimizer"])
def test_zero_grad_finds_gradients_or_none(of: str, set_to_none: bool) -> None:
    x = torch.ones(2, 3)
    found = []
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        model = nn.ModuleList([nn.Linear(3, 2), nn.Linear(3, 2)])  # the second one takes no part
        optimizer = torch.optim.SGD(model.to(device).parameters(), lr=0.1)
        owner = model if of == "module" else optimizer

        def step(x: torch.Tensor, owner: Any = owner, model: Any = model) -> torch.Tensor:
            owner.zero_grad(set_to_none)
            loss = model[0](x).sum()
            loss.backward()
            return loss

        run = step if device == "cpu" else tenax.jit(step)
        run(x.to(device))
        old = model[0].weight.grad
        model[1].weight.grad = torch.ones_like(model[1].weight)
        run(2 * x.to(device))
        run(3 * x.to(device))
        found.append(
            (
                old is model[0].weight.grad,
                old.cpu(),
                *(p.grad if p.grad is None else p.grad.cpu() for p in model.parameters()),
            )
        )
    for got, want in zip(*found, strict=True):
        assert got == want if not isinstance(want, torch.Tensor) else torch.equal(got, want)


def test_a_gradient_from_outside_is_added_to_though_none_is_left() -> None:
    weight = nn.Parameter(torch.ones(2, device="jax"))

    @tenax.jit
    def step() -> torch.Tensor:
        weight.sum().backward()
        total = weight.grad * 1
        weight.grad = None
        return total

    assert step().tolist() == [1, 1]
    weight.grad = torch.ones_like(weight)
    assert step().tolist() == [2, 2]
    assert weight.grad is None


def test_a_gradient_from_outside_is_added_to_before_it_is_deleted() -> None:
    layer = nn.Linear(2, 1, bias=False, device="jax")

    @tenax.jit
    def step(x: torch.Tensor) -> None:
        layer(x).sum().backward()
        del layer.weight.grad
        layer.zero_grad()
        layer(x).sum().backward()

    x = torch.ones(1, 2, device="jax")
    step(x)
    layer.weight.grad = before = torch.ones_like(layer.weight)
    step(x)
    assert before.tolist() == [[2, 2]]


def test_modes_are_left_as_they_were_found() -> None:
    with pytest.raises(TraceError, match="leaves gradients, the default dtype or the precision of float32"):
        tenax.jit(lambda: torch.set_grad_enabled(False))()
    assert torch.is_grad_enabled()


def test_a_module_may_be_made_and_moved_within_a_compiled_function() -> None:
    outside = nn.LayerNorm(3)

    def step(x: torch.Tensor) -> tuple[torch.Tensor, bool, torch.Tensor | None]:
        first, second = nn.LayerNorm(3), nn.BatchNorm1d(3)
        second.weight = first.weight
        both = nn.Sequential(first, second).to(x.device)
        result = both(x)
        result.square().sum().backward()
        return result.detach(), first.weight is second.weight, first.weight.grad

    compiled = tenax.jit(step)
    for _ in range(2):
        x = torch.randn(4, 3)
        close(compiled(x.to("jax")), step(x), COMPOSED)
    with pytest.raises(TraceError, match="tensors are swapped"):
        tenax.jit(lambda x: outside.to(x.device)(x))(x.to("jax"))
    assert outside.weight.device.type == "cpu"
