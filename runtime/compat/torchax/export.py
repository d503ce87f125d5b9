"""`torchax.export`: programs of `torch.export` in JAX, implemented with `tenax.export`."""

from __future__ import annotations

from typing import Any

import jax

from ... import export as _export
from ...export.evaluate import Evaluator as JaxInterpreter
from ...trace.transfer import from_jax

__all__ = ["JaxInterpreter", "exported_program_to_jax", "exported_program_to_stablehlo", "extract_avals"]


def exported_program_to_jax(program: Any, export_raw: bool = False) -> Any:
    """Return `(weights, function)`; `function(weights, args)` always returns a tuple of all outputs.

    With `export_raw` it is `(names, tensors, function)`, and the function takes a list of arrays in that order.
    """
    weights, function = _export.exported_to_jax(program)

    def outputs(weights: Any, args: Any) -> tuple[Any, ...]:
        return tuple(jax.tree.leaves(function(weights, *args)[0], is_leaf=lambda x: x is None))

    if not export_raw:
        return weights, outputs
    names = list(weights)

    def of_list(values: Any, args: Any) -> tuple[Any, ...]:
        return outputs(dict(zip(names, values, strict=True)), args)

    return names, [from_jax(weights[name]) for name in names], of_list


def exported_program_to_stablehlo(program: Any) -> tuple[dict[str, jax.Array], jax.export.Exported]:
    """The weights and the `jax.export.Exported` of a program, whose `.mlir_module()` is StableHLO."""
    return exported_program_to_jax(program)[0], _export.to_exported(program)


def extract_avals(program: Any) -> list[jax.ShapeDtypeStruct]:
    """Shape and dtype of each input of a program, with JAX's symbolic dimensions where torch exported some."""
    exported, weights = _export.to_exported(program), exported_program_to_jax(program)[0]
    return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in exported.in_avals[len(weights) :]]
