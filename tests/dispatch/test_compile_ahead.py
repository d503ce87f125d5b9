"""Compiling ahead of need: the program goes on, and computes what it computes without."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import torch
from jax.errors import JaxRuntimeError
from torch import nn

import tenax
from tenax.dispatch import compile_ahead
from tenax.storage.recording import recording
from tenax.xla import options
from tenax.xla.ahead import BackgroundWork, PendingExecutable
from tenax.xla.memory import code_memory
from tenax.xla.program import EagerProgram
from tests.helpers.agreement import close
from tests.helpers.programs import PROGRAMS
from tests.helpers.tolerances import LOSSES

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile ahead, with executables that this test is the first to need."""
    monkeypatch.delenv("TENAX_SYNC_COMPILE", raising=False)
    for dispatcher in code_memory.dispatchers:
        dispatcher.entries.clear()
        dispatcher.fast.clear()
    yield
    if recording.tape is not None:
        recording.tape.flush()
    assert recording.tape is None


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread compiles before a value is needed, so that what is pending stays pending."""
    monkeypatch.setattr(BackgroundWork, "start", lambda self: None)


def is_pending(tensor: Tensor) -> bool:
    """Whether a tensor waits for an executable."""
    pending = tensor.untyped_storage().cell.pending
    return pending is not None and pending.tape is not None


def same_without(monkeypatch: pytest.MonkeyPatch, function: Callable[[], list[Tensor]]) -> None:
    """Assert that a function computes the same to the bit where every operation is compiled as it is called."""
    torch.manual_seed(1)
    got = [x.cpu() for x in function()]
    monkeypatch.setenv("TENAX_SYNC_COMPILE", "1")
    torch.manual_seed(1)
    expected = function()
    assert not any(is_pending(x) for x in expected)
    for a, b in zip(got, expected, strict=True):
        assert a.dtype is b.dtype and torch.equal(a, b.cpu())


@pytest.mark.usefixtures("unhurried")
def test_results_wait_until_a_value_is_needed() -> None:
    x = torch.randn(3, 5).to("jax")
    y = torch.exp(x) * 2
    z = y.t()[1:]
    assert is_pending(y) and is_pending(z) and z.stride() == (1, 5)
    close(z, (x.cpu().exp() * 2).t()[1:])
    assert not is_pending(y) and recording.tape is None


@pytest.mark.usefixtures("unhurried")
def test_views_copies_and_writes_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    source = torch.randn(4, 6)

    def run() -> list[Tensor]:
        x = source.to("jax")
        y = x * 3
        copy, row, version = y.clone(), y[1], y._version
        row.add_(1)
        y[:, 2:4].mul_(x[:, :2])
        y[3] = 7
        copy.sub_(y)
        assert y._version == version + 3
        return [x, y, copy, row, torch.cat([y, copy])]

    same_without(monkeypatch, run)


@pytest.mark.usefixtures("unhurried")
def test_large_arrays_are_overwritten_unless_somebody_holds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Tensor]:
        x = torch.arange(360000.0).to("jax").view(600, 600)
        held = x.jax()
        x.mul_(2)
        y = x.exp()
        y.clamp_(max=9)
        shared = y.clone()
        y.neg_()
        x.zero_().add_(y)
        return [tenax.from_jax(held), x, y, shared]

    same_without(monkeypatch, run)


@pytest.mark.usefixtures("unhurried")
def test_an_array_that_nobody_holds_is_reused() -> None:
    x = torch.ones(600, 600, device="jax").cumsum(0)
    place = x.jax().unsafe_buffer_pointer()
    x.sigmoid_()
    assert is_pending(x) and x.jax().unsafe_buffer_pointer() == place


@pytest.mark.usefixtures("unhurried")
def test_random_numbers_are_drawn_in_the_order_of_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Tensor]:
        a = torch.rand(7, device="jax")
        b = torch.randn(7, device="jax") * a
        return [torch.nn.functional.dropout(b, 0.5), a, b.uniform_(), torch.randperm(9, device="jax")]

    same_without(monkeypatch, run)


def test_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.LayerNorm(9), nn.Linear(9, 1)).to("jax"), torch.randn(5, 6)

    def run() -> list[Tensor]:
        model.zero_grad()
        loss = model(x.to("jax")).square().mean()
        (gradient,) = torch.autograd.grad(loss, model[0].weight, create_graph=True)
        (loss + gradient.square().sum()).backward()
        return [loss.detach(), *(p.grad for p in model.parameters())]

    same_without(monkeypatch, run)


@pytest.mark.parametrize("name", ["mlp", "wgan_gp", "custom_function"])
def test_programs_train_as_on_the_cpu(name: str) -> None:
    torch.manual_seed(0)
    expected = PROGRAMS[name]("cpu", 3)
    torch.manual_seed(0)
    close(torch.tensor(PROGRAMS[name]("jax", 3)), torch.tensor(expected), LOSSES)


@pytest.mark.usefixtures("unhurried")
def test_what_torch_refuses_raises_at_once() -> None:
    x = torch.ones(3, 5, device="jax") * 2
    y = x + 1
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        torch.mm(y, y)
    with pytest.raises(IndexError, match="out of bounds"):
        y[torch.tensor([9], device="jax")]
    assert y.sum().item() == 45


@pytest.mark.usefixtures("unhurried")
def test_an_error_is_raised_where_the_result_is_used_and_names_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    call = PendingExecutable.__call__

    def full(self: PendingExecutable, operands: tuple) -> object:
        if self.program.function.__name__ == "atan":
            raise JaxRuntimeError("RESOURCE_EXHAUSTED: no room")
        return call(self, operands)

    monkeypatch.setattr(PendingExecutable, "__call__", full)
    x = torch.ones(3, device="jax") * 2
    y = torch.atan(x)
    z, other = y + 1, x + 1
    assert other.tolist() == [3, 3, 3]
    for tensor in (z, y, z):
        with pytest.raises(torch.OutOfMemoryError, match=r"no room.* \(the result of atan, .*test_compile_ahead"):
            tensor.tolist()
    monkeypatch.undo()
    y.copy_(x)
    assert y.tolist() == [2, 2, 2]


def test_a_program_that_does_not_compile_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenax.xla.program.EagerProgram.compile", lambda self, lowered, key: 1 / 0)
    x = torch.ones(3, device="jax")
    y = x.sinh()
    with pytest.raises(RuntimeError, match=r"division by zero \(the result of sinh, called .*test_compile_ahead"):
        y.cpu()
    monkeypatch.undo()
    close(x.sinh(), torch.ones(3).sinh())


@pytest.mark.usefixtures("unhurried")
def test_another_thread_may_need_a_value_and_records_its_own() -> None:
    x = torch.ones(5, device="jax") * 3
    y, results = x.square(), []

    def other() -> None:
        z = y.sqrt() + x
        results.extend([z.tolist(), recording.tape])

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert results == [[6.0] * 5, None]
    assert not is_pending(y) and recording.tape is not None  # until the next call of this thread
    assert (y + 1).tolist() == [10.0] * 5


def test_threads_that_share_operands() -> None:
    x = torch.randn(6, 6).to("jax")
    y = x * 2
    results: dict[int, Tensor] = {}
    threads = [threading.Thread(target=lambda i=i: results.update({i: (y + i).exp().cpu()})) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, result in results.items():
        close(result, (x.cpu() * 2 + i).exp())
    assert len(results) == 4


def test_the_tape_closes_when_everything_is_compiled() -> None:
    x = torch.ones(4, device="jax")
    y = x.cosh()
    deadline = time.monotonic() + 60
    while recording.tape is not None and time.monotonic() < deadline:
        y.neg_()
    assert recording.tape is None and not is_pending(y)
    close(y.abs(), torch.ones(4).cosh())


@pytest.mark.usefixtures("unhurried")
def test_the_record_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "_LONGEST", 4)
    x = torch.ones(4, device="jax")
    for i in range(11):
        x = x * 2 if i % 2 else x + 1
        assert recording.tape is None or len(recording.tape.calls) < 4
    assert x.tolist() == [95.0] * 4


@pytest.mark.usefixtures("unhurried")
def test_compiled_functions_lazy_mode_and_traces_read_what_is_pending() -> None:
    x = torch.ones(3, device="jax") * 2
    y = x + 1
    assert tenax.jit(lambda t: t * y)(y).tolist() == [9.0] * 3
    z = y.exp2()
    with tenax.lazy():
        w = z + 1
    u = w - y.square()
    tenax.sync()
    assert is_pending(u)
    torch.jax.synchronize()
    assert not is_pending(u) and u.tolist() == [0.0] * 3


@pytest.mark.usefixtures("unhurried")
def test_recorded_calls_count_for_the_takeover(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call takes over, with a tape and without, although the program is compiled when it is due."""
    monkeypatch.delenv("XLA_FLAGS", raising=False)  # those of the tests name options of the tiers
    monkeypatch.setitem(options._FIRST, "cpu", options._FIRST["cpu"]._replace(calls=20))

    def calls_before(taken: Callable[[], bool]) -> int:
        x, count = torch.ones(1 << 9, device="jax"), 0
        while not taken():
            x, count = torch.atanh(x), count + 1
            assert count < 100
        return count

    def program() -> EagerProgram:
        (executable,) = next(d for d in code_memory.dispatchers if d.signature.name == "atanh").entries.values()
        return executable.run.program

    def has_begun() -> bool:
        dispatcher = next(d for d in code_memory.dispatchers if d.signature.name == "atanh")
        return bool(dispatcher.entries) and program().good is not None

    recorded = calls_before(has_begun)
    for dispatcher in code_memory.dispatchers:
        dispatcher.entries.clear()
        dispatcher.fast.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENAX_SYNC_COMPILE", "1")
        assert calls_before(has_begun) == recorded


def test_optimizers_run_the_programs_that_they_run_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Tensor]:
        parameters = [nn.Parameter(torch.linspace(0, 1, n).to("jax")) for n in (3, 4)]
        optimizer = torch.optim.AdamW(parameters, 0.1)
        for _ in range(3):
            sum((p * p).sum() for p in parameters).backward()
            optimizer.step()
        return [p.detach() for p in parameters]

    same_without(monkeypatch, run)
    kernels = [d for d in code_memory.dispatchers if d.entries]
    assert "tenax::adam_step" in {d.signature.name for d in kernels}
    assert "_foreach_addcmul_.Scalar" not in {d.signature.name for d in kernels}


@pytest.mark.usefixtures("unhurried")
def test_an_operand_that_is_needed_closes_the_tape_while_a_call_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[Tensor]:
        x = torch.arange(4, dtype=torch.int32).to("jax") * 2
        y = torch.ones(3).to("jax") + 1
        view = x.view(torch.uint8)
        torch._foreach_add_([y, view, x], 1)
        z = y * 2
        torch._foreach_zero_([z, view, x, y])
        return [x, y, z, view]

    same_without(monkeypatch, run)


@pytest.mark.usefixtures("unhurried")
def test_a_function_from_elsewhere_runs_at_once() -> None:
    x = torch.ones(3, device="jax") * 2
    y = tenax.call_jax(lambda a: a + 1, x)
    assert not is_pending(y)
    assert y.tolist() == [3, 3, 3]


@pytest.mark.usefixtures("unhurried")
def test_events_and_figures_of_memory_come_after_what_was_called() -> None:
    x = torch.ones(1 << 18, device="jax") * 2
    assert is_pending(x)
    before = torch.jax.memory_allocated()
    assert not is_pending(x)
    y = x + x.numel()
    y.cpu()
    del y
    z = x.tan()
    torch.jax.Event().record()
    assert not is_pending(z)
    assert torch.jax.memory_allocated() >= before + z.nbytes
