"""Convert torch's symbolic sizes to symbolic dimensions of `jax.export`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.export
import sympy
import torch

from .._torch.exported import int_oo
from ..dtypes import numpy_dtype


def structs(inputs: Iterable[Any], ranges: dict[sympy.Symbol, Any]) -> list[Any]:
    """Shapes and dtypes of a graph's inputs, with all symbolic sizes in one scope, constrained to their ranges.

    Args:
        inputs: fake tensors, and other values, which are returned unchanged.
        ranges: torch's range of each symbol.
    """
    inputs = list(inputs)
    names: dict[str, sympy.Symbol] = {}
    for n in (n for x in inputs if isinstance(x, torch.Tensor) for n in _sizes(x)):
        if isinstance(n, torch.SymInt):
            names |= {str(s): s for s in n.node.expr.free_symbols}
    constraints = [c for name, s in sorted(names.items()) for c in _bounds(name, ranges.get(s))]
    scope = jax.export.SymbolicScope(constraints)

    def struct(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        text = ", ".join(str(n.node.expr) if isinstance(n, torch.SymInt) else str(n) for n in _sizes(x))
        return jax.ShapeDtypeStruct(jax.export.symbolic_shape(_spelled(text), scope=scope), numpy_dtype(x.dtype))

    return [struct(x) for x in inputs]


def _sizes(x: torch.Tensor) -> tuple[Any, ...]:
    return tuple(x.shape)


def _bounds(name: str, limits: Any) -> list[str]:
    """The range of a size as JAX constraints; JAX assumes that every symbolic dimension is at least 1."""
    lower = max(int(limits.lower), 1) if limits is not None and limits.lower != -int_oo else 1
    upper = [f"{name} <= {int(limits.upper)}"] if limits is not None and limits.upper != int_oo else []
    return [*([f"{name} >= {lower}"] if lower > 1 else []), *upper]


def _spelled(text: str) -> str:
    """Rewrite a shape in JAX's syntax."""
    return text.replace("FloorDiv", "floordiv").replace("Mod", "mod").replace("Max", "max").replace("Min", "min")
