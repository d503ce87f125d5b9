"""Training steps under `tenax.jit` against the same steps on CPU torch, run eagerly."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import jax
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import tenax
from tenax.errors import TraceError
from tests.agreement import close
from tests.tolerances import COMPOSED, LOSSES, ROUNDED
from tests.training import OPTIMIZERS, assert_same_state, both, data, mlp, trainer


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


def test_the_first_step_and_later_ones_share_one_program() -> None:
    x, y = data()
    model = mlp(6, 8, 4).to("jax")
    step, _ = trainer(model, "AdamW", {"lr": 0.01})
    step = tenax.jit(step)
    for _ in range(4):
        step(x.to("jax"), y.to("jax"))
    assert sum(not c.shared for c in step.history) == 1
    assert len(step.history) == 2  # without gradients, and with those of the last call


def test_a_changed_learning_rate_does_not_compile_again() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, theirs = trainer(reference, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step, optimizer = trainer(ours, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step = tenax.jit(step)
    for rate in (0.1, 0.03, 0.5):
        for one in (theirs, optimizer):
            one.param_groups[0]["lr"] = rate
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert len(step.history) == 1
    assert_same_state(ours, reference)


def test_a_number_that_changes_compiles_once_more_and_says_so() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, theirs = trainer(reference, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step, optimizer = trainer(ours, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step = tenax.jit(step)
    for decay in (0.1, 0.2, 0.3, 0.25, 0.0, 0.4):
        for one in (theirs, optimizer):
            one.param_groups[0]["weight_decay"] = decay
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    reasons = [compilation.reason for compilation in step.history]
    assert reasons[1] == "optimizer.param_groups[0].weight_decay was 0.1 and is 0.2"
    assert len(reasons) == 3  # and 0.0, by which the optimizer decays nothing
    assert_same_state(ours, reference, ROUNDED)


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


def test_no_array_of_the_trace_is_kept() -> None:
    def count() -> int:
        gc.collect()
        return sum(a.shape == (170, 230) for a in jax.live_arrays())

    model = nn.Linear(230, 170, bias=False).to("jax")
    step, _ = trainer(model, "AdamW", {"lr": 0.01}, zero_last=True)
    step = tenax.jit(step)
    x, y = torch.ones(4, 230, device="jax"), torch.zeros(4, dtype=torch.int64, device="jax")
    before = count()
    for _ in range(3):
        step(x, y)
    assert before == 1 and count() == 3  # the weight and two moments
    forward = tenax.jit(model)
    forward(x)
    forward(x).sum().backward()
    model.zero_grad()
    step(x, y)
    assert count() == 3


def test_what_repeated_calls_keep_is_given_up_when_it_is_replaced() -> None:
    model = nn.Linear(3, 2, bias=False).to("jax")
    forward, x = tenax.jit(model), torch.ones(4, 3, device="jax")

    @tenax.jit
    def shrink() -> None:
        with torch.no_grad():
            model.weight.mul_(0.5)

    with torch.no_grad():
        for change in (lambda: model.weight.add_(2), shrink, lambda: model.weight.mul_(4), model.weight.zero_):
            for _ in range(3):
                assert torch.equal(forward(x), x @ model.weight.T)
            replaced = weakref.ref(model.weight.jax())
            change()
            gc.collect()
            assert replaced() is None or replaced().is_deleted()
            assert torch.equal(forward(x), x @ model.weight.T)


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


def test_a_donated_step_needs_no_second_copy_of_its_state() -> None:
    model = nn.Linear(256, 256).to("jax")
    step, _ = trainer(model, "SGD", {"lr": 0.1, "momentum": 0.9}, decay=False, zero_last=True)
    step = tenax.jit(step)
    x, y = torch.ones(4, 256, device="jax"), torch.zeros(4, dtype=torch.int64, device="jax")
    for _ in range(2):
        step(x, y)
    state = 2 * sum(p.nbytes for p in model.parameters())
    # The first step makes the momentum and has a program of its own.
    assert max(program.aliased_bytes for program in tenax.explain(step).programs) >= state


@pytest.mark.parametrize("kind", ["RMSprop", "Adam"])
def test_a_group_whose_parameters_get_no_gradient_is_added(kind: str) -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))

    def make(model: nn.Module):
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.01)

        def step(x: torch.Tensor, y: torch.Tensor) -> None:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()

        return step, optimizer

    (expected, theirs), (step, optimizer) = make(reference), make(ours)
    step = tenax.jit(step)
    for number in range(4):
        if number == 2:  # its learning rate is one more number, which the program does not use
            theirs.add_param_group({"params": [nn.Parameter(torch.ones(3))], "lr": 0.5})
            optimizer.add_param_group({"params": [nn.Parameter(torch.ones(3, device="jax"))], "lr": 0.5})
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert_same_state(ours, reference, COMPOSED)


CYCLED: list[tuple[str, dict[str, object]]] = [
    ("SGD", {"momentum": 0.9}),
    ("AdamW", {}),
    ("Adam", {"foreach": False}),
    ("SGD", {"momentum": 0.9, "weight_decay": 0.1, "fused": True}),
    ("AdamW", {"fused": True}),
    ("Adam", {"fused": True, "amsgrad": True}),
]


@pytest.mark.parametrize(("kind", "options"), CYCLED, ids=str)
@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_a_cycle_of_rates_and_momenta_is_one_program(kind: str, options: dict[str, object], inside: bool) -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))

    def make(model: nn.Module):
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.01, **options)
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=8)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            if inside:
                cycle.step()
            optimizer.zero_grad()
            return loss

        return step, optimizer, cycle

    expected, theirs, their_cycle = make(reference)
    step, optimizer, cycle = make(ours)
    step = tenax.jit(step)
    for _ in range(6):
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
        if not inside:
            their_cycle.step()
            cycle.step()
    assert_same_state(ours, reference, COMPOSED)
    # A momentum buffer comes to be in the first step; outside, the momentum is seen to change in the second.
    assert len(step.history) <= 2
    for key in ("lr", "momentum", "betas"):
        assert optimizer.param_groups[0].get(key) == theirs.param_groups[0].get(key)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "Adagrad"])
@pytest.mark.parametrize("index", [0, 1])
def test_the_numbers_of_a_fused_optimizer_change_without_a_new_program(kind: str, index: int) -> None:
    x, y = data()
    reference = mlp(6, 8, 4)
    ours = copy.deepcopy(reference).to(f"jax:{index}")
    expected, theirs = trainer(reference, kind, {"lr": 0.01, "weight_decay": 0.01, "fused": True})
    step, optimizer = trainer(ours, kind, {"lr": 0.01, "weight_decay": 0.01, "fused": True})
    step = tenax.jit(step)
    for number in range(6):
        for each in (theirs, optimizer):
            each.param_groups[0]["weight_decay"] = 0.01 * max(number, 1)
            if "betas" in each.param_groups[0]:
                each.param_groups[0]["betas"] = (0.9 - 0.01 * number, 0.999 - 0.001 * number)
        expected(x, y)
        step(x.to(f"jax:{index}"), y.to(f"jax:{index}"))
    assert_same_state(ours, reference, COMPOSED)
    assert len(step.history) <= 3  # constants, the state that the first step made, inputs


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


def test_a_state_that_is_loaded_between_steps_counts() -> None:
    def losses_and_momenta(device: str) -> list[float]:
        weight = nn.Parameter(torch.ones(2, device=device))
        optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        seen: list[float] = []

        def step() -> None:
            weight.square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()

        step = tenax.jit(step) if device == "jax" else step
        step()
        first = copy.deepcopy(optimizer.state_dict())
        for load in (False, True, False, True):
            if load:
                optimizer.load_state_dict(copy.deepcopy(first))
            step()
            seen += [weight[0].item(), optimizer.state[weight]["momentum_buffer"][0].item()]
        handle = optimizer.register_step_post_hook(lambda *_: weight.data.mul_(2))
        step()
        handle.remove()
        return [*seen, weight[0].item()]

    close(torch.tensor(losses_and_momenta("jax")), torch.tensor(losses_and_momenta("cpu")), ROUNDED)


def test_a_gradient_that_a_step_only_looks_for_counts() -> None:
    early, late, frozen = (nn.Parameter(torch.ones(2, device="jax")) for _ in range(3))
    optimizer = torch.optim.SGD([early, late, frozen], lr=0.25)
    step = tenax.jit(lambda: optimizer.step())
    early.sum().backward()
    step()
    late.sum().backward()
    step()
    frozen.sum().backward()
    frozen.requires_grad_(False)
    step()
    assert [p[0].item() for p in (early, late, frozen)] == [0.25, 0.5, 0.75]


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


def test_a_learning_rate_that_the_step_sets_itself_is_set_by_each_call() -> None:
    def losses_and_rates(jit: Any) -> list[Any]:
        torch.manual_seed(0)
        model = mlp(6, 4, 2).to("jax")
        optimizer = torch.optim.SGD(list(model.parameters())[:2], 0.1, momentum=0.9)
        calls = 0

        @jit
        def step(x: torch.Tensor) -> torch.Tensor:
            nonlocal calls
            calls += 1
            if calls == 2:
                optimizer.add_param_group({"params": list(model.parameters())[2:], "lr": 0.01})
            optimizer.param_groups[0]["lr"] = 0.1 * min(1, calls / 3)
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
            return loss

        x = data()[0].to("jax")
        losses = [step(x).item() for _ in range(5)]
        return [*losses, *(group["lr"] for group in optimizer.param_groups)]

    close(torch.tensor(losses_and_rates(tenax.jit)), torch.tensor(losses_and_rates(lambda f: f)), LOSSES)


def test_a_learning_rate_is_set_by_a_scheduler_or_by_the_step() -> None:
    weight = nn.Parameter(torch.ones(2, device="jax"))
    optimizer = torch.optim.SGD([weight], 0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    @tenax.jit
    def step() -> None:
        weight.square().sum().backward()
        optimizer.step()
        schedule.step()
        optimizer.param_groups[0]["lr"] = 0.5

    with pytest.raises(TraceError, match=r"sets .*lr itself, which a scheduler moves"):
        step()
    assert optimizer.param_groups[0]["lr"] == 0.1 and schedule.last_epoch == 0


def test_modes_are_left_as_they_were_found() -> None:
    with pytest.raises(TraceError, match="leaves gradients or the default dtype otherwise"):
        tenax.jit(lambda: torch.set_grad_enabled(False))()
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("device", ["jax", "cpu"])
def test_an_optimizer_that_does_not_step_has_no_state_of_parameters_that_are_frozen_or_elsewhere(device: str) -> None:
    weight = torch.nn.Parameter(torch.ones(2, device="jax"))
    frozen = torch.nn.Parameter(torch.ones(2, device=device))
    frozen.grad = torch.ones_like(frozen)
    frozen.requires_grad_(False)
    optimizer = torch.optim.AdamW([weight, frozen])

    def step(x: torch.Tensor) -> torch.Tensor:
        if x.requires_grad:
            optimizer.step()
        return x * weight

    tenax.jit(step)(torch.ones(2, device="jax"))
    assert not optimizer.state
