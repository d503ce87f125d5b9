"""XLA_USE_BF16 and XLA_DOWNCAST_BF16: floating-point values are kept in less precision than their dtype.

The variables are read at each upload, since a program may set them after its imports, as Lightning's precision plugin
does. The cost is two lookups per upload. When they change, programs are compiled again.
"""

from __future__ import annotations

import os

import jax.numpy as jnp
import numpy as np

from ...aten.overrides import Override
from ...holding import holding
from ...xla.memory import code_memory

_FLOAT, _DOUBLE, _BFLOAT16 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(jnp.bfloat16)
_VARIABLES: dict[str, dict[np.dtype, np.dtype]] = {
    "XLA_USE_BF16": {_FLOAT: _BFLOAT16, _DOUBLE: _BFLOAT16},
    "XLA_DOWNCAST_BF16": {_FLOAT: _BFLOAT16, _DOUBLE: _FLOAT},
}
_active: list[Override] = []  # an empty override: while active, compiled functions are looked up separately


def follow_environment() -> None:
    """Follow the variables from now on."""
    holding.ask = _read
    _read()


def _read() -> None:
    wanted = next((table for name, table in _VARIABLES.items() if os.environ.get(name, "0") not in ("0", "")), {})
    if wanted == holding.dtypes:
        return
    holding.dtypes = wanted
    code_memory.forget()
    for override in _active:
        override.remove()
    _active[:] = [Override(follow_environment, ())] if wanted else []
