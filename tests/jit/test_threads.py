"""Threads that call the same programs at the same time."""

from __future__ import annotations

import io
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tenax
from tenax.dispatch.aot_call import AotCall
from tenax.errors import TraceError
from tests.helpers.agreement import close
from tests.helpers.processes import run


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns after nearly every instruction."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], Any], count: int = 4) -> list[Any]:
    """The results of `work` for each number below `count`, each in a thread of its own."""
    results: list[Any] = [None] * count

    def run(i: int) -> None:
        results[i] = work(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("mode", ["jit", "lazy"])
def test_each_call_computes_with_its_own_numbers(mode: str, hurried: None) -> None:
    scale = tenax.jit(lambda x, by: x * by) if mode == "jit" else torch.mul
    x = torch.ones(2, device="jax")
    scale(x, 0.5), scale(x, 1.5)

    def wrong(thread: int) -> list[tuple[float, list[float]]]:
        found = []
        with tenax.lazy() if mode == "lazy" else nullcontext():
            for i in range(300):
                by = thread * 1000 + i + 0.25
                if (result := scale(x, by).tolist()) != [by, by]:
                    found.append((by, result))
        return found

    assert in_threads(wrong) == [[]] * 4


def test_a_call_whose_arrays_another_thread_donates_reads_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Linear(3, 3).to("jax").requires_grad_(False)
    predict, x = tenax.jit(lambda x: model(x)), torch.ones(2, 3, device="jax")
    before, run = predict(x), AotCall.__call__

    def run_after_donation(call: AotCall, arrays: Any) -> Any:
        monkeypatch.undo()
        old = model.weight.jax()
        in_threads(lambda _: model.weight.mul_(2).sum().item(), 1)
        old.delete()
        return run(call, arrays)

    monkeypatch.setattr(AotCall, "__call__", run_after_donation)
    close(predict(x) - before, model.weight.sum(1).expand(2, 3) / 2)


def test_a_write_during_a_call_is_seen_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Linear(3, 3).to("jax").requires_grad_(False)
    predict, x = tenax.jit(lambda x: model(x)), torch.ones(2, 3, device="jax")
    for _ in range(3):
        predict(x)
    run = AotCall.__call__

    def run_meanwhile(call: AotCall, arrays: Any) -> Any:
        monkeypatch.undo()
        results = run(call, arrays)
        in_threads(lambda _: model.weight.mul_(2), 1)
        return results

    monkeypatch.setattr(AotCall, "__call__", run_meanwhile)
    before, after = predict(x), predict(x)
    close(after - before, model.weight.sum(1).expand(2, 3) / 2)


@contextmanager
def drawing(draw: Callable[[], object]) -> Iterator[None]:
    """Another thread draws without end."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            draw()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


OWN = torch.Generator()
DRAWS: dict[str, Callable[[], Any]] = {
    "torch": lambda: torch.rand(()).item(),
    "Python": random.random,
    "a generator of torch": lambda: torch.rand((), generator=OWN).item(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_function_is_traced_while_another_thread_draws_random_numbers(name: str) -> None:
    draw, x = DRAWS[name], torch.ones(2, device="jax")
    doubled, noisy = tenax.jit(lambda x: OWN and x * 2), tenax.jit(lambda x: OWN and x * draw())
    with drawing(draw):
        assert doubled(x).tolist() == [2, 2]
        with pytest.raises(TraceError, match="draws random numbers on the host"):
            noisy(x)


def test_threads_draw_different_random_numbers_on_the_device(hurried: None) -> None:
    x = torch.ones(4, device="jax")
    noise = tenax.jit(lambda x: x * torch.rand_like(x))
    noise(x)
    drawn = in_threads(lambda _: [tuple(noise(x).tolist()) for _ in range(100)])
    assert len({values for thread in drawn for values in thread}) == 400


def read_eagerly(model: nn.Module) -> None:
    """What a thread that evaluates or saves a model does, while another one trains it."""
    weight = next(model.parameters())
    model(torch.ones(2, 8, device="jax"))
    assert weight.detach().sum().isfinite()
    torch._foreach_norm([*model.parameters()])
    weight.detach()[1:3].tolist()
    torch.empty_like(weight).copy_(weight)
    for copy in [value.clone() for value in model.state_dict().values()]:
        copy.cpu()
    torch.save(model.state_dict(), io.BytesIO())
    assert np.isfinite(np.asarray(weight.detach().jax())).all()


def test_a_model_is_read_eagerly_while_a_compiled_step_trains_it(hurried: None) -> None:
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 8)).to("jax")
    optimizer = torch.optim.AdamW(model.parameters())

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    x, ended, errors = torch.ones(2, 8, device="jax"), threading.Event(), list[Exception]()
    step(x)
    read_eagerly(model)

    def read() -> None:
        try:
            while not ended.is_set():
                read_eagerly(model)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(300):
        step(x)
    ended.set()
    thread.join()
    assert not errors


# In a process of its own, because a deadlock could not be ended otherwise.
SHARED_LEAVES = """
import sys, threading, time, torch, tenax
sys.setswitchinterval(1e-5)
model, x = torch.nn.Linear(4, 4).to("jax"), torch.ones(2, 4, device="jax")
compiled = tenax.jit(lambda x: model(x))
for _ in range(2):
    compiled(x), model(x)
end = time.monotonic() + 5
def eager():
    while time.monotonic() < end:
        model(x)
thread = threading.Thread(target=eager)
thread.start()
while time.monotonic() < end:
    compiled(x)
thread.join()
"""


def test_compiled_and_eager_calls_that_need_the_gradients_of_a_leaf_do_not_wait_for_each_other() -> None:
    run(SHARED_LEAVES, timeout=120)
