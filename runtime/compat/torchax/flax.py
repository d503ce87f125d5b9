"""`torchax.flax`: a linen module as an `nn.Module`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...interop.modules import JaxModule, from_flax
from .interop import jax_view


def FlaxNNModule(  # noqa: N802 (torchax's name)
    env: Any, flax_module: Any, sample_args: Sequence[Any], sample_kwargs: dict[str, Any] | None = None
) -> JaxModule:
    """Apply `from_flax` to `flax_module.init(env.prng_key, ...)`; the next module is initialized with another key."""
    variables = flax_module.init(env.prng_key, *jax_view(tuple(sample_args)), **jax_view(sample_kwargs or {}))
    env.get_and_rotate_prng_key()
    return from_flax(flax_module, variables)
