"""`tenax.data.to_device`: batches on the device ahead of the step."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import tenax
from tests.helpers.meshes import mesh, spec

BATCHES = [{"x": torch.arange(8.0).reshape(4, 2) + i, "y": torch.arange(4) * i, "name": f"b{i}"} for i in range(5)]


def threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "tenax.data.to_device"]


def test_batches_arrive_in_order_on_the_device() -> None:
    loader = tenax.data.to_device(BATCHES)
    assert len(loader) == 5
    for _ in range(2):  # each iteration begins anew
        found = list(loader)
        assert [b["name"] for b in found] == [b["name"] for b in BATCHES]
        for a, b in zip(found, BATCHES, strict=True):
            assert (
                a["x"].device.type == "jax" and torch.equal(a["x"].cpu(), b["x"]) and torch.equal(a["y"].cpu(), b["y"])
            )
    assert not threads()


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_batches_are_sharded(kind: AxisType) -> None:
    where = NamedSharding(mesh(kind), P("data", None))
    for a, b in zip(tenax.data.to_device(BATCHES, where), BATCHES, strict=True):
        assert spec(a["x"]) == P("data") and spec(a["y"]) == P("data") and a["y"].dtype is torch.int64
        assert torch.equal((a["x"] + 1).cpu(), b["x"] + 1)
    tree = {"x": where, "y": None, "name": None}
    assert spec(next(iter(tenax.data.to_device(BATCHES, tree)))["y"]) is None


def test_uploads_run_ahead_but_not_further_than_asked() -> None:
    taken: list[int] = []
    reached = threading.Semaphore(0)

    def batches() -> Iterator[torch.Tensor]:
        for i in range(9):
            taken.append(i)
            reached.release()
            yield torch.full((2,), float(i))

    found = iter(tenax.data.to_device(batches(), prefetch=2))
    for _ in range(3):  # two that are ready, and one that waits for room
        assert reached.acquire(timeout=30)
    assert not reached.acquire(timeout=0.2) and len(taken) == 3
    assert next(found).tolist() == [0, 0]
    assert reached.acquire(timeout=30)
    found.close()
    assert not threads() and len(taken) <= 5


def test_an_exception_of_the_loader_is_raised_by_next_after_the_batches_before_it() -> None:
    def batches() -> Iterator[np.ndarray]:
        yield np.ones(2, np.float32)
        raise LookupError("no second batch")

    found = iter(tenax.data.to_device(batches()))
    assert next(found).tolist() == [1, 1]
    with pytest.raises(LookupError, match="no second batch"):
        next(found)
    with pytest.raises(StopIteration):
        next(found)
    assert not threads()


class _Fails(torch.utils.data.Dataset[Any]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> torch.Tensor:
        if i == 2:
            raise ValueError("item 2 is broken")
        return torch.tensor(i)


def test_an_exception_of_a_dataset_is_raised_by_next() -> None:
    with pytest.raises(ValueError, match="item 2 is broken"):
        list(tenax.data.to_device(DataLoader(_Fails(), batch_size=1)))


def test_an_abandoned_iterator_leaves_no_thread_behind() -> None:
    closed = threading.Event()

    def endless() -> Iterator[torch.Tensor]:
        try:
            while True:
                yield torch.ones(2)
        finally:
            closed.set()

    for batch in tenax.data.to_device(endless()):
        assert batch.sum() == 2
        break
    gc.collect()
    assert not threads() and closed.is_set()


def test_a_distributed_sampler_gives_this_share() -> None:
    data = TensorDataset(torch.arange(16.0))
    sampler = DistributedSampler(data, num_replicas=2, rank=1, shuffle=False)  # type: ignore[var-annotated]
    found = [x.tolist() for (x,) in tenax.data.to_device(DataLoader(data, batch_size=4, sampler=sampler))]
    assert found == [[1, 3, 5, 7], [9, 11, 13, 15]]


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match="prefetch=0; expected at least 1"):
        tenax.data.to_device([], prefetch=0)
    with pytest.raises(ValueError, match="to_device: shardings of structure"):
        next(iter(tenax.data.to_device([{"x": torch.ones(4)}], {"y": None})))
    with pytest.raises(ValueError, match=r"to_device: .* shape \[6\] .*4 times.*drop_last=True"):
        next(iter(tenax.data.to_device([torch.ones(6)], NamedSharding(mesh(), P("data")))))
