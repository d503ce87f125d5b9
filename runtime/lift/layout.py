"""In what order of axes a program's parameters lie in memory.

XLA's CPU backend convolves by kernels of (height, width, in, out), and a step of an LSTM multiplies by the transposed
weight. A program that takes torch's weights as they lie copies them anew in every call. So one that does not write them
has them lie in the order that it computes in, from one call to the next, and whoever else reads the tensor gets it in
torch's. (A training step is faster as it is: its updates would be loops over two orders at once.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax.extend.core import Jaxpr, Literal, Var

Axes = tuple[int, ...]

_LOOPS = {"scan", "while"}
_CASTS = {"convert_element_type", "copy", "optimization_barrier"}


def layouts(jaxpr: Jaxpr, inputs: Mapping[Var, int]) -> dict[int, Axes]:
    """The axes of those of the `inputs`, by their numbers, that had better lie otherwise.

    These are the weights of convolutions, and those that loops multiply by transposed.
    """
    wishes: dict[Var, Axes] = {}
    _wish(jaxpr, {v: (v, tuple(range(len(v.aval.shape)))) for v in inputs}, wishes)  # type: ignore[attr-defined]
    return {inputs[v]: axes for v, axes in wishes.items()}


def _wish(jaxpr: Jaxpr, known: dict[Var, tuple[Var, Axes]], wishes: dict[Var, Axes]) -> None:
    """Find the order that each input is first wanted in. `known` tells of a variable which input it is, transposed
    how."""
    for equation in jaxpr.eqns:
        name, params, operands = equation.primitive.name, equation.params, equation.invars
        met = [None if isinstance(v, Literal) else known.get(v) for v in operands]
        if not any(met):
            continue
        if name in _CASTS:
            known.update({v: m for v, m in zip(equation.outvars, met, strict=True) if m})
        elif name == "transpose" and met[0]:
            var, axes = met[0]
            known[equation.outvars[0]] = var, tuple(axes[i] for i in params["permutation"])
        elif name == "conv_general_dilated" and met[1]:
            var, axes = met[1]
            out, into, *spatial = params["dimension_numbers"].rhs_spec
            wishes.setdefault(var, tuple(axes[i] for i in (*spatial, into, out)))
        elif name in _LOOPS:
            for found in met:
                if found and found[1] != tuple(range(len(found[1]))):
                    wishes.setdefault(*found)
        elif (body := _body(equation)) is not None:
            _wish(body, {v: m for v, m in zip(body.invars, met, strict=True) if m}, wishes)


def _body(equation: Any) -> Jaxpr | None:
    """What a call calls; None of what is no call."""
    inner = equation.params.get("jaxpr")
    body: Jaxpr | None = getattr(inner, "jaxpr", inner)
    is_call = body is not None and len(body.invars) == len(equation.invars) and equation.primitive.name not in _LOOPS
    return body if is_call else None
