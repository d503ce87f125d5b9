"""Lazy mode runs operations eagerly where sizes change in every step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import tenax
from tenax._lazy.cuts import Cuts
from tenax._lazy.mode import own_tape
from tenax._lazy.places import ChangingSizes
from tenax._lazy.programs import History
from tenax.storage.recording import recording
from tests.helpers.agreement import close

STEPS, PROGRAMS = 40, 12  # the first program, four of other sizes, and then one after 4, 8 and 16 steps more, for each
# of the two parts of a first step


@pytest.fixture(autouse=True)
def history() -> Iterator[History]:
    """What this thread runs in lazy mode during a test."""
    tape = own_tape()
    tape.history, tape.cuts, tape.places = History(), Cuts(), ChangingSizes()
    yield tape.history
    tape.clear()


def trained(device: str, sizes: list[int]) -> torch.Tensor:
    """The weights after a step for each size."""
    weight = torch.linspace(-1, 1, 4).to(device).requires_grad_()
    for size in sizes:
        x = torch.arange(4.0 * size).reshape(size, 4).cos().to(device)
        (x @ weight).tanh().sum().backward()
        with torch.no_grad():
            weight -= 0.1 * weight.grad
        weight.grad = None
        tenax.sync()
    return weight.detach().cpu()


@pytest.mark.slow
def test_steps_whose_sizes_keep_changing_run_eagerly(history: History) -> None:
    sizes = [*range(3, 3 + STEPS)]  # of no other test, because programs are shared
    with tenax.lazy():
        found = trained("jax", sizes)
        assert own_tape().paused
        assert "eager until the next step" in str(tenax.explain(tenax.lazy))
    assert recording.tape is None
    assert not own_tape().paused
    close(found, trained("cpu", sizes))
    assert len(history.programs) < PROGRAMS


def test_sizes_that_recur_are_recorded_in_the_end(history: History) -> None:
    with tenax.lazy():
        trained("jax", [200 + i % 5 for i in range(60)])
        before = sum(runs.count for runs in history.programs.values())
        trained("jax", [200 + i % 5 for i in range(20)])
        assert recording.tape is own_tape()
    assert sum(runs.count for runs in history.programs.values()) >= before + 20


def test_the_part_of_a_step_before_the_sizes_change_stays_recorded(history: History) -> None:
    weights, sums = torch.linspace(-1, 1, 64).to("jax"), []
    with tenax.lazy():
        for step in range(STEPS):
            moved = (weights + 1).roll(step).cos().relu()
            selected = moved[moved > step / STEPS]
            assert (recording.tape is None) == own_tape().paused
            sums.append((selected.exp() - selected).sin().sum())
            tenax.sync()
            assert recording.tape is own_tape()
        found = torch.stack(sums).cpu()
    weights = weights.cpu()
    moved = [(weights + 1).roll(step).cos().relu() for step in range(STEPS)]
    selected = [m[m > step / STEPS] for step, m in enumerate(moved)]
    close(found, torch.stack([(s.exp() - s).sin().sum() for s in selected]))
    assert max(runs.count for runs in history.programs.values()) >= STEPS - PROGRAMS  # that of the first part


@pytest.mark.slow
def test_a_context_within_a_paused_one_records() -> None:
    with tenax.lazy():
        trained("jax", [*range(60, 60 + STEPS)])
        with tenax.lazy():
            assert recording.tape is own_tape()
            inner = torch.ones(3, device="jax") + 1
        assert own_tape().paused
        assert inner.tolist() == [2, 2, 2]
    tenax.sync()
    assert recording.tape is None


@pytest.mark.slow
def test_a_trace_leaves_a_paused_tape_paused() -> None:
    double = tenax.jit(lambda x: x * 2)
    with tenax.lazy():
        trained("jax", [*range(120, 120 + STEPS)])
        assert own_tape().paused
        assert double(torch.ones(2, device="jax")).tolist() == [2, 2]
        assert recording.tape is not own_tape()
