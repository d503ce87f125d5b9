"""Operators on lists whose tensors share memory: each tensor sees the writes to those before it, as on CPU torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tenax.dispatch.executable import Executable
from tests.helpers.agreement import close

pytestmark = pytest.mark.gpu

Tensor = torch.Tensor


def ramp(device: str) -> Tensor:
    return torch.arange(1.0, 7.0, device=device)


CALLS: dict[str, Callable[[Tensor], Any]] = {
    "the same tensor": lambda a: torch._foreach_add_([a, a], 1.0),
    "the same storage": lambda a: torch._foreach_mul_([a, a.view(2, 3), a.view(3, 2)], 2.0),
    "overlapping slices": lambda a: torch._foreach_add_([a[:4], a[2:]], [a[2:].clone(), a[:4].clone()]),
    "another number for each": lambda a: torch._foreach_mul_([a, a[1:], a], [2.0, 3.0, 4.0]),
    "a tensor of numbers": lambda a: torch._foreach_addcmul_(
        [a, a.view(2, 3)], [a, a.view(2, 3)], [a, a.view(2, 3)], torch.tensor([2.0, 3.0])
    ),
    "a list read after it is written": lambda a: torch._foreach_add_([a[:3], a[3:]], [a[3:], a[:3]]),
    "copies in turn": lambda a: torch._foreach_copy_([a[:2], a[2:4], a[4:]], [a[4:], a[:2], a[2:4]]),
    "an expanded tensor onto itself": lambda a: torch._foreach_copy_(
        [a[:1].expand(3), a], [a[:1].expand(3), a.flip(0)]
    ),
    "an expanded tensor": lambda a: torch._foreach_copy_([a, a[:1].expand(3)], [a.flip(0), a[:3]]),
    "zeros": lambda a: torch._foreach_zero_([a[:3], a[1:4]]),
    "itself": lambda a: torch._foreach_mul_([a[:3], a[3:]], [a[:3], a[3:]]),
    "a part of itself": lambda a: torch._foreach_add_([a[:5]], [a[1:]]),
    "the same in two lists, and then again": lambda a: torch._foreach_lerp_([a, a], [a, a.flip(0)], 0.5),
    "a number that is written": lambda a: torch._foreach_mul_([a[:3], a[3:]], a[0]),
    "other dtypes of one storage": lambda a: torch._foreach_add_([a, a.view(torch.int32)], 1),
    "lists of different lengths": lambda a: torch._foreach_add_([a, a], [a]),
    "tensors between": lambda a: torch._foreach_sqrt_([a, torch.ones(2, device=a.device), a]),
}


def outcome(call: Callable[[Tensor], Any], device: str) -> tuple[Tensor, str, int]:
    a = ramp(device)
    try:
        call(a)
        error = ""
    except RuntimeError as refusal:
        error = str(refusal)
    return a.cpu(), error, a._version


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_lists_with_shared_memory_are_gone_through_in_order(call: Callable[[Tensor], Any]) -> None:
    (ours, *rest), (theirs, *expected) = outcome(call, "jax"), outcome(call, "cpu")
    close(ours, theirs)
    assert rest == expected


OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1, foreach=True),
    "fused SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, fused=True),
    "fused AdamW": lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True, fused=True),
    "fused AdamW, rate in a tensor": lambda p: torch.optim.AdamW(p, lr=torch.tensor(0.1), fused=True),
    "fused Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, fused=True),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=list(OPTIMIZERS))
def test_parameters_tied_through_data_train_as_on_the_cpu(make: Callable[..., Any]) -> None:
    def train(device: str) -> list[Tensor]:
        first = torch.nn.Parameter(ramp(device))
        tied = torch.nn.Parameter(torch.zeros(2, 3, device=device))
        tied.data = first.data.view(2, 3)
        other = torch.nn.Parameter(ramp(device))
        optimizer = make([first, other, tied])
        for _ in range(3):
            optimizer.zero_grad()
            ((first * 2).sin().sum() + tied.cos().sum() + other.square().sum()).backward()
            optimizer.step()
        return [p.detach() for p in (first, tied, other)]

    close(train("jax"), train("cpu"))


@pytest.mark.parametrize(
    "tensors",
    [
        lambda a: [a[:2], a[2:4], a[4:]],
        lambda a: [a, torch.ones(3, device="jax")],
        lambda a: [a.view(2, 3)[0], a.view(2, 3)[1]],
    ],
    ids=["parts", "separate", "rows"],
)
def test_lists_without_overlap_are_one_program(
    tensors: Callable[[Tensor], list[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Any] = []
    before = Executable.__init__
    monkeypatch.setattr(Executable, "__init__", lambda self, *a, **k: (built.append(self), before(self, *a, **k))[1])
    torch._foreach_tan_(tensors(ramp("jax")))
    assert len(built) == 1


def of_views(lists: list[list[Tensor]]) -> None:
    torch._foreach_add_(lists[0], lists[1], alpha=2.0)
    torch._foreach_mul_(lists[0], 0.5)


def test_views_in_lists_are_read_and_written_where_they_lie() -> None:
    def run(device: str) -> list[Tensor]:
        bases = [torch.arange(24.0, device=device).view(2, 3, 4) + i for i in range(4)]
        for offset in (0, 1, 0, 1):  # the first call of each is encoded, and the second is not
            written = [bases[0].permute(2, 0, 1), bases[1][:, offset : offset + 2]]
            read = [bases[2].permute(2, 0, 1), bases[3][:, 1 - offset : 3 - offset]]
            of_views([written, read])
        return bases

    for ours, cpu in zip(run("jax"), run("cpu"), strict=True):
        assert torch.equal(ours.cpu(), cpu)


def test_lists_of_conjugated_tensors_are_no_others() -> None:
    z = torch.complex(torch.arange(3.0), torch.ones(3)).to("jax")
    for values in ([z, z], [z.conj(), z], [z, z.conj()], [z.conj(), z.conj()]):
        for _ in range(2):
            assert torch.equal(torch.cat(values).cpu(), torch.cat([v.cpu() for v in values]))
