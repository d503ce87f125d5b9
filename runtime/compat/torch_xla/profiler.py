"""`torch_xla.debug.profiler`, which programs import as `xp`: JAX's profiler."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import jax

from ... import profiler as recording
from ...device.torch_jax import synchronize
from .steps import mark_step


class ProfilerServer:
    """A server to which a profiler connects, until this object is dropped, which waits for `trace` to end."""

    def __init__(self, port: int) -> None:
        jax.profiler.start_server(port)
        self.port = port
        weakref.finalize(self, _stop_server).atexit = False


def _stop_server() -> None:
    with recording.calls:
        jax.profiler.stop_server()


_servers: weakref.WeakSet[ProfilerServer] = weakref.WeakSet()  # of this process: JAX allows one at a time


def start_server(port: int, only_on_master: bool = True) -> ProfilerServer | None:
    """Start a server to which a profiler connects; the result keeps it alive. None except on the first replica.

    Raises:
        ValueError: the process has a server at another port.
    """
    from .ordinals import is_master_ordinal

    if only_on_master and not is_master_ordinal():
        return None
    for server in _servers:
        if server.port == port:
            return server
        raise ValueError(
            f"xp.start_server({port}): this process has a server at port {server.port}; expected one server at a time "
            "(drop every reference to the first one, or use its port)"
        )
    server = ProfilerServer(port)
    _servers.add(server)
    return server


def start_trace(log_dir: str) -> None:
    """Start recording, for TensorBoard or Perfetto."""
    recording.start(log_dir)


def stop_trace() -> None:
    """Write the recording, including all work that was started before."""
    with recording.calls:
        synchronize()
        recording.stop()


def trace_detached(
    service_addr: str = "",
    logdir: str = "",
    duration_ms: int = 1000,
    num_tracing_attempts: int = 3,
    host_tracer_level: int = 2,
    device_tracer_level: int = 1,
    delay_ms: int = 0,
    timeout_s: int = 120,
    interval_s: int = 5,
) -> threading.Thread:
    """Record as `trace` in a thread; the address is ignored, because this process is recorded."""
    options = _options(host_tracer_level, device_tracer_level)
    if not delay_ms:  # so that what the caller does next is recorded
        recording.start(logdir, profiler_options=options)
    thread = threading.Thread(target=_record, args=(logdir, options, duration_ms, delay_ms), name="torch_xla profiler")
    thread.start()
    return thread


def _options(host_tracer_level: int, device_tracer_level: int) -> Any:
    if device_tracer_level != 1:
        raise NotImplementedError(
            f"xp.trace: device_tracer_level={device_tracer_level}; expected 1, because JAX's profiler always records "
            "the device"
        )
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level = host_tracer_level
    return options


def _record(logdir: str, options: Any, duration_ms: float, delay_ms: float) -> None:
    """Record for a time, after a delay; without a delay, the recording has been started."""
    if delay_ms:
        recording.wait(delay_ms / 1000)
        recording.start(logdir, profiler_options=options)
    recording.wait(duration_ms / 1000)
    recording.stop()


def trace(
    service_addr: str = "",
    logdir: str = "",
    duration_ms: int = 1000,
    num_tracing_attempts: int = 3,
    host_tracer_level: int = 2,
    device_tracer_level: int = 1,
    delay_ms: int = 0,
    timeout_s: int = 120,
    interval_s: int = 5,
) -> None:
    """Record this process for `duration_ms`, while other threads work.

    Args:
        service_addr: the address of a server of this process.
        logdir: the folder for the recording.
        duration_ms: how long to record.
        num_tracing_attempts: not needed, as are `timeout_s` and `interval_s`, because no request can fail.
        host_tracer_level: the detail of events of the host, from 0 to 3.
        device_tracer_level: 1; JAX's profiler always records events of the device.
        delay_ms: how long to wait before.
        timeout_s: not needed.
        interval_s: not needed.

    Raises:
        NotImplementedError: the address is not that of a server of this process; connect TensorBoard to the other one.
            Or `device_tracer_level` is not 1.
    """
    host, _, port = service_addr.rpartition(":")
    if host in ("localhost", "127.0.0.1", "0.0.0.0", "[::1]") and port in {str(s.port) for s in _servers}:
        options = _options(host_tracer_level, device_tracer_level)
        with recording.calls:
            if not delay_ms:
                recording.start(logdir, profiler_options=options)
            _record(logdir, options, duration_ms, delay_ms)
        return
    raise NotImplementedError(
        f"xp.trace: {service_addr!r} is no server of this process; expected TensorBoard's capture button with "
        "xp.start_server(port), or xp.start_trace(log_dir) and xp.stop_trace() in this process"
    )


class XlaTrace(jax.profiler.TraceAnnotation):
    """A context manager that names a section of host work in the profile."""


class XlaStepTrace(jax.profiler.StepTraceAnnotation):
    """A context manager that marks a step in the profile, `StepTrace("train", step_num=i)`, and ends it as
    `torch_xla.sync()` does."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                mark_step()
        finally:
            super().__exit__(kind, error, trace)


def trace_me(scope: str) -> Any:
    """A decorator that names a function in the profile."""
    return lambda function: jax.profiler.annotate_function(function, name=scope)
