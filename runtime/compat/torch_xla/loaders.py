"""`torch_xla.distributed.parallel_loader`, which programs import as `pl`: batches are uploaded ahead of the step."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..._torch import pytree
from ...data import to_device
from .steps import mark_step
from .transfers import moved

_END = object()


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
        """Start reading the loader.

        Args:
            loader: a `DataLoader`, or another iterable of trees of tensors.
            devices: devices or their strings.
            batchdim: the dimension of the batch.
            batches_per_execution: the number of batches after which `next()` ends a step. A bool is
                `fixed_batch_size`, which old releases had in this place.
            loader_prefetch_size: the number of batches queued for each device.
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
        self.loader, self.batchdim, self.batches_per_execution = loader, batchdim, batches_per_execution
        self.input_sharding, self.device_prefetch_size = input_sharding, device_prefetch_size
        self._queues: list[queue.Queue[Any]] = [queue.Queue(max(1, loader_prefetch_size)) for _ in self.devices]
        self._stop = threading.Event()
        # The thread does not reference this object, so that dropping it ends the thread.
        size = _batch_size if fixed_batch_size else _no_size
        threading.Thread(
            target=_deal,
            args=(loader, self._queues, self._stop, size, batchdim),
            name="ParallelLoader",
            daemon=True,
        ).start()
        weakref.finalize(self, self._stop.set)

    def per_device_loader(self, device: Any) -> PerDeviceLoader:
        """The batches of a device, which can be iterated once."""
        wanted = torch.device(device)
        for place, known in enumerate(self.devices):
            if known == wanted or (known.type, known.index or 0) == (wanted.type, wanted.index or 0):
                return PerDeviceLoader(self, place)
        same = [i for i, d in enumerate(self.devices) if (d.index or 0) == (wanted.index or 0) and wanted.type != "cpu"]
        if not same:
            raise ValueError(f"per_device_loader: {device} is none of {[*map(str, self.devices)]}")
        return PerDeviceLoader(self, same[0])

    def per_device_samples(self) -> int:
        """The number of batches per device."""
        return len(self.loader) // len(self.devices)  # type: ignore[arg-type]

    def close(self) -> None:
        """End the iteration."""
        self._stop.set()

    def batches(self, place: int) -> Iterator[_Placed]:
        """The batches for a device, uploaded."""
        device = self.devices[place]
        for batch in _dealt(self._queues[place], self._stop):
            yield _Placed(moved(batch, device, self.input_sharding))


def _dealt(dealt: queue.Queue[Any], stop: threading.Event) -> Iterator[Any]:
    while not stop.is_set():
        try:
            kind, batch = dealt.get(timeout=0.1)
        except queue.Empty:
            continue
        if kind is _END:
            if batch is not None:
                raise batch
            return
        yield batch


def _deal(loader: Any, queues: list[queue.Queue[Any]], stop: threading.Event, size: Any, batchdim: int) -> None:
    error: BaseException | None = None
    first: Any = None
    round_: list[Any] = []
    try:
        for batch in loader:
            first = size(batch, batchdim) if first is None else first
            if stop.is_set() or size(batch, batchdim) != first:
                break
            round_.append(batch)
            if len(round_) == len(queues):
                for dealt, one in zip(queues, round_, strict=True):
                    _put(dealt, (None, one), stop)
                round_ = []
    except BaseException as raised:  # re-raised in the thread of the step
        error = raised
    for dealt in queues:
        _put(dealt, (_END, error), stop)


def _put(dealt: queue.Queue[Any], entry: Any, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            dealt.put(entry, timeout=0.1)
            return
        except queue.Full:
            continue


def _no_size(batch: Any, batchdim: int) -> int:
    return 0


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
