"""`tenax.precision`: the precision of float32 products within a block, for one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import jax

from ..float32_products import OF_JAX
from ..storage.recording import run_recorded


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
