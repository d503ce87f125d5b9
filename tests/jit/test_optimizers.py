"""Numbers, groups and state of optimizers that change between the calls of a compiled training step."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import tenax
from tenax.errors import TraceError
from tenax.storage.avals import meshes
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED, LOSSES, ROUNDED
from tests.helpers.training import assert_same_state, both, data, mlp, trainer


def after_changes(key: str, values: Sequence[float], *allowance: Any) -> Any:
    """The compiled step that trained once with each value of a hyperparameter of SGD, as CPU torch did."""
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, theirs = trainer(reference, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step, optimizer = trainer(ours, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step = tenax.jit(step)
    for value in values:
        for one in (theirs, optimizer):
            one.param_groups[0][key] = value
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert_same_state(ours, reference, *allowance)
    return step


def test_a_changed_learning_rate_does_not_compile_again() -> None:
    assert len(after_changes("lr", (0.1, 0.03, 0.5)).history) == 1


def test_a_number_that_changes_compiles_once_more_and_says_so() -> None:
    step = after_changes("weight_decay", (0.1, 0.2, 0.3, 0.25, 0.0, 0.4), ROUNDED)
    reasons = [compilation.reason for compilation in step.history]
    assert reasons[1] == "optimizer.param_groups[0].weight_decay was 0.1 and is 0.2"
    assert len(reasons) == 3  # and 0.0, by which the optimizer decays nothing


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


@pytest.mark.sampled(3)
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


def test_a_sequence_of_schedulers_reports_the_rate_that_it_has_set() -> None:
    # Until its milestone, the sequence and its first scheduler share one list of rates.
    schedulers = torch.optim.lr_scheduler
    x, y = data()
    reports = []
    for model in both(mlp(6, 8, 4)):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        parts = [schedulers.LinearLR(optimizer, 0.1, total_iters=3), schedulers.ExponentialLR(optimizer, 0.9)]
        schedule = schedulers.SequentialLR(optimizer, parts, [3])

        def step(x: torch.Tensor, y: torch.Tensor, model=model, optimizer=optimizer, schedule=schedule) -> torch.Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            schedule.step()
            return loss

        device = next(model.parameters()).device
        run, rates = tenax.jit(step) if device.type == "jax" else step, []
        for _ in range(6):
            run(x.to(device), y.to(device))
            rates.append((schedule.get_last_lr(), schedule.state_dict()["_schedulers"][0]["_last_lr"]))
        reports.append(rates)
    assert reports[0] == reports[1]


@pytest.mark.sampled(3)
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


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "NAdam", "RAdam", "Adamax"])
def test_programs_of_float32_steps_have_no_float64(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TPUs emulate float64."""
    weight = nn.Parameter(torch.ones(7, device="jax"))
    optimizer = getattr(torch.optim, kind)([weight], lr=0.01)
    programs, lower = [], jax.stages.Traced.lower
    monkeypatch.setattr(jax.stages.Traced, "lower", lambda self: (programs.append(str(self.jaxpr)), lower(self))[1])

    def train() -> None:
        weight.grad = weight * 2
        optimizer.step()

    step = tenax.jit(train)
    step()
    step()
    steps = [program for program in programs if "sqrt" in program or "div" in program]
    assert steps
    assert not any("f64[" in program for program in steps)


@pytest.mark.parametrize("beta2", [0.999, 0.99999])
@pytest.mark.parametrize("count", [1, 10, 1_000, 100_000])
def test_bias_corrections_are_as_exact_as_float32(beta2: float, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshes, "used", False)  # after other tests: torch's own step computes them on meshes
    moments = torch.rand(2, 50) + 0.1
    news = {}
    for dtype, device in ((torch.float64, "cpu"), (torch.float32, "jax")):
        weight = nn.Parameter(torch.zeros(50, dtype=dtype, device=device))
        weight.grad = torch.ones(50, dtype=dtype, device=device)
        optimizer = torch.optim.AdamW([weight], lr=1, betas=(0.9, beta2))
        first, second = moments.to(device, dtype)
        optimizer.state[weight] = {"step": torch.tensor(count - 1.0), "exp_avg": first, "exp_avg_sq": second}
        (tenax.jit(optimizer.step) if device == "jax" else optimizer.step)()
        news[device] = weight.detach().cpu().float()
    close(news["jax"], news["cpu"])


class Counting(torch.optim.Optimizer):
    """An optimizer of a program, which keeps numbers in its groups and defaults."""

    def __init__(self, params: Any) -> None:
        super().__init__(params, {"scale": 1.0})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        self.defaults["scale"] *= 0.5
        for group in self.param_groups:
            group["k"] = group.get("k", 0) + 1
            group["word"] = "x" * group["k"]
            for p in group["params"]:
                p.add_(p.grad, alpha=self.defaults["scale"] / len(group["word"]))


class Warming(torch.optim.Optimizer):
    """An optimizer of a program, which counts its steps in its groups and its state."""

    def __init__(self, params: Any) -> None:
        super().__init__(params, {"lr": 0.1, "steps": 0})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            group["steps"] += 1
            group["lr"] *= 0.9
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"], state["average"], state["scale"] = 0, torch.zeros_like(p), 1.0
                state["step"] += 1
                state["scale"] *= 0.5
                state["average"].mul_(0.9).add_(p.grad, alpha=0.1)
                step = state["average"] / (1 - 0.9 ** state["step"]) + state["scale"]
                p.add_(step, alpha=-group["lr"] * min(1.0, group["steps"] / 4))


def scaled(key: str, late: bool, factor: Callable[[float], float] = lambda value: 0.9) -> Any:
    """Change an entry of the only group, before or after each step."""

    def change(optimizer: Any, *_: Any) -> None:
        group = optimizer.param_groups[0]
        value = group[key]
        group[key] = tuple(0.9 * v for v in value) if isinstance(value, tuple) else factor(value) * value

    return change, late


OWN_ENTRIES: dict[str, tuple[str, dict[str, Any], Any, int]] = {
    "decay before": ("SGD", {"lr": 0.1, "weight_decay": 0.5}, scaled("weight_decay", False), 2),
    "decay after": ("SGD", {"lr": 0.1, "weight_decay": 0.5}, scaled("weight_decay", True), 2),
    "momentum": ("SGD", {"lr": 0.1, "momentum": 0.5}, scaled("momentum", True), 2),
    "rate": ("SGD", {"lr": 0.1}, scaled("lr", False), 1),
    "rate of Adam": ("Adam", {"lr": 0.1}, scaled("lr", True), 1),
    "rate by its value": ("SGD", {"lr": 0.1}, scaled("lr", False, math.cos), 6),
    "decay by its value": ("SGD", {"lr": 0.1, "weight_decay": 0.5}, scaled("weight_decay", True, math.cos), 6),
    "betas": ("Adam", {"lr": 0.1}, scaled("betas", True), 6),
}


def assert_same_course(make: Any, changes: Any, hook: str = "") -> int:
    """Six calls of a compiled step that changes its optimizer have the parameters and groups of CPU torch. Return how
    often it was traced."""
    found, traces = [], 0
    for device in ("cpu", "jax"):
        p = nn.Parameter(torch.ones(2, device=device))
        optimizer = make([p])
        change, late = changes or ((lambda *_: None), False)
        if hook:
            getattr(optimizer, hook)(change)

        def step(p: Any = p, optimizer: Any = optimizer, change: Any = change, late: bool = late) -> None:
            if not hook and not late:
                change(optimizer)
            optimizer.zero_grad()
            p.square().sum().backward()
            optimizer.step()
            if not hook and late:
                change(optimizer)

        run = step if device == "cpu" else tenax.jit(step)
        course = []
        for _ in range(6):
            run()
            group = optimizer.param_groups[0].items()
            course.append((p.tolist(), {k: v for k, v in group if k not in ("params", "capturable")}))
        found.append(course)
        traces = 0 if device == "cpu" else len(tenax.explain(run).traces)
    for (values, group), (expected, reference) in zip(found[1], found[0], strict=True):
        close(torch.tensor(values), torch.tensor(expected), COMPOSED)
        assert group == reference
    return traces


@pytest.mark.parametrize("name", OWN_ENTRIES)
def test_entries_that_the_step_changes_itself_are_changed_by_each_call(name: str) -> None:
    kind, options, changes, traces = OWN_ENTRIES[name]
    assert assert_same_course(lambda params: getattr(torch.optim, kind)(params, **options), changes) == traces


@pytest.mark.parametrize("hook", ["register_step_pre_hook", "register_step_post_hook"])
@pytest.mark.parametrize(("kind", "key"), [("SGD", "weight_decay"), ("SGD", "lr"), ("Adam", "lr")])
def test_hooks_change_the_groups_in_each_call(kind: str, key: str, hook: str) -> None:
    options = {"lr": 0.1, "weight_decay": 0.5}
    assert_same_course(lambda params: getattr(torch.optim, kind)(params, **options), scaled(key, False), hook)


def test_an_optimizer_keeps_its_own_numbers() -> None:
    assert_same_course(Counting, None)
    assert assert_same_course(Warming, None) == 4  # at first, with state, with numbers as inputs, after the warm-up


def test_a_scheduler_steps_by_its_name() -> None:
    p = nn.Parameter(torch.ones(2, device="jax"))
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    tick = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20).step

    @tenax.jit
    def step() -> None:
        p.grad = torch.ones_like(p)
        optimizer.step()
        tick()

    with pytest.raises(TraceError, match=r"other than by .*\.step\(\)"):
        step()


def test_a_dict_has_parameters_as_keys() -> None:
    p = nn.Parameter(torch.ones(2, device="jax"))
    averages = {p: torch.zeros(2, device="jax")}

    @tenax.jit
    def step() -> None:
        averages[p] = averages[p] * 0.5 + p.detach()

    for expected in (1.0, 1.5, 1.75):
        step()
        assert averages[p].tolist() == [expected] * 2
