"""The lengths of a CTC loss, which torch passes as numbers, are no part of a program."""

from __future__ import annotations

import contextlib
import random

import pytest
import torch
from torch.nn.functional import ctc_loss

import tenax
from tests.helpers.agreement import close
from tests.helpers.traced import compilations

TIMES, ROWS, LABELS, CLASSES = 9, 3, 4, 6


def batch(number: int, one_after_another: bool) -> tuple[torch.Tensor, ...]:
    """Log-probabilities, targets, and lengths, of which the longest is the same in each batch."""
    choose = random.Random(number)
    torch.manual_seed(number)
    spans = [TIMES, choose.randint(6, TIMES), choose.randint(6, TIMES)]
    sizes = [LABELS, 1 + number % LABELS, LABELS - number % LABELS]
    targets = torch.randint(1, CLASSES, (ROWS, LABELS))
    if one_after_another:
        targets = torch.cat([row[:size] for row, size in zip(targets, sizes, strict=True)])
    return torch.randn(TIMES, ROWS, CLASSES), targets, torch.tensor(spans), torch.tensor(sizes)


def step(x: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    x = x.requires_grad_()
    loss = ctc_loss(x.log_softmax(2), *rest)
    loss.backward()
    return loss.detach(), x.grad


@pytest.mark.parametrize("one_after_another", [False, True])
@pytest.mark.parametrize("lazy", [False, True])
def test_other_lengths_need_no_other_program(one_after_another: bool, lazy: bool) -> None:
    for number in range(6):
        log_probs, targets, spans, sizes = batch(number, one_after_another)
        expected = step(log_probs.clone(), targets, spans, sizes)
        on_device = log_probs.to("jax"), targets.to("jax")
        with compilations() as seen, tenax.lazy() if lazy else contextlib.nullcontext():
            found = step(*on_device, spans, sizes)
        close(found, expected)
        assert number < 2 or not seen


def test_wrong_lengths_raise_as_on_the_cpu() -> None:
    x, targets = torch.zeros(6, 2, 5), torch.ones(2, 3, dtype=torch.long)
    for lengths in (([6, 6], [3, 4]), ([7, 6], [3, 3]), ([6], [3, 3]), ([6, 6], [-1, 3])):
        with pytest.raises(RuntimeError) as wanted:
            ctc_loss(x, targets, *lengths)
        with pytest.raises(RuntimeError) as found:
            ctc_loss(x.to("jax"), targets.to("jax"), *lengths)
        assert str(found.value) == str(wanted.value)


def test_results_may_be_written_to_given_tensors() -> None:
    x, targets, spans, sizes = (t.to("jax") for t in batch(0, False))
    given = x.log_softmax(2), targets, spans.tolist(), sizes.tolist()
    results = torch.ops.aten._ctc_loss(*given)
    outs = [torch.empty_like(result) for result in results]
    torch.ops.aten._ctc_loss.out(*given, out0=outs[0], out1=outs[1])
    close(outs[0], results[0])
    back = torch.ones(ROWS, device="jax"), *given, *results, 0
    out = torch.empty_like(x)
    torch.ops.aten._ctc_loss_backward.out(*back, out=out)
    close(out, torch.ops.aten._ctc_loss_backward(*back))
