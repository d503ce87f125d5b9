"""Profile the device with JAX's profiler: operations have torch's names, and compiled programs also module names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax

from .device.torch_jax import synchronize
from .xla import recording


@contextmanager
def trace(folder: str | Path, **options: Any) -> Iterator[None]:
    """Record host and device for TensorBoard or Perfetto: `with tenax.profiler.trace("folder"): ...`.

    Args:
        folder: the output folder.
        options: options of `jax.profiler.trace`, such as `create_perfetto_trace=True`.
    """
    recording.start(str(folder), **options)
    try:
        yield
        with recording.calls:
            synchronize()  # include all work that was started within the context
    finally:
        recording.stop()


def annotate(name: str) -> Any:
    """A context manager or decorator that names a section of host work in the profile."""
    return jax.profiler.TraceAnnotation(name)


def step(number: int) -> Any:
    """A context manager that marks one training step, so that the profile is divided into steps."""
    return jax.profiler.StepTraceAnnotation("step", step_num=number)
