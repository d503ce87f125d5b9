"""What a first call of a compiled function costs: one run of the function, and one walk through what it reaches."""

from __future__ import annotations

import dataclasses
import gc
from typing import NamedTuple

import pytest
import torch
from torch import nn

import tenax
from tenax._jit import jitted
from tenax._jit.state_graph import Reached
from tenax._jit.traced_step import TracedStep
from tenax._jit.visitors import VISITORS, reach_call, visitor_of


class Counts(NamedTuple):
    graphs: list[object]
    runs: list[object]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """The state graphs that are built and the runs that are traced, in a test."""
    made = Counts([], [])
    for name, calls in (("reach_call", made.graphs), ("trace_step", made.runs)):
        plain = getattr(jitted, name)

        def counted(*args: object, plain=plain, calls=calls, **kwargs: object) -> object:
            calls.append(plain(*args, **kwargs))
            return calls[-1]

        monkeypatch.setattr(jitted, name, counted)
    return made


def training_step(model: nn.Module, optimizer: torch.optim.Optimizer):
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW, torch.optim.Adagrad])
def test_a_first_call_runs_the_function_once_and_builds_one_graph(
    optimizer: type[torch.optim.Optimizer], counts: Counts
) -> None:
    model = nn.Linear(3, 2).to("jax")
    step = tenax.jit(training_step(model, optimizer(model.parameters(), lr=0.1)))
    step(torch.ones(1, 3, device="jax"))
    assert (len(counts.runs), len(counts.graphs)) == (1, 1)


def test_state_that_a_run_does_not_use_is_removed_and_needs_a_second_run(counts: Counts) -> None:
    used, unused = nn.Linear(3, 2).to("jax"), nn.Linear(3, 2).to("jax")
    optimizer = torch.optim.AdamW([*used.parameters(), *unused.parameters()])
    step = tenax.jit(training_step(used, optimizer))
    step(torch.ones(1, 3, device="jax"))
    assert len(counts.runs) == 2
    assert {*optimizer.state} == {*used.parameters()}


def test_a_loss_whose_graph_was_used_up_leads_to_a_parameter_and_cannot_be_differentiated_again() -> None:
    model = nn.Linear(3, 2).to("jax")
    step = tenax.jit(training_step(model, torch.optim.SGD(model.parameters(), lr=0.1)))
    for _ in range(2):
        loss = step(torch.ones(1, 3, device="jax"))
        assert loss.requires_grad and loss.grad_fn is not None
        leaves = [node.variable for node, _ in loss.grad_fn.next_functions if node is not None]
        assert len(leaves) == 1 and any(leaves[0] is p for p in model.parameters())
        with pytest.raises(RuntimeError, match="a second time"):
            loss.backward()


def test_the_results_of_a_trace_are_frozen() -> None:
    assert TracedStep.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert len(dataclasses.fields(TracedStep)) <= 10


def test_the_visitor_of_a_class_is_that_of_its_nearest_base() -> None:
    class Model(nn.Linear):
        pass

    assert visitor_of(Model) is VISITORS[nn.Module]
    assert visitor_of(nn.Parameter) is VISITORS[torch.Tensor]
    assert visitor_of(type("Settings", (dict,), {})) is VISITORS[dict]
    assert visitor_of(int) is VISITORS[object]


def test_no_trace_searches_the_whole_heap() -> None:
    x, usual = torch.ones(2, device="jax"), gc.get_threshold()

    def fails(x: torch.Tensor) -> torch.Tensor:
        tenax.jit(lambda x: x + 1)(x)
        assert gc.get_threshold()[2] > 10 * usual[2] and gc.isenabled()
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        tenax.jit(fails)(x)
    assert gc.get_threshold() == usual


def test_the_ids_of_the_reached_objects_are_collected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[int] = []
    plain = Reached.typed.fget
    monkeypatch.setattr(Reached, "typed", property(lambda self: collected.append(1) or plain(self)))
    tenax.jit(nn.Sequential(*(nn.Linear(2, 2) for _ in range(8))).to("jax"))(torch.ones(1, 2, device="jax"))
    assert len(collected) == 1


def test_a_function_may_reach_as_many_objects_as_ten_thousand_parameters_have() -> None:
    state = [[] for _ in range(170_000)]
    assert len(reach_call(lambda: state, []).nodes) > 170_000
