"""Settings of the process: those that the device needs, applied with its first tensor, and those set by users."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jax

from .._jax import lower_for_tpus
from ..float32_products import OF_JAX
from ..storage.recording import run_recorded

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_NUMBERS = ("trim_threshold", "mmap_threshold", "top_pad", "mmap_max")
_KEPT = 1 << 28  # bytes of freed memory at the end of a heap that are not returned
_OF_THE_HEAP = 1 << 25  # larger blocks are mapped, and returned when they are freed; glibc's own limit of this number


def configure() -> None:
    """Make JAX honour explicit 64-bit dtypes, such as those of torch tensors, and keep freed memory for later arrays.
    JAX's defaults stay 32-bit, so the user's own JAX code is unaffected."""
    jax.config.update("jax_explicit_x64_dtypes", "allow")
    lower_for_tpus()
    keep_freed_memory()


def keep_freed_memory() -> None:
    """Let glibc keep freed memory, unless the environment sets one of the numbers on which that depends.

    The arrays of the CPU and temporary memory of its programs come from glibc. By default, it returns freed memory to
    the kernel when the end of its heap has twice the size of a large block: an eager operation on a few MiB then takes
    its result from the kernel at each call, which clears it page by page. That takes longer than the operation: a sum
    of two arrays of 4 MiB takes two to three times as long. The price is that a process may hold `_KEPT` bytes that it
    does not use.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if any(f"MALLOC_{name.upper()}_" in os.environ or f"malloc.{name}=" in tunables for name in _NUMBERS):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # a function of glibc alone
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _OF_THE_HEAP)  # setting one of the two fixes both


def compilation_cache(folder: str | Path, least_seconds: float = 0.0) -> None:
    """Keep compiled programs in a folder, for this process and later ones: JAX's persistent compilation cache.

    Args:
        folder: where they are kept; created if it does not exist.
        least_seconds: programs that compile in less time are not kept.
    """
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least_seconds)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@contextmanager
def precision(name: str) -> Iterator[None]:
    """Compute float32 products of this thread in a precision: `with tenax.precision("high"):`.

    Elsewhere, `torch.set_float32_matmul_precision` applies. The products of a backward pass have the precision of the
    block that calls `backward()`.

    Args:
        name: "highest", "high" or "medium", as for `torch.set_float32_matmul_precision`.

    Raises:
        ValueError: the name is another.
    """
    if name not in OF_JAX:
        raise ValueError(f"precision: {name!r}; expected one of {[*OF_JAX]}")
    run_recorded()  # what lazy mode has recorded outside of the block
    with jax.default_matmul_precision(OF_JAX[name]):
        try:
            yield
        finally:
            run_recorded()
