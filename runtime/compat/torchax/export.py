"""`torchax.export`: programs of `torch.export` in JAX, by `tenax.export`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ... import export as _export


def exported_program_to_jax(program: Any) -> tuple[dict[str, jax.Array], Callable[..., Any]]:
    """`(weights, function)`, where `function(weights, args)` gives the outputs: `tenax.export.exported_to_jax`."""
    weights, function = _export.exported_to_jax(program)

    def outputs(weights: Any, args: Any) -> Any:
        return function(weights, *args)[0]

    return weights, outputs


def exported_program_to_stablehlo(program: Any) -> tuple[dict[str, jax.Array], jax.export.Exported]:
    """The weights and the `jax.export.Exported` of a program, whose `.mlir_module()` is StableHLO."""
    return exported_program_to_jax(program)[0], _export.to_exported(program)
