"""Written by codegen: one module of lowerings per spec file, and `table`, which maps overloads to lowerings."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

if not __name__.startswith("tenax"):
    raise ImportError(f"import this package as tenax.generated, not {__name__}: a second copy would hold its own state")


def lowering(overload: str) -> Callable[..., Any]:
    """The function of JAX arrays that computes an overload such as `add.Tensor`: a generated one, or a kernel.

    Raises:
        NotImplementedError: the overload has no lowering.
    """
    from tenax.generated.table import ROWS

    row = ROWS.get(overload)
    if row is None:
        raise NotImplementedError(f"{overload}: no lowering; expected one of the overloads in tenax.generated.table")
    function: Callable[..., Any] = getattr(importlib.import_module(f"tenax.{row.module}"), row.function)
    return function
