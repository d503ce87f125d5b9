"""The one JAX setting that the device needs, made when the first tensor comes to be; and those that a user asks for."""

from __future__ import annotations

from pathlib import Path

import jax


def configure() -> None:
    """Have JAX honour explicit 64-bit dtypes, as torch's dtypes are. Its defaults stay 32-bit, so the user's own JAX
    code computes what it did."""
    jax.config.update("jax_explicit_x64_dtypes", "allow")


def compilation_cache(folder: str | Path, least_seconds: float = 0.0) -> None:
    """Keep compiled programs in a folder, for this process and later ones: JAX's persistent compilation cache.

    Args:
        folder: where they are kept; made if it is not there.
        least_seconds: programs that compile faster are not kept.
    """
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least_seconds)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
