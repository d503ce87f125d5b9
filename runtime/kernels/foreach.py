"""List ops that no lowering of one tensor says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tenax.words import Array, DType, cast, is_complex, is_float, opmath, real_dtype


def _powsum(x: Array, ord: Any, dtype: DType | None) -> Array:
    if not (is_float(x) or is_complex(x)):
        raise NotImplementedError(f'"powsum" not implemented for {x.dtype}; expected a float or complex dtype')
    result = dtype or real_dtype(x.dtype)
    wide = opmath(result)
    size = jnp.abs(cast(x, wide if not is_complex(x) else x.dtype))
    if ord == 0:
        return cast(jnp.count_nonzero(size), result)
    powers = size * size if ord == 2 else size if ord == 1 else size ** cast(float(ord), size.dtype)
    return cast(jnp.sum(powers, dtype=wide), result)


def _foreach_powsum(self: Sequence[Array], ord: Any = 2, dtype: DType | None = None) -> list[Array]:
    """For each array the sum of its absolute values to the power `ord`: a norm without its root."""
    return [_powsum(x, ord, dtype) for x in self]
