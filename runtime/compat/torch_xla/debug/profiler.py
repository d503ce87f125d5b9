"""`torch_xla.debug.profiler`, which programs import as `xp`: JAX's profiler."""

from __future__ import annotations

import threading
import time
from typing import Any

import jax

from ....device.torch_jax import synchronize

_own_ports: set[int] = set()  # of the servers of this process


def start_server(port: int, only_on_master: bool = True) -> Any:
    """Start a server to which a profiler connects; the result keeps it alive. None except on the first replica."""
    from ..devices import is_master_ordinal

    if only_on_master and not is_master_ordinal():
        return None
    server = jax.profiler.start_server(port)
    _own_ports.add(port)
    return server


def start_trace(log_dir: str, **options: Any) -> None:
    """Start recording, for TensorBoard or Perfetto."""
    jax.profiler.start_trace(log_dir)


def stop_trace() -> None:
    """Write the recording, including all work that was started before."""
    synchronize()
    jax.profiler.stop_trace()


def trace_detached(service_addr: str = "", logdir: str = "", duration_ms: int = 1000, **_: Any) -> threading.Thread:
    """Record for `duration_ms` in a thread; the address is ignored, because this process is recorded."""
    start_trace(logdir)
    thread = threading.Thread(target=_stop_after, args=(duration_ms,), name="torch_xla profiler")
    thread.start()
    return thread


def _stop_after(duration_ms: float) -> None:
    time.sleep(duration_ms / 1000)
    jax.profiler.stop_trace()


def trace(service_addr: str = "", logdir: str = "", duration_ms: int = 1000, **options: Any) -> None:
    """Record this process for `duration_ms`, while other threads work.

    Raises:
        NotImplementedError: the address is not that of a server of this process; connect TensorBoard to the other one.
    """
    host, _, port = service_addr.rpartition(":")
    if host in ("localhost", "127.0.0.1", "0.0.0.0", "[::1]") and port.isdecimal() and int(port) in _own_ports:
        start_trace(logdir)
        _stop_after(duration_ms)
        return
    raise NotImplementedError(
        f"xp.trace: {service_addr!r} is no server of this process; expected TensorBoard's capture button with "
        "xp.start_server(port), or xp.start_trace(log_dir) and xp.stop_trace() in this process"
    )


class XlaTrace(jax.profiler.TraceAnnotation):
    """A context manager that names a section of host work in the profile."""


class XlaStepTrace(jax.profiler.StepTraceAnnotation):
    """A context manager that marks a step in the profile: `StepTrace("train", step_num=i)`."""


Trace, StepTrace = XlaTrace, XlaStepTrace


def trace_me(scope: str) -> Any:
    """A decorator that names a function in the profile."""
    return lambda function: jax.profiler.annotate_function(function, name=scope)
