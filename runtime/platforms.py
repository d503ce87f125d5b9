"""The platform that a program is made for: that of the process's devices, or of a device that need not exist."""

from __future__ import annotations

from contextlib import AbstractContextManager

import jax

# Part of the keys of JAX's caches, so that nothing that was traced for one platform is used for another.
_chosen = jax.make_user_context(None)


def platform() -> str:
    """The platform of the program that is being traced, as JAX names its backends: "cpu", "gpu" or "tpu"."""
    chosen: tuple[str, int] | None = _chosen.value
    return jax.default_backend() if chosen is None else chosen[0]


def made_for(name: str, devices: int = 1) -> AbstractContextManager[None]:
    """A context in which programs are traced for devices of a platform, whatever devices this process has."""
    return _chosen((name, devices))
