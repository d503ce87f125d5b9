"""`torchax.flax`: a linen module as an `nn.Module`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from ...interop.modules import JaxModule, from_flax
from .interop import jax_view


def FlaxNNModule(  # noqa: N802 (torchax's name)
    env: Any, flax_module: Any, sample_args: Sequence[Any], sample_kwargs: dict[str, Any] | None = None
) -> JaxModule:
    """Initialize a linen module for sample arguments with a key of the environment, and apply `from_flax` to it."""
    streams = dict(zip(("params", "dropout"), jax.random.split(env.prng_key), strict=True))
    variables = flax_module.init(streams, *jax_view(tuple(sample_args)), **jax_view(sample_kwargs or {}))
    return from_flax(flax_module, variables)
