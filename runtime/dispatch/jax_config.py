"""The settings that the device needs, applied when the first tensor is created, and those set by users."""

from __future__ import annotations

from pathlib import Path

import jax

from ..host_memory import keep_freed_memory


def configure() -> None:
    """Make JAX honour explicit 64-bit dtypes, such as those of torch tensors, and keep freed memory for later arrays.
    JAX's defaults stay 32-bit, so the user's own JAX code is unaffected."""
    jax.config.update("jax_explicit_x64_dtypes", "allow")
    keep_freed_memory()


def compilation_cache(folder: str | Path, least_seconds: float = 0.0) -> None:
    """Keep compiled programs in a folder, for this process and later ones: JAX's persistent compilation cache.

    Args:
        folder: where they are kept; created if it does not exist.
        least_seconds: programs that compile in less time are not kept.
    """
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least_seconds)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
