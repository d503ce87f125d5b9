"""Writes to a part of an array.

XLA's CPU backend writes in place, and fuses the computation of the part into the write. If that computation reads the
array through a reshape, XLA overlooks it (openxla/xla#49176) and reads what it has just written:
`y[1:] = y[:-1].clone()` repeats the first row. So a part is computed before it is written, behind a barrier that
compiled programs keep (`dispatch/aot_call.py`). The cost is one more buffer, of the size of the part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax

# Compiler options for programs of several operations, by platform: skip the pass that drops barriers before fusion, and
# the one that compiles a small loop to one function, which cannot contain barriers.
KEPT_BARRIERS: dict[str, dict[str, Any]] = {
    "cpu": {"xla_disable_hlo_passes": "cse_barrier_expander,small-while-loop-hoisting"}
}


def computed(part: jax.Array) -> jax.Array:
    """`part`, behind a barrier where needed, so that it is computed before it is written."""
    return lax.optimization_barrier(part) if jax.default_backend() in KEPT_BARRIERS else part


def update(whole: jax.Array, part: jax.Array, starts: Sequence[Any]) -> jax.Array:
    """`whole` with a window replaced by `part`: `lax.dynamic_update_slice`."""
    return lax.dynamic_update_slice(whole, computed(part), starts)
