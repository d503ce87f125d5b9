"""`torchax.export`: programs of `torch.export` in JAX, implemented with `tenax.export`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ... import export as _export


def exported_program_to_jax(program: Any) -> tuple[dict[str, jax.Array], Callable[..., Any]]:
    """Return `(weights, function)`; `function(weights, args)` always returns a tuple of all outputs."""
    weights, function = _export.exported_to_jax(program)

    def outputs(weights: Any, args: Any) -> tuple[Any, ...]:
        return tuple(jax.tree.leaves(function(weights, *args)[0], is_leaf=lambda x: x is None))

    return weights, outputs


def exported_program_to_stablehlo(program: Any) -> tuple[dict[str, jax.Array], jax.export.Exported]:
    """The weights and the `jax.export.Exported` of a program, whose `.mlir_module()` is StableHLO."""
    return exported_program_to_jax(program)[0], _export.to_exported(program)
