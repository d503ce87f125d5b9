"""Profiles of the device, by JAX's profiler: operations carry torch's names, and in compiled programs module names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax

from .device.backend import synchronize


@contextmanager
def trace(folder: str | Path, **options: Any) -> Iterator[None]:
    """Record what the host and the device do, for TensorBoard or Perfetto.

    Args:
        folder: where the profile goes.
        options: those of `jax.profiler.trace`, as `create_perfetto_trace=True`.
    """
    with jax.profiler.trace(str(folder), **options):
        yield
        synchronize()  # what was started within belongs to the profile


def annotate(name: str) -> Any:
    """A context or decorator that names a stretch of the host's work in the profile."""
    return jax.profiler.TraceAnnotation(name)


def step(number: int) -> Any:
    """A context that marks one step of training, so that the profile is cut into steps."""
    return jax.profiler.StepTraceAnnotation("step", step_num=number)
