"""Storages that are viewed with several dtypes: each byte is that of CPU torch."""

from __future__ import annotations

import pytest
import torch

import tenax

pytestmark = pytest.mark.gpu

STORED = (
    torch.bool,
    torch.uint8,
    torch.int16,
    torch.bfloat16,
    torch.int32,
    torch.float32,
    torch.int64,
    torch.complex64,
)
VIEWED = (torch.bool, torch.int8, torch.int16, torch.bfloat16, torch.float16, torch.float32, torch.complex64)


def bytes_after_writes(stored: torch.dtype, viewed: torch.dtype, device: str) -> list[int]:
    """Write to the first and the last element of a view of a storage, whose other elements keep their bits: negative
    small integers are NaNs as floats."""
    raw = torch.tensor([253, 255, 250, 127] * 2 + [252, 255, 3, 128] * 4, dtype=torch.uint8)
    whole = (raw.bool() if stored is torch.bool else raw.view(stored)).to(device)
    view = whole.view(viewed)
    view[:1].fill_(1)
    view[-1:].copy_(torch.tensor([2], device=device))
    return whole.view(torch.uint8).cpu().tolist()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("viewed", VIEWED, ids=str)
@pytest.mark.parametrize("stored", STORED, ids=str)
def test_a_write_keeps_the_bits_of_the_other_elements(stored: torch.dtype, viewed: torch.dtype) -> None:
    if stored == viewed:
        return  # a NaN may get other bits
    assert bytes_after_writes(stored, viewed, "jax") == bytes_after_writes(stored, viewed, "cpu")


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_a_view_need_not_fill_its_storage(compiled: bool) -> None:
    def program(whole: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        view = whole[2:6].view(torch.int32)
        before = view.clone()
        view.add_(1)
        return whole.clone(), before

    expected = program(torch.arange(7, dtype=torch.int16))
    run = tenax.jit(program) if compiled else program
    for _ in range(2):
        whole, before = run(torch.arange(7, dtype=torch.int16, device="jax"))
        assert whole.tolist() == expected[0].tolist() and before.tolist() == expected[1].tolist()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_a_storage_of_bool_holds_other_bytes(compiled: bool) -> None:
    def program(mask: torch.Tensor) -> torch.Tensor:
        view = mask.view(torch.uint8)
        torch._foreach_mul_([view], 3)
        return view + 1

    cpu, ours = (torch.tensor([True, False, True], device=d) for d in ("cpu", "jax"))
    run = tenax.jit(program) if compiled else program
    for _ in range(3):
        assert run(ours).tolist() == program(cpu).tolist()
        assert ours.tolist() == cpu.tolist()
