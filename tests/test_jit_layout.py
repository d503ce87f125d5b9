"""Weights that compiled programs hold in the order of axes that they compute in."""

from __future__ import annotations

import copy
import io
import threading
from collections.abc import Callable
from typing import Any

import jax
import pytest
import torch
from torch import nn

import tenax
from tenax._jit.jitted import compiled_of
from tenax.storage.tensors import cell_of
from tests.agreement import agree, close
from tests.tolerances import COMPOSED, SUMMED
from tests.training import both

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA's other backends lay weights by themselves")


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rnn(x.flatten(2).transpose(1, 2))[0]


MODELS: dict[str, Callable[[], nn.Module]] = {
    "convolutions": lambda: nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, (2, 1))),
    "channels last": lambda: nn.Conv2d(3, 6, 3).to(memory_format=torch.channels_last),
    "cast": lambda: nn.Conv2d(3, 6, 3).bfloat16().requires_grad_(False),
    "recurrent": Recurrent,
}


def laid(module: nn.Module) -> list[bool]:
    """Of each parameter, whether a program's order is what its cell has."""
    return ["laid" in cell_of(p).__dict__ for p in module.parameters()]


def predicts_alike(compiled: nn.Module, reference: nn.Module) -> None:
    x = torch.randn(2, 3, 5, 5, dtype=next(reference.parameters()).dtype)
    with torch.no_grad():
        agree(compiled(x.to("jax")), reference(x), COMPOSED)


@pytest.mark.parametrize("name", MODELS)
def test_weights_lie_as_the_program_computes(name: str) -> None:
    theirs, ours = both(MODELS[name]())
    compiled = tenax.jit(ours)
    for _ in range(3):
        predicts_alike(compiled, theirs)
        assert any(laid(ours))
    for mine, wanted in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(mine.cpu(), wanted) and mine.stride() == wanted.stride()


def _save(m: nn.Module) -> None:
    torch.save(m.state_dict(), file := io.BytesIO())
    file.seek(0)
    m.load_state_dict(torch.load(file, weights_only=True))


def _swap(m: nn.Module) -> None:
    m[0].weight.data = m[0].weight.data * 2


def _train(m: nn.Module) -> None:
    optimizer = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)
    step: Any = lambda x: (m(x).square().mean().backward(), optimizer.step(), optimizer.zero_grad())  # noqa: E731
    step = tenax.jit(step) if m[0].weight.device.type == "jax" else step
    for _ in range(2):
        step(torch.ones(2, 3, 5, 5, device=m[0].weight.device))


def _move(m: nn.Module) -> None:
    device = m[0].weight.device
    m.to("cpu").to(device)


BETWEEN: dict[str, Callable[[nn.Module], Any]] = {
    "nothing": lambda m: None,
    "a read": lambda m: m[0].weight.sum(),
    "a write": lambda m: m[0].weight.data.mul_(2),
    "a whole write": lambda m: nn.init.constant_(m[0].weight, 0.5),
    "a write to a view": lambda m: m[0].weight.data[1].zero_(),
    "a view of another dtype": lambda m: m[0].weight.data.view(torch.int32).zero_(),
    "data": _swap,
    "saved and loaded": _save,
    "trained": _train,
    "a deep copy": lambda m: copy.deepcopy(m)[0].weight.data.zero_(),
    "an eager call": lambda m: m(torch.ones(2, 3, 5, 5, device=m[0].weight.device)),
    "to float64 and back": lambda m: m.double().float(),
    "to the CPU and back": _move,
    "a clone": lambda m: m[0].weight.data.clone().zero_(),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_what_happens_between_calls_counts(name: str) -> None:
    theirs, ours = both(MODELS["convolutions"]())
    compiled = tenax.jit(ours)
    for _ in range(2):
        predicts_alike(compiled, theirs)
        for module in (theirs, ours):
            BETWEEN[name](module)
    predicts_alike(compiled, theirs)
    for mine, wanted in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(mine, wanted)


def test_weights_that_others_read_between_calls_stay_as_they_are() -> None:
    _, ours = both(MODELS["convolutions"]())
    theirs, compiled = copy.deepcopy(ours).cpu(), tenax.jit(ours)
    for _ in range(6):
        predicts_alike(compiled, theirs)
        ours[0].weight.sum()
    predicts_alike(compiled, theirs)
    assert not any(laid(ours))
    assert len(compiled_of(compiled).history) == 1  # no new trace


def test_programs_of_one_module_share_its_weights() -> None:
    theirs, ours = both(MODELS["convolutions"]())
    first, second = tenax.jit(ours), tenax.jit(lambda x: ours(x) * 2)
    for _ in range(5):
        predicts_alike(first, theirs)
        with torch.no_grad():
            second(torch.ones(2, 3, 5, 5, device="jax"))
    assert laid(ours) == [True, False, True, False]


def test_a_jax_function_reads_weights_in_torchs_order() -> None:
    theirs, ours = both(MODELS["convolutions"]())
    predicts_alike(tenax.jit(ours), theirs)
    assert any(laid(ours))
    read = jax.jit(lambda: tenax.to_jax(ours[0].weight) * 1)
    assert read().tolist() == theirs[0].weight.tolist()
    assert ours[0].weight.jax().tolist() == theirs[0].weight.tolist()


def test_an_average_of_trained_weights_agrees_with_the_cpu() -> None:
    results = []
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.Tanh(), nn.Conv1d(4, 2, 3)).to(device)
        average = copy.deepcopy(model).requires_grad_(False)
        predict = tenax.jit(average) if device == "jax" else average
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        losses = []
        for i in range(6):
            x = torch.full((2, 2, 8), 0.1 * i, device=device)
            model(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for a, p in zip(average.parameters(), model.parameters(), strict=True):
                    a.lerp_(p, 0.2)
                losses.append(predict(x).sum().item())
        results.append(losses)
    close(torch.tensor(results[1]), torch.tensor(results[0]), SUMMED)


def test_a_call_while_another_thread_traces_leaves_the_weights_to_the_trace() -> None:
    _, ours = both(MODELS["convolutions"]())
    x, began, called = torch.ones(2, 3, 5, 5, device="jax"), threading.Event(), threading.Event()
    predict = tenax.jit(ours)

    def twice() -> torch.Tensor:
        first = ours[0].weight.sum()
        began.set()
        called.wait(60)
        return first + ours[0].weight.sum()

    summed = tenax.jit(twice)
    with torch.no_grad():
        predict(x)
        thread = threading.Thread(target=torch.no_grad()(summed))
        thread.start()
        began.wait(60)
        predict(x)
        called.set()
        thread.join()
        ours[0].weight.fill_(1.0)
        assert summed().item() == 2 * ours[0].weight.numel()
