"""Good code replaces first code at the same call in every process, without changing anything else."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import pytest
import torch

from tenax.xla import ahead, options, takeover
from tenax.xla.memory import code_memory
from tenax.xla.program import EagerProgram
from tenax.xla.totals import totals
from tests.helpers.agreement import close

SHAPE = (128, 257)
CALLS = 15  # until good code takes over


@pytest.fixture(autouse=True)
def tiers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The options that users get, and executables that this test is the first to need."""
    jax.devices()  # as many as the flags say
    monkeypatch.delenv("XLA_FLAGS")
    monkeypatch.setenv("TENAX_CACHE", "1")
    monkeypatch.setenv("TENAX_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(options._FIRST, "cpu", options._FIRST["cpu"]._replace(calls=CALLS))
    forget()
    yield
    forget()


def forget() -> None:
    torch.jax.synchronize()
    for dispatcher in code_memory.dispatchers:
        dispatcher.entries.clear()
        dispatcher.fast.clear()
    gc.collect()


def programs() -> list[EagerProgram]:
    """Those of the executables in memory."""
    runs = [e.run for dispatcher in code_memory.dispatchers for e in dispatcher.entries.values()]
    return [run.program for run in runs if hasattr(run, "program")]


def bits(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, calls: int) -> list[bytes]:
    """The results of calls, one after another."""
    return [function(x).cpu().numpy().tobytes() for _ in range(calls)]


def gelu(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)).to("jax")


def test_enough_calls_are_taken_over_by_good_code(x: torch.Tensor) -> None:
    for call in range(CALLS + 4):
        result = gelu(x)
        (program,) = programs()
        assert bool(program.calls) == (call < CALLS)
    assert not program.calls and program.good is None
    close(result, gelu(x.cpu()))
    assert code_memory.dispatchers
    runs = [e.run for d in code_memory.dispatchers for e in d.entries.values()]
    assert [run.program for run in runs] == [program] and runs[0].__name__ != "counted"


@pytest.mark.slow
def test_the_call_that_is_taken_over_is_always_the_same(x: torch.Tensor) -> None:
    first = bits(gelu, x, CALLS + 4)
    forget()
    assert bits(gelu, x, CALLS + 4) == first  # now from the folder of programs
    assert len(set(first)) <= 2


@pytest.mark.slow
def test_the_bits_are_those_of_good_code_in_deterministic_mode(x: torch.Tensor) -> None:
    good = bits(gelu, x, CALLS + 4)[-1]
    forget()
    gelu(x)
    torch.use_deterministic_algorithms(True)
    try:
        assert bits(gelu, x, 1) == [good]  # a program that had begun with other code
        forget()
        assert set(bits(gelu, x, 3)) == {good}
    finally:
        torch.use_deterministic_algorithms(False)


def test_written_and_donated_arrays_are_taken_over(x: torch.Tensor) -> None:
    expected = x.cpu()
    for _ in range(CALLS + 4):
        x.mul_(0.5).add_(1)
        expected.mul_(0.5).add_(1)
    close(x, expected)


@pytest.mark.slow
def test_views_with_starts_and_checked_indices_are_taken_over(x: torch.Tensor) -> None:
    large = torch.cat([x, x])
    index = torch.arange(SHAPE[0], device="jax")
    for i in range(CALLS + 4):
        found = torch.exp(large[i : i + 100]) + torch.nn.functional.embedding(index[:100], x)
        close(found, torch.exp(large.cpu()[i : i + 100]) + x.cpu()[:100])
    with pytest.raises(IndexError):
        torch.nn.functional.embedding(index + 1, x)


@pytest.mark.slow
def test_a_takeover_that_fails_leaves_the_code_that_works(
    x: torch.Tensor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(program: EagerProgram, operands: object) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(takeover, "begin", refuse)
    for _ in range(CALLS + 4):
        close(gelu(x), gelu(x.cpu()))
    assert "no memory" in caplog.text and not programs()[0].calls


@pytest.mark.slow
def test_threads_share_a_takeover(x: torch.Tensor) -> None:
    found: list[torch.Tensor] = []

    def run() -> None:
        found.extend([gelu(x) for _ in range(CALLS)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 * CALLS
    expected = gelu(x.cpu())
    for result in found:
        close(result, expected)


@pytest.mark.slow
def test_memory_counts_one_executable_of_a_program(x: torch.Tensor) -> None:
    before = totals.held
    for _ in range(CALLS + 4):
        gelu(x)
    assert totals.held == before + 1


@pytest.mark.slow
def test_what_no_thread_has_begun_is_compiled_by_the_one_that_waits(
    x: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_pool", lambda: Closed())
    for _ in range(CALLS + 4):
        result = gelu(x)
    assert not programs()[0].calls
    close(result, gelu(x.cpu()))


class Closed:
    """A pool at the end of the interpreter."""

    def submit(self, *work: object) -> None:
        raise RuntimeError("cannot schedule new futures after shutdown")
