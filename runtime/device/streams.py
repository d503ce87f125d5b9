"""`torch.jax.Stream` and `torch.jax.Event`; each device has a single stream.

JAX does not let a program choose streams: work that a thread dispatches to a device runs in dispatch order. So all
streams of a device are the same one, and an event is a trivial computation dispatched in that order.
"""

from __future__ import annotations

import functools
import time
import weakref
from typing import Any

import jax
import torch

from .._torch.device import EVENT, PRIVATE_USE_1, STREAM
from ..storage.memory_errors import as_torch_error
from ..storage.ordinals import NAME, device_index, jax_devices
from ..storage.recording import run_recorded
from ..trace.async_errors import raise_failed_assertions

_MODULE: Any = getattr(torch, NAME)


@functools.cache
def _program(index: int) -> tuple[Any, jax.Array]:
    with jax.ensure_compile_time_eval():
        argument = jax.device_put(0, jax_devices()[index])
        return jax.jit(lambda x: x + 1).lower(argument).compile(), argument


def marker(index: int) -> jax.Array:
    """A small array that is ready once everything that this thread has dispatched or recorded for a device is done.

    XLA executes the programs of a thread in the order in which they were dispatched, on the CPU too (jax 0.10;
    tests/device/test_streams.py).
    """
    run_recorded()
    program, argument = _program(index)
    return program(argument)


_failed: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # arrays whose error has been raised


def wait_for(index: int) -> None:
    """Wait for everything that was dispatched to a device, and raise failed assertions. An array that could not be
    computed raises its error once, although it lives on."""
    failures: list[jax.errors.JaxRuntimeError] = []
    marker(index).block_until_ready()
    for array in jax.live_arrays():
        if array.is_deleted():
            continue
        try:
            array.block_until_ready()
        except jax.errors.JaxRuntimeError as error:
            if id(array) not in _failed:
                _failed[id(array)] = array
                failures.append(error)
    if failures:
        raise as_torch_error(failures[0])
    raise_failed_assertions(wait=True)


class Stream(STREAM):  # type: ignore[misc]
    """The stream of a device. Two streams of one device are equal."""

    def __new__(cls, device: Any = None, priority: int = 0, **options: Any) -> Stream:
        """Create the stream of `device`; `priority` has no effect."""
        index = device_index(device)
        return super().__new__(cls, stream_id=0, device_index=index, device_type=PRIVATE_USE_1.value)

    def synchronize(self) -> None:
        """Wait for everything that was dispatched to the device."""
        _MODULE.synchronize(self.device)

    def query(self) -> bool:
        """Whether everything that this thread has dispatched to the device is finished.

        It may stay false a moment longer, until the marker computation has run.
        """
        return marker(self.device_index).is_ready()  # type: ignore[attr-defined]

    def record_event(self, event: Any = None) -> Any:
        """Record an event, by default a new one, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """Do nothing: work runs in dispatch order."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: there is only one stream."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class Event(EVENT):  # type: ignore[misc]
    """A point in a stream.

    An event with `enable_timing` waits for the device when it is recorded, because JAX does not report when a
    computation finished.
    """

    _marker: jax.Array | None = None
    _time: float | None = None
    _timing = False

    def __new__(
        cls, device: Any = None, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Event:
        """Create an event for `device`; `blocking` has no effect."""
        if interprocess:
            raise NotImplementedError(f"torch.{NAME}.Event: interprocess=True is not available on device {NAME!r}")
        index = device_index(device if isinstance(device, (str, int, torch.device)) else None)
        event = super().__new__(cls, device=torch.device(NAME, index))
        event._timing = bool(enable_timing)
        return event

    def record(self, stream: Any = None) -> None:
        """Record the event after everything that this thread has dispatched to the device."""
        index = current_stream().device_index if stream is None else stream.device_index
        self._marker = marker(index)
        if self._timing:
            self._marker.block_until_ready()
            self._time = time.perf_counter()

    def query(self) -> bool:
        """Whether everything before the event is finished; true if the event was never recorded."""
        return self._marker is None or self._marker.is_ready()  # type: ignore[attr-defined]

    def synchronize(self) -> None:
        """Wait for everything before the event."""
        if self._marker is not None:
            self._marker.block_until_ready()
            raise_failed_assertions(wait=True)

    def wait(self, stream: Any = None) -> None:
        """Do nothing: work runs in dispatch order."""

    def elapsed_time(self, other: Any) -> float:
        """The time in milliseconds between this event and a later one.

        Raises:
            ValueError: an event was created without `enable_timing`, or was not recorded.
        """
        if not (self._timing and other._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or other._time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (other._time - self._time) * 1e3


def current_stream(device: Any = None) -> Stream:
    """The stream of a device, by default the current one."""
    return Stream(device)


def set_stream(stream: torch.Stream | None) -> None:
    """Make the device of a stream the current device."""
    if stream is not None:
        _MODULE.set_device(stream.device_index)


class StreamContext(_MODULE.device):  # type: ignore[misc]
    """Context manager: the device of a stream becomes the current device; None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        super().__init__(None if stream is None else stream.device_index)


def stream(stream: torch.Stream | None) -> StreamContext:
    """Context manager that selects a stream."""
    return StreamContext(stream)
