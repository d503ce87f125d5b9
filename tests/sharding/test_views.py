"""Views, in-place operators, slices and indices of sharded tensors are what they are on one CPU device."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from jax.sharding import PartitionSpec as P

import tenax
from tests.helpers.agreement import close
from tests.helpers.meshes import mesh, on_mesh, spec

Step = Callable[[torch.Tensor, random.Random], torch.Tensor]


def _reshaped(x: torch.Tensor, choose: random.Random) -> torch.Tensor:
    sizes = [s for s in ((-1,), (2, -1), (-1, 4), (4, 2, -1), (-1, 2, 2)) if x.numel() % 16 == 0]
    return x.reshape(choose.choice(sizes)) if sizes else x


def _sliced(x: torch.Tensor, choose: random.Random) -> torch.Tensor:
    d = choose.randrange(x.dim())
    n = x.shape[d]
    start = choose.randrange(n)
    return x[(slice(None),) * d + (slice(start, choose.randint(start + 1, n), choose.choice((1, 2))),)]


def _swapped(x: torch.Tensor, choose: random.Random) -> torch.Tensor:
    return x.transpose(choose.randrange(x.dim()), choose.randrange(x.dim()))


def _indexed(x: torch.Tensor, choose: random.Random) -> torch.Tensor:
    d = choose.randrange(x.dim())
    where = torch.tensor([choose.randrange(x.shape[d]) for _ in range(3)], device=x.device)
    return x[(slice(None),) * d + (where,)]


VIEWS: list[Step] = [
    _reshaped,
    _sliced,
    _swapped,
    _indexed,
    lambda x, choose: x.select(choose.randrange(x.dim()), -1) if x.dim() > 1 else x,
    lambda x, choose: x.unsqueeze(choose.randrange(x.dim() + 1)),
    lambda x, choose: x.flatten(),
    lambda x, choose: x.expand(2, *x.shape),
    lambda x, choose: x.diagonal() if x.dim() > 1 else x,
    lambda x, choose: x.flip(0),
    lambda x, choose: x.chunk(2, -1)[0],
    lambda x, choose: x.unfold(0, 2, 1) if x.shape[0] > 1 else x,
    lambda x, choose: torch.cat([x, x], choose.randrange(x.dim())),
]
WRITES: list[Step] = [
    lambda x, choose: x.add_(choose.random()),
    lambda x, choose: x.mul_(x.detach().clone()),
    lambda x, choose: x.zero_(),
    lambda x, choose: x.copy_(torch.linspace(0, 1, x.numel()).reshape(x.shape)),
    lambda x, choose: x.index_fill_(0, torch.tensor([0], device=x.device), 7.0),
    lambda x, choose: x.fill_(choose.random()),
    lambda x, choose: x.masked_fill_(x > 0.5, -1.0),
]


def _writable(x: torch.Tensor) -> bool:
    return x._is_view() and 0 not in x.stride() and x.numel() > 0 and not torch._debug_has_internal_overlap(x)


def _run(x: torch.Tensor, seed: int) -> list[Any]:
    """What a random program shows at each step: values, strides, offset, and the base afterwards."""
    choose, base, seen = random.Random(seed), x, []
    for _ in range(5):
        x = choose.choice(VIEWS)(x, choose)
        if x.numel() > 4096:
            x = x.flatten()[:64]
        before = choose.choice(WRITES)
        if choose.random() < 0.5 and _writable(x):
            before(x, choose)
        seen.append((tuple(x.shape), x.stride(), x.storage_offset(), x._version, x.detach().cpu().clone()))
    return [*seen, (tuple(base.shape), base.stride(), 0, base._version, base.cpu())]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by", [P("data"), P(None, "model"), P(("data", "model"))], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_of_views_and_writes(seed: int, by: P) -> None:
    values = torch.linspace(-1, 1, 128).reshape(16, 8)
    for found, expected in zip(_run(on_mesh(values, by), seed), _run(values.clone(), seed), strict=True):
        assert found[:4] == expected[:4]
        close(found[4], expected[4])


def test_a_reshape_that_splits_a_sharded_dimension_is_exact_in_a_program() -> None:
    x = torch.arange(96.0).reshape(8, 12)
    found = tenax.jit(lambda x: x.view(2, 4, 3, 4).permute(0, 2, 1, 3).reshape(24, 4) + 1)(on_mesh(x, P("data")))
    assert torch.equal(found.cpu(), x.view(2, 4, 3, 4).permute(0, 2, 1, 3).reshape(24, 4) + 1)


def test_views_of_a_sharded_tensor_share_its_memory() -> None:
    x = tenax.shard(torch.zeros(8, 8), P("data"), mesh())
    row, column = x[2], x.t()[1]
    row.fill_(3)
    column.add_(1)
    assert x[2].tolist() == [3, 4, 3, 3, 3, 3, 3, 3] and x[:, 1].tolist() == [1, 1, 4, 1, 1, 1, 1, 1]
    assert spec(x) == P("data")
