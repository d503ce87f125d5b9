"""Conversion of JAX's out-of-memory errors to torch's."""

from __future__ import annotations

import re

import jax
import torch

_FULL = re.compile(r"RESOURCE_EXHAUSTED|out of memory", re.IGNORECASE)
_REQUESTED = re.compile(r"allocat\w* (?:(\d+) ?bytes|([\d.]+ ?[KMGT]iB))", re.IGNORECASE)


def as_torch_error(error: Exception) -> Exception:
    """Convert a JAX out-of-memory error to `torch.OutOfMemoryError`, with the known sizes; return others unchanged."""
    if not isinstance(error, jax.errors.JaxRuntimeError) or not _FULL.search(str(error)):
        return error
    requested = _REQUESTED.search(str(error))
    tried = f" Tried to allocate {_size(int(requested[1])) if requested[1] else requested[2]}." if requested else ""
    held = sum(array.nbytes for array in jax.live_arrays() if not array.is_deleted())
    limits = [stats["bytes_limit"] for d in jax.local_devices() if "bytes_limit" in (stats := d.memory_stats() or {})]
    limit = f" of {_size(sum(limits))} on {len(limits)} devices" if limits else ""
    made = torch.OutOfMemoryError(
        f"JAX out of memory.{tried} The process holds arrays of {_size(held)}{limit}. {error}"
    )
    made.__cause__ = error
    return made


def _size(count: int) -> str:
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} bytes"
