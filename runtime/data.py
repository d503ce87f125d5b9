"""Prefetch batches to the device: `tenax.data.to_device`."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import jax
import numpy as np
import torch

from ._torch import NAME, pytree
from .dtypes import numpy_dtype
from .storage.placement import without_explicit_axes
from .trace.transfer import from_jax, from_numpy

_ENDED, _FAILED = object(), object()


def to_device(loader: Iterable[Any], sharding: Any = None, prefetch: int = 2) -> DeviceLoader:
    """Upload the batches of a loader in a background thread, ahead of the step that uses them.

    Args:
        loader: any iterable of trees of tensors and NumPy arrays, such as a `DataLoader`. Other leaves are unchanged.
            Each iteration of the result starts a new iteration of the loader.
        sharding: where the tensors go: None means device "jax"; otherwise a `NamedSharding`, whose spec may have more
            entries than a tensor has dimensions, or a tree of shardings matching the batch. In a multi-process program
            a batch is this process's share, as with `DistributedSampler`, and the result is the global tensor.
        prefetch: the number of batches to keep ready on the device, at least 1.

    Returns:
        An iterable of batches, with the length of the loader. An exception in the loader is raised by `next()`, after
        the batches before it. The thread ends when the iteration ends, or when the iterator is dropped or closed.

    Raises:
        ValueError: `prefetch` is less than 1.
    """
    if prefetch < 1:
        raise ValueError(f"tenax.data.to_device: prefetch={prefetch}; expected at least 1")
    return DeviceLoader(loader, sharding, prefetch)


class DeviceLoader:
    """The batches of a loader, on the device; see `to_device`."""

    def __init__(self, loader: Iterable[Any], sharding: Any, prefetch: int) -> None:
        self.loader, self.sharding, self.prefetch = loader, sharding, prefetch

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __iter__(self) -> DeviceIterator:
        return DeviceIterator(self.loader, self.sharding, self.prefetch)


class DeviceIterator:
    """One pass over the batches; `close` ends it early."""

    def __init__(self, loader: Iterable[Any], sharding: Any, prefetch: int) -> None:
        ready: queue.Queue[tuple[Any, Any]] = queue.Queue(prefetch)
        stop = threading.Event()
        # The thread holds no reference to this object, so dropping the object ends the thread.
        self._thread = threading.Thread(
            target=_upload_all, args=(iter(loader), sharding, ready, stop), name="tenax.data.to_device", daemon=True
        )
        self._ready = ready
        self._finish = weakref.finalize(self, _end, stop, ready, self._thread)
        self._thread.start()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self._finish.alive:
            raise StopIteration
        kind, value = self._ready.get()
        if kind is None:
            return value
        self.close()
        if kind is _FAILED:
            raise value
        raise StopIteration

    def close(self) -> None:
        """End the iteration and its thread. Idempotent."""
        self._finish()


def _end(stop: threading.Event, ready: queue.Queue[Any], thread: threading.Thread) -> None:
    stop.set()
    while thread.is_alive() and thread is not threading.current_thread():
        try:
            ready.get_nowait()  # unblocks a thread that waits for a free slot
        except queue.Empty:
            thread.join(0.01)


def _upload_all(batches: Iterator[Any], sharding: Any, ready: queue.Queue[Any], stop: threading.Event) -> None:
    try:
        for batch in batches:
            if stop.is_set():
                return
            placed = _placed(batch, sharding)
            del batch
            ready.put((None, placed))
            del placed
            if stop.is_set():
                return
        ready.put((_ENDED, None))
    except BaseException as error:  # not only Exception: everything is raised again on the consumer's thread
        if not stop.is_set():
            ready.put((_FAILED, error))
    finally:
        close = getattr(batches, "close", None)  # generators have it; a DataLoader's iterator does not
        if close is not None:
            close()


def _placed(batch: Any, sharding: Any) -> Any:
    """Move the tensors of a batch to the device."""
    leaves, structure = pytree.tree_flatten(batch)
    if sharding is None or isinstance(sharding, jax.sharding.Sharding):
        chosen = [sharding] * len(leaves)
    else:
        chosen, other = pytree.tree_flatten(sharding)
        if other != structure:
            raise ValueError(f"tenax.data.to_device: shardings of structure {other} for a batch of {structure}")
    return pytree.tree_unflatten([place(x, s) for x, s in zip(leaves, chosen, strict=True)], structure)


def place(leaf: Any, sharding: Any) -> Any:
    """A tensor or array on the device, or any other leaf; with a sharding, each process passes its share."""
    if isinstance(leaf, np.ndarray):
        leaf = torch.from_numpy(leaf)
    if not isinstance(leaf, torch.Tensor) or leaf.device.type not in ("cpu", NAME):
        return leaf
    if sharding is None:
        return leaf.to(NAME)
    if isinstance(sharding, jax.sharding.NamedSharding):
        spec = jax.sharding.PartitionSpec(*sharding.spec[: leaf.dim()])
        sharding = without_explicit_axes(jax.sharding.NamedSharding(sharding.mesh, spec))
    host = leaf.detach().cpu()
    array = np.empty(tuple(host.shape), numpy_dtype(host.dtype))
    from_numpy(array, host.dtype).copy_(host)
    try:
        with jax.enable_x64(True):  # JAX would narrow 64-bit data
            return from_jax(jax.make_array_from_process_local_data(sharding, array))
    except ValueError as error:
        raise ValueError(
            f"tenax.data.to_device: a tensor of shape {[*array.shape]} of a batch: {error}; expected a size that the "
            "devices divide (drop_last=True leaves out a smaller last batch)"
        ) from None
