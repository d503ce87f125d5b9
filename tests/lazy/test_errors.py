"""Errors in lazy mode: where they are raised, what they name, and what they leave as it was."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (torch's own idiom)

import tenax
from tenax._lazy.programs import TapeProgram


def test_bad_arguments_raise_at_once_in_the_words_of_torch() -> None:
    x, y = torch.ones(2, 3), torch.ones(4, 5)
    with pytest.raises(RuntimeError) as expected:
        x @ y
    with tenax.lazy(), pytest.raises(RuntimeError) as found:
        x.to("jax") @ y.to("jax")
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("computed", [False, True])
def test_a_write_over_its_own_memory_is_refused(computed: bool) -> None:
    with tenax.lazy():
        x = torch.ones(1, 1, 3, device="jax") * 1
        view = x[0:1:2]  # another stride, of the axis of one element
        if computed:
            tenax.sync()
        for write in (view.copy_, view.add_):
            with pytest.raises(RuntimeError, match="refer to a single memory location"):
                write(x)


def test_a_bad_value_raises_when_it_is_computed_and_names_the_line() -> None:
    with tenax.lazy():
        table = torch.ones(4, 2, device="jax")
        rows = F.embedding(torch.tensor([1, 7], device="jax"), table)  # this line
        line = sys._getframe().f_lineno - 1
        with pytest.raises(IndexError, match=rf"test_errors.py:{line}"):
            rows.sum().item()
        assert table.sum().item() == 8


def test_a_bad_value_before_an_error_is_noted_there_and_raised_by_no_later_program() -> None:
    x = torch.ones(3, device="jax")

    @tenax.lazy()
    def fails(x: torch.Tensor) -> None:
        x.index_select(0, torch.tensor([7], device="jax"))
        raise ValueError("of the program")

    with pytest.raises(ValueError, match="of the program") as caught:
        fails(x)
    assert "index" in caught.value.__notes__[0]
    with tenax.lazy():
        y = x * 2
    assert y.tolist() == [2, 2, 2]


def test_a_value_that_is_read_after_a_barrier_was_checked() -> None:
    def read(loss: torch.Tensor) -> None:
        tenax.sync()  # does not wait, and raises what is known
        loss.item()

    with tenax.lazy():
        loss = F.nll_loss(torch.zeros(2, 3, device="jax"), torch.tensor([0, 5], device="jax"))
        with pytest.raises(IndexError, match="out of bounds"):
            read(loss)


def test_the_end_of_the_context_waits() -> None:
    with pytest.raises(IndexError), tenax.lazy():
        F.nll_loss(torch.zeros(2, 3, device="jax"), torch.tensor([0, 5], device="jax"))


def test_an_exception_of_the_program_goes_through() -> None:
    x = torch.ones(3, device="jax")

    @tenax.lazy()
    def fails() -> None:
        x.add_(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert x.tolist() == [2, 2, 2]


@pytest.fixture
def too_large() -> Iterator[Callable[[torch.Tensor], torch.Tensor]]:
    """An operator that fails where it runs if a value is above 2."""
    library = torch.library.Library("tenax_test_failures", "DEF")
    library.define("checked(Tensor x) -> Tensor")
    torch.library.register_fake("tenax_test_failures::checked", torch.empty_like, lib=library)

    def on_host(x: np.ndarray) -> np.ndarray:
        if (np.asarray(x) > 2).any():
            raise ValueError("too large")
        return np.asarray(x)

    def lowering(x: jax.Array) -> jax.Array:
        return jax.pure_callback(on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    tenax.register_lowering("tenax_test_failures::checked", lowering)
    yield torch.ops.tenax_test_failures.checked
    library._destroy()


def test_an_operation_that_fails_takes_nothing_but_its_own_results_with_it(
    too_large: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    weight = torch.ones(3, device="jax")
    with tenax.lazy():
        weight.add_(1)
        below = too_large(weight)
        failed = too_large(weight * 5)
        written = torch.zeros(3, device="jax").copy_(failed)
        weight.add_(1)
        with pytest.raises(RuntimeError, match="too large"):
            tenax.sync()
        assert torch.equal(weight.cpu(), torch.full((3,), 3.0))
        assert torch.equal(below.cpu(), torch.full((3,), 2.0))
        for lost in (failed, failed, written):
            with pytest.raises(
                RuntimeError, match=r"too large.*\(the result of tenax_test_failures::checked, recorded"
            ):
                lost.cpu()
        with pytest.raises(RuntimeError, match="too large"):
            torch.add(failed, 1)
        weight.mul_(2)
        tenax.sync(wait=True)
    assert torch.equal(weight.cpu(), torch.full((3,), 6.0))


def test_a_program_that_fails_keeps_the_results_of_a_jax_function_that_has_died(
    too_large: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    x = torch.ones(3, device="jax", requires_grad=True)
    with tenax.lazy():
        tripled = tenax.call_jax(lambda x: 3 * jnp.sin(x), x)
        (gradient,) = torch.autograd.grad(tripled.sum(), x)
        gc.collect()
        failed = too_large(tripled.detach() * 5)
        with pytest.raises(RuntimeError, match="too large"):
            tenax.sync()
        with pytest.raises(RuntimeError, match="too large"):
            failed.cpu()
    assert torch.allclose(tripled.cpu(), 3 * torch.ones(3).sin())
    assert torch.allclose(gradient.cpu(), 3 * torch.ones(3).cos())


def test_a_program_that_fails_after_it_consumed_an_array_raises_its_own_error(
    too_large: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    def triple(x: jax.Array) -> jax.Array:
        return 3 * x

    with tenax.lazy():
        x = torch.full((3, 4), 4.0, device="jax")
        large = torch.full((3,), 4.0, device="jax")
        tenax.sync()
        product = tenax.call_jax(triple, x + 1) * 2  # JAX traces the function, so x + 1 is computed before
        kept = too_large(large)
        with pytest.raises(RuntimeError, match="too large"):
            tenax.sync()
        for lost in (product, kept):
            with pytest.raises(RuntimeError, match="too large"):
                lost.cpu()


@pytest.mark.parametrize("consumed", [False, True])
def test_a_program_that_fails_as_a_whole_is_an_error_and_keeps_what_its_operations_give(
    consumed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(self: TapeProgram, words: list[int], inputs: list[jax.Array], results: list[Any]) -> None:
        if consumed:
            inputs[0].delete()
        raise torch.OutOfMemoryError("full")

    weight, other = torch.ones(3).to("jax"), torch.ones(3, device="jax")
    with tenax.lazy():
        weight.add_(1)
        looked_up = F.embedding(torch.tensor([1], device="jax"), other[:, None])
        with monkeypatch.context() as patch:
            patch.setattr(TapeProgram, "run", run)
            with pytest.raises(torch.OutOfMemoryError, match=r"^full$"):
                tenax.sync()
        if consumed:
            with pytest.raises(torch.OutOfMemoryError, match=r"full \(the result of a program of lazy mode\)"):
                weight.cpu()
        else:
            assert torch.equal(weight.cpu(), torch.full((3,), 2.0))
        assert torch.equal(looked_up.cpu(), torch.ones(1, 1))


def test_a_recorded_check_that_fails_names_its_own_line() -> None:
    table = torch.ones(3, 2, device="jax")
    with tenax.lazy():
        for index in (0, 1, 2):
            F.embedding(torch.tensor([index], device="jax"), table)
            tenax.sync(wait=True)
        F.embedding(torch.tensor([5], device="jax"), table)  # out of range here
        with pytest.raises(IndexError, match=rf"test_errors\.py:{line_of('# out of range here')}"):
            tenax.sync(wait=True)


def line_of(text: str) -> int:
    """The number of the line of this file that ends with a text."""
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(text))
