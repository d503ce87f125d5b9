"""Step counts of optimizers: parameters whose counts are equal share one input and one result of a compiled step."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tenax.storage.tensors import cell_of
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED
from tests.helpers.training import assert_same_state

Trainer = tuple[nn.Sequential, torch.optim.Optimizer, Callable[..., Any]]


def trainer(device: str, kind: str = "AdamW", **options: Any) -> Trainer:
    """A model, its optimizer, and a step; the step's argument is the number of layers that it trains."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)).to(device)
    optimizer = getattr(torch.optim, kind)(model.parameters(), **{"lr": 0.01, **options})
    x = torch.linspace(-1, 1, 15).reshape(5, 3).to(device)

    def step(layers: int = 5) -> None:
        optimizer.zero_grad()
        model[:layers](x).square().mean().backward()
        optimizer.step()

    return model, optimizer, tenax.jit(step) if device == "jax" else step


@pytest.mark.parametrize("kind", ["AdamW", "NAdam"])
def test_a_run_that_resumes_from_a_file_runs_the_same_program(kind: str) -> None:
    model, optimizer, step = trainer("jax", kind)
    step()
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    step()
    resumed, other, again = trainer("jax", kind)
    file.seek(0)
    for target, state in zip((resumed, other), torch.load(file), strict=True):
        target.load_state_dict(state)
    again()
    assert newest(again).executables.text == newest(step).executables.text
    assert all(torch.equal(a, b) for a, b in zip(resumed.parameters(), model.parameters(), strict=True))


def newest(step: Any) -> Any:
    """The program that was compiled last."""
    return next(iter(reversed(step.programs.values())))[0]


def counts(program: Any) -> int:
    """The number of 0-d arrays that a program takes and replaces."""
    return sum(a.shape == () for a in program.forward.arguments)


@pytest.mark.parametrize("options", [{}, {"fused": True}, {"amsgrad": True}, {"capturable": True}], ids=str)
def test_adamw_has_one_count(options: dict[str, Any]) -> None:
    model, optimizer, step = trainer("jax", **options)
    for _ in range(3):
        step()
    program, parameters = newest(step), [*model.parameters()]
    states = 3 if "amsgrad" in options else 2
    assert counts(program) == 1
    assert len(program.arrays.written) == 1 + (1 + states) * len(parameters)
    assert len(program.forward.donated) == (1 + states) * len(parameters)
    assert {optimizer.state[p]["step"].item() for p in parameters} == {3.0}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        *(("NAdam", 2), ("RAdam", 1), ("Adamax", 1), ("Adagrad", 1), ("ASGD", 3), ("Rprop", 1), ("Adadelta", 1)),
        ("RMSprop", 1),
    ],
)
def test_other_optimizers_have_one_array_of_each_kind(kind: str, expected: int) -> None:
    reference, _, on_cpu = trainer("cpu", kind)
    model, _, step = trainer("jax", kind)
    for _ in range(3):
        on_cpu()
        step()
    assert counts(newest(step)) == expected
    assert_same_state(model, reference, COMPOSED)


@pytest.mark.parametrize("options", [{"foreach": False}, {"fused": True}, {}], ids=str)
def test_a_count_that_the_program_writes_alone(options: dict[str, Any]) -> None:
    reference, theirs, on_cpu = trainer("cpu", **options)
    model, optimizer, step = trainer("jax", **options)
    for call, one, of in ((on_cpu, reference, theirs), (step, model, optimizer)):
        for _ in range(3):
            call()
        of.state[one[0].weight]["step"].add_(5)
        call()
        call()
    assert [state["step"].item() for state in optimizer.state.values()] == [10, 5, 5, 5, 5, 5]
    assert_same_state(model, reference, COMPOSED)


def test_parameters_without_a_gradient_fall_behind() -> None:
    reference, _, on_cpu = trainer("cpu")
    model, optimizer, step = trainer("jax")
    for layers in (5, 5, 3, 3, 5, 5, 3, 5):
        on_cpu(layers)
        step(layers)
    assert [state["step"].item() for state in optimizer.state.values()] == [8, 8, 8, 8, 5, 5]
    assert counts(newest(step)) <= 2
    assert_same_state(model, reference, COMPOSED)
    traced = len(step.history)
    for layers in (5, 3, 3, 5):
        step(layers)
    assert len(step.history) == traced


def test_a_group_that_is_added_has_its_own_count() -> None:
    models = []
    for device in ("cpu", "jax"):
        model, optimizer, step = trainer(device)
        optimizer.param_groups[0]["params"] = [*model[:3].parameters()]
        step()
        step()
        optimizer.add_param_group({"params": [*model[4].parameters()], "lr": 0.1})
        step()
        step()
        models.append(model)
    assert [state["step"].item() for state in optimizer.state.values()] == [4, 4, 4, 4, 2, 2]
    assert counts(newest(step)) == 2
    assert_same_state(models[1], models[0], COMPOSED)


@pytest.mark.parametrize("options", [{}, {"fused": True}], ids=str)
def test_counts_that_are_loaded_are_one_again(options: dict[str, Any]) -> None:
    _, optimizer, step = trainer("jax", **options)
    step()
    step()
    state = copy.deepcopy(optimizer.state_dict())
    for part in state["state"].values():
        part["step"] = torch.tensor(part["step"].item())  # as from a file
    optimizer.load_state_dict(state)
    step()
    assert counts(newest(step)) == 1
    assert {part["step"].item() for part in optimizer.state.values()} == {3.0}


def test_a_copied_optimizer_has_counts_of_its_own() -> None:
    _, optimizer, step = trainer("jax")
    step()
    copied = copy.deepcopy(optimizer)
    step()
    assert {part["step"].item() for part in copied.state.values()} == {1.0}
    assert {part["step"].item() for part in optimizer.state.values()} == {2.0}


def test_a_scaler_that_skips_a_step_keeps_one_count() -> None:
    model, optimizer, _ = trainer("jax")
    scaler = torch.amp.GradScaler("jax", init_scale=4.0, growth_interval=100)

    @tenax.jit
    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        scaler.scale(model(x).square().mean()).backward()
        scaler.step(optimizer)
        scaler.update()

    for x in (1.0, float("inf"), 1.0):
        step(torch.full((5, 3), x, device="jax"))
    assert {part["step"].item() for part in optimizer.state.values()} == {2.0}
    assert len({id(cell_of(part["step"]).content) for part in optimizer.state.values()}) == 1
    assert len(step.history) <= 2


def test_0d_tensors_that_part_are_inputs_of_their_own() -> None:
    model = nn.Module()
    model.first = nn.Parameter(torch.tensor(2.0, device="jax"))
    model.second = copy.deepcopy(model.first)
    model.third = copy.deepcopy(model.first)
    assert cell_of(model.first).content is cell_of(model.second).content

    @tenax.jit
    @torch.no_grad()
    def step(x: torch.Tensor) -> torch.Tensor:
        model.first.add_(x)
        return model.first * model.second * model.third

    results = [step(torch.tensor(1.0, device="jax")) for _ in range(3)]
    close(torch.stack(results), torch.tensor([12.0, 16.0, 20.0]))
    assert len(step.history) == 1
