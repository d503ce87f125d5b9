"""The first calls of operators on long lists run by programs for one tensor each, and compute what one program does."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest
import torch

from tenax.dispatch import list_start
from tenax.dispatch.dispatcher import Dispatcher
from tenax.xla.lowering import LoweredProgram
from tenax.xla.memory import code_memory
from tenax.xla.totals import totals
from tests.helpers.agreement import close

SHAPES = [(8, 8), (8,), (3, 5)]
OPTIMIZERS = {
    "adamw": lambda p: torch.optim.AdamW(p, 0.01),
    "fused": lambda p: torch.optim.AdamW(p, 0.01, fused=True),
    "momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "plain": lambda p: torch.optim.SGD(p, 0.1),
}


@pytest.fixture(autouse=True)
def tiers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The options that users get, and executables that this test is the first to need."""
    jax.devices()  # as many as the flags say
    monkeypatch.delenv("XLA_FLAGS")
    monkeypatch.setenv("TENAX_CACHE_DIR", str(tmp_path))
    forget()
    yield
    forget()


def forget() -> None:
    for dispatcher in code_memory.dispatchers:
        dispatcher.entries.clear()
        dispatcher.fast.clear()
        if isinstance(dispatcher.long_list, list_start.ListStarts):
            dispatcher.long_list.starts.clear()


def tensors(device: str, shapes: list[tuple[int, ...]], seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(s, generator=generator).to(device) for s in shapes]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_trains_as_on_the_cpu_before_and_after_one_program_serves(name: str) -> None:
    shapes = [*SHAPES * 7, (9,), (2, 2)]
    sides = [[torch.nn.Parameter(t) for t in tensors(device, shapes, 0)] for device in ("cpu", "jax")]
    optimizers = [OPTIMIZERS[name](side) for side in sides]
    for call in range(list_start.SERVES + 2):
        for side, device, optimizer in zip(sides, ("cpu", "jax"), optimizers, strict=True):
            for parameter, gradient in zip(side, tensors(device, shapes, call), strict=True):
                parameter.grad = gradient
            optimizer.step()
        for ours, theirs in zip(sides[1], sides[0], strict=True):
            close(ours.detach().cpu(), theirs.detach())


def longest(name: str) -> int:
    """How many tensors the longest program of a list operator writes."""
    executables = [e for d in code_memory.dispatchers if d.signature.name == name for e in d.entries.values()]
    return max(len(e.donate) for e in executables)


def test_a_program_is_compiled_for_each_shape_that_occurs_often_and_one_for_the_others() -> None:
    lists = [tensors("jax", [*SHAPES * 7, (9,), (2, 2)], seed) for seed in range(2)]
    before = totals.compiled
    torch._foreach_add_(lists[0], lists[1])
    torch.jax.synchronize()
    assert totals.compiled - before == len(SHAPES) + 1
    assert longest("_foreach_add_.List") == 2


def test_one_program_serves_from_a_certain_call_on() -> None:
    lists = [tensors("jax", SHAPES * 7, seed) for seed in range(2)]
    for _ in range(list_start.SERVES - 1):
        torch._foreach_add_(lists[0], lists[1])
    assert longest("_foreach_add_.List") == 1
    torch.jax.synchronize()
    before = totals.compiled
    torch._foreach_add_(lists[0], lists[1])
    assert longest("_foreach_add_.List") == 21
    assert totals.compiled <= before + 1  # begun by an earlier call


def test_lists_of_many_shapes_and_short_lists_are_one_program() -> None:
    for shapes in ([(i, 2) for i in range(1, 21)], SHAPES):
        torch._foreach_mul_(tensors("jax", shapes, 0), 2.0)
    assert longest("_foreach_mul_.Scalar") == 20
    executables = [d for d in code_memory.dispatchers if d.signature.name == "_foreach_mul_.Scalar"]
    assert sorted(len(e.donate) for d in executables for e in d.entries.values()) == [3, 20]


def test_numbers_that_belong_to_tensors_stay_with_them() -> None:
    shapes = SHAPES * 7
    sides = [tensors(device, shapes, 0) for device in ("cpu", "jax")]
    for side in sides:
        torch._foreach_mul_(side, [float(i) for i in range(21)])
        torch._foreach_addcmul_(side, side, [t.clone() for t in side], torch.arange(21.0))
    for ours, theirs in zip(sides[1], sides[0], strict=True):
        close(ours.cpu(), theirs)


def test_an_operator_whose_calls_must_give_the_same_bits_is_one_program() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        torch._foreach_mul_(tensors("jax", SHAPES * 7, 0), 2.0)
    finally:
        torch.use_deterministic_algorithms(False)
    assert longest("_foreach_mul_.Scalar") == 21


def test_lists_that_do_not_fit_write_nothing() -> None:
    ours = tensors("jax", SHAPES * 7, 0)
    with pytest.raises(RuntimeError):
        torch._foreach_add_(ours, ours[:-1])
    for a, b in zip(ours, tensors("cpu", SHAPES * 7, 0), strict=True):
        assert torch.equal(a.cpu(), b)


def parameters_with_gradients(shape: tuple[int, ...], count: int) -> list[torch.nn.Parameter]:
    parameters = [torch.nn.Parameter(t) for t in tensors("jax", [shape] * count, 0)]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    return parameters


@pytest.mark.parametrize(("shape", "good"), [((32, 33), 0), ((256, 257), 1)])
def test_programs_of_parts_have_good_code_if_it_repays(
    shape: tuple[int, ...], good: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They serve 15 calls, each of them for all tensors of a shape; good code never takes over in between."""
    compiled: list[str] = []
    code = LoweredProgram.good_code
    monkeypatch.setattr(LoweredProgram, "good_code", lambda self: compiled.append(self.text) or code(self))
    optimizer = OPTIMIZERS["adamw"](parameters_with_gradients(shape, 16))
    caplog.set_level(logging.DEBUG, "tenax")
    optimizer.step()
    torch.jax.synchronize()
    assert sum("adam_step" in text for text in compiled) == good
    for _ in range(list_start.SERVES - 2):
        optimizer.step()
    made = [r.getMessage() for r in caplog.records if "adam_step" in r.getMessage()]
    assert made and not any("good code" in message for message in made)


def test_a_number_of_64_bits_stays_on_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = OPTIMIZERS["fused"](parameters_with_gradients((8, 8), 16))
    for _ in range(list_start.SERVES + 4):
        optimizer.step()
        torch.jax.synchronize()  # while a program is compiled, calls are recorded instead

    def refuse(dispatcher: Dispatcher, *arguments: object) -> None:
        raise AssertionError(dispatcher.signature.name)

    monkeypatch.setattr(Dispatcher, "call", refuse)
    optimizer.step()
