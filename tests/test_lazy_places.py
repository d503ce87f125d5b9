"""Lazy mode runs operations eagerly where sizes change in every step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import tenax
from tenax._lazy.cuts import Cuts
from tenax._lazy.mode import own_tape
from tenax._lazy.places import Places
from tenax._lazy.programs import History
from tenax.storage.recording import recording
from tests.agreement import close

STEPS, SIZES = 40, 20  # more steps and sizes than the sixteen programs after which a place counts as changing


@pytest.fixture(autouse=True)
def history() -> Iterator[History]:
    """What this thread runs in lazy mode during a test."""
    tape = own_tape()
    tape.history, tape.cuts, tape.places = History(), Cuts(), Places()
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


def test_steps_whose_sizes_keep_changing_run_eagerly(history: History) -> None:
    sizes = [*range(3, 3 + STEPS)]  # of no other test, because programs are shared
    with tenax.lazy():
        found = trained("jax", sizes)
        assert own_tape().paused
    assert recording.tape is None
    assert not own_tape().paused
    close(found, trained("cpu", sizes))
    assert len(history.programs) < SIZES
    assert "eager until the next step" in str(tenax.explain(tenax.lazy))


def test_sizes_that_recur_stay_recorded(history: History) -> None:
    sizes = [200 + i % 12 for i in range(STEPS)]
    with tenax.lazy():
        trained("jax", sizes)
        assert recording.tape is own_tape()
    assert sum(runs.count for runs in history.programs.values()) >= STEPS


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
    assert max(runs.count for runs in history.programs.values()) >= STEPS - SIZES  # that of the first part


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


def test_a_trace_leaves_a_paused_tape_paused() -> None:
    double = tenax.jit(lambda x: x * 2)
    with tenax.lazy():
        trained("jax", [*range(120, 120 + STEPS)])
        assert own_tape().paused
        assert double(torch.ones(2, device="jax")).tolist() == [2, 2]
        assert recording.tape is not own_tape()
