"""What has no deterministic implementation on the CPU raises or warns on the device, too."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional

import tenax


@pytest.fixture(params=[False, True], ids=["raises", "warns"])
def _deterministic(request: pytest.FixtureRequest) -> Iterator[None]:
    torch.use_deterministic_algorithms(True, warn_only=request.param)
    yield
    torch.use_deterministic_algorithms(False)


def _put(device: str, accumulate: bool) -> torch.Tensor:
    x, index = torch.ones(4, device=device), torch.tensor([0, 1], device=device)
    return x.put(index, torch.zeros(2, device=device), accumulate)


def _put_in_place(device: str) -> torch.Tensor:
    x, index = torch.ones(4, device=device), torch.tensor([0, 1], device=device)
    return x.put_(index, torch.zeros(2, device=device))


def _unpooled(device: str, axes: int) -> torch.Tensor:
    x = torch.arange(4.0**axes, device=device).reshape(1, 1, *[4] * axes)
    pool, unpool = getattr(functional, f"max_pool{axes}d"), getattr(functional, f"max_unpool{axes}d")
    return unpool(*pool(x, 2, return_indices=True), 2)


CALLS: dict[str, Callable[[str], torch.Tensor]] = {
    "put": lambda device: _put(device, False),
    "put that adds": lambda device: _put(device, True),
    "put_": _put_in_place,
    **{f"max_unpool{n}d": lambda device, n=n: _unpooled(device, n) for n in (1, 2, 3)},
}


def outcome(call: Callable[[], torch.Tensor]) -> tuple[Any, list[str]]:
    """What a call gives or raises, and what it warns of; the first sentence of each."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found: Any = call().tolist()
        except RuntimeError as error:
            found = _first_sentence(error)
    return found, [_first_sentence(warning.message) for warning in warned]


def _first_sentence(said: object) -> str:
    return str(said).partition(". ")[0].removesuffix(".")


@pytest.mark.usefixtures("_deterministic")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_deterministic_mode_refuses_what_it_refuses_on_the_cpu(call: Callable[[str], torch.Tensor]) -> None:
    expected = outcome(lambda: call("cpu"))
    assert outcome(lambda: call("jax")) == expected
    assert outcome(lambda: tenax.jit(lambda: call("jax"))()) == expected
