"""Writes that do not read what they overwrite, through views that look like whole storages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import tenax  # noqa: F401 (registers the device)

OVERWRITES: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "copy_": lambda target, value: target.copy_(value),
    "fill_": lambda target, value: target.fill_(value.sum() if value.dim() else value),
    "zero_": lambda target, value: target.zero_(),
    "uniform_": lambda target, value: target.uniform_(2, 2) if target.is_floating_point() else target.random_(2, 3),
    "foreach": lambda target, value: torch._foreach_copy_([target], [value]),
}


@pytest.mark.parametrize("size", [(), (3,)])
@pytest.mark.parametrize("name", OVERWRITES)
def test_a_view_of_another_dtype_is_overwritten_as_that_dtype(name: str, size: tuple[int, ...]) -> None:
    value = torch.full(size, 5.0)
    for _ in range(4):  # the call becomes known to the fast path
        whole = torch.ones(size, dtype=torch.int32, device="jax") + 0
        OVERWRITES[name](whole, value.to("jax"))
        whole.tolist()
    found = []
    for device in ("cpu", "jax"):
        whole = torch.ones(size, dtype=torch.int32, device=device) + 0
        whole.tolist()
        OVERWRITES[name](whole.view(torch.float32), value.to(device))
        found.append(whole.tolist())
    assert found[0] == found[1]


def test_parts_of_a_complex_number_are_overwritten_in_their_places() -> None:
    value = torch.tensor(5.0, device="jax")
    for _ in range(4):
        whole = torch.zeros((), dtype=torch.complex64, device="jax") + 0
        whole.copy_(value)
        whole.tolist()
    whole = torch.zeros((), dtype=torch.complex64, device="jax") + 0
    whole.tolist()
    whole.imag = value
    assert whole.tolist() == 5j
