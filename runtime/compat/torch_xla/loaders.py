"""Loaders whose batches are uploaded ahead of the step."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..._torch import pytree
from ...data import to_device
from .steps import mark_step
from .transfers import moved


@dataclass(frozen=True)
class _Placed:
    """A batch that is already placed; an opaque container, so that `tenax.data` does not move its tensors."""

    batch: Any


class ParallelLoader:
    """Distributes the batches of a loader over devices, and uploads them in the background.

    Batch i goes to `devices[i % len(devices)]`. Trailing batches that do not suffice for all devices are dropped.
    """

    def __init__(
        self,
        loader: Iterable[Any],
        devices: Sequence[Any],
        batchdim: int = 0,
        batches_per_execution: int | bool = 1,
        loader_prefetch_size: int = 16,
        device_prefetch_size: int = 8,
        host_to_device_transfer_threads: int = 1,
        input_sharding: Any = None,
        *,
        fixed_batch_size: bool = False,
    ) -> None:
        """Prepare to read the loader.

        Args:
            loader: a `DataLoader`, or another iterable of trees of tensors.
            devices: devices or their strings.
            batchdim: the dimension of the batch.
            batches_per_execution: the number of batches after which `next()` ends a step. A bool is
                `fixed_batch_size`, which old releases had in this place.
            loader_prefetch_size: not needed; the loader is read when a batch is uploaded.
            device_prefetch_size: the number of batches on each device ahead of the step.
            host_to_device_transfer_threads: unused; one thread uploads per device, as JAX's transfers are asynchronous.
            input_sharding: a `ShardingSpec` for all tensors, or a dict of them by the keys of the batches.
            fixed_batch_size: end the iteration at the first batch whose size differs from that of the first one.
        """
        if isinstance(batches_per_execution, bool):
            fixed_batch_size, batches_per_execution = batches_per_execution, 1
        self.devices = [torch.device(d) for d in devices]
        if not self.devices:
            raise ValueError("ParallelLoader: an empty list of devices; expected at least one")
        self.loader, self.batches_per_execution = loader, batches_per_execution
        self.input_sharding, self.device_prefetch_size = input_sharding, device_prefetch_size
        self._rounds = _rounds(loader, len(self.devices), batchdim if fixed_batch_size else None)
        self._dealt: list[deque[Any]] = [deque() for _ in self.devices]
        self._lock, self._closed = threading.Lock(), False
        self._error: BaseException | None = None

    def per_device_loader(self, device: Any) -> PerDeviceLoader:
        """The batches of a device, which can be iterated once."""
        wanted = torch.device(device)
        for place, known in enumerate(self.devices):
            if (known.index or 0) == (wanted.index or 0) and (known.type == "cpu") == (wanted.type == "cpu"):
                return PerDeviceLoader(self, place)
        raise ValueError(f"per_device_loader: {device} is none of {[*map(str, self.devices)]}")

    def per_device_samples(self) -> int:
        """The number of batches per device."""
        return len(self.loader) // len(self.devices)  # type: ignore[arg-type]

    def close(self) -> None:
        """End the iteration."""
        self._closed = True

    def batches(self, place: int) -> Iterator[_Placed]:
        """The batches for a device, uploaded."""
        while not self._closed:
            with self._lock:  # the threads of the devices share the loader
                if not self._dealt[place]:
                    self._deal()
                if not self._dealt[place]:
                    return
                batch = self._dealt[place].popleft()
            yield _Placed(moved(batch, self.devices[place], self.input_sharding))

    def _deal(self) -> None:
        """Read a batch for each device; an error of the loader is raised for each of them."""
        if self._error is not None:
            raise self._error
        try:
            round_ = next(self._rounds, ())
        except BaseException as error:
            self._error = error
            raise
        for dealt, batch in zip(self._dealt, round_, strict=False):
            dealt.append(batch)


def _rounds(loader: Iterable[Any], count: int, batchdim: int | None) -> Iterator[Sequence[Any]]:
    """Lists of as many batches as there are devices, of the same size if a dimension is given."""
    first, round_ = None, []
    for batch in loader:
        size = None if batchdim is None else _batch_size(batch, batchdim)
        first = size if first is None else first
        if size != first:
            return
        round_.append(batch)
        if len(round_) == count:
            yield round_
            round_ = []


def _batch_size(batch: Any, batchdim: int) -> int:
    return next((x.shape[batchdim] for x in pytree.tree_flatten(batch)[0] if isinstance(x, torch.Tensor)), 0)


class PerDeviceLoader:
    """The batches of one device; `next()` ends the step before it returns the next batch."""

    def __init__(self, loader: ParallelLoader, place: int) -> None:
        self._loader, self._count = loader, 0
        uploaded = to_device(loader.batches(place), prefetch=max(1, loader.device_prefetch_size))
        self._batches = iter(uploaded)

    def __len__(self) -> int:
        return self._loader.per_device_samples()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._count % self._loader.batches_per_execution == 0:
            mark_step()
        self._count += 1
        try:
            return next(self._batches).batch
        except StopIteration:
            mark_step()
            raise

    next = __next__

    def close(self) -> None:
        """End the iteration."""
        self._loader.close()
        self._batches.close()


class MpDeviceLoader:
    """The batches of a loader on one device; each iteration restarts the loader."""

    def __init__(self, loader: Iterable[Any], device: Any, **kwargs: Any) -> None:
        """The keyword arguments are those of `ParallelLoader`."""
        self._loader, self._device, self._parallel_loader_kwargs = loader, device, kwargs

    def __iter__(self) -> Iterator[Any]:
        parallel = ParallelLoader(self._loader, [self._device], **self._parallel_loader_kwargs)
        return iter(parallel.per_device_loader(self._device))

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]


class SampleGenerator:
    """An iterable that yields the same data a number of times."""

    def __init__(self, data: Any, sample_count: int) -> None:
        self._data, self._sample_count = data, sample_count

    def __iter__(self) -> Iterator[Any]:
        return iter([self._data] * self._sample_count)

    def __len__(self) -> int:
        return self._sample_count
