"""Parameter layout: the axis order in which a program's parameters are kept in memory.

XLA's CPU backend convolves with kernels of (height, width, in, out), and an LSTM step multiplies by the transposed
weight. A program that reads weights in torch's order copies them in every call. So a program that does not write its
weights keeps them between calls in the order in which it computes, and any other read of the tensor restores torch's
order. A training step is faster without this, because its updates would loop over two orders at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax.extend.core import Jaxpr, Literal, Var

Axes = tuple[int, ...]

_LOOPS = {"scan", "while"}
_CASTS = {"convert_element_type", "copy", "optimization_barrier", "unsplit"}


def layouts(jaxpr: Jaxpr, inputs: Mapping[Var, int]) -> dict[int, Axes]:
    """The axis orders of those `inputs` that a program reads faster in another order, by their numbers.

    These are the weights of convolutions, and weights that loops use transposed.
    """
    wishes: dict[Var, Axes] = {}
    _wish(jaxpr, {v: (v, tuple(range(len(v.aval.shape)))) for v in inputs}, wishes)  # type: ignore[attr-defined]
    return {inputs[v]: axes for v, axes in wishes.items()}


def _wish(jaxpr: Jaxpr, known: dict[Var, tuple[Var, Axes]], wishes: dict[Var, Axes]) -> None:
    """Find the axis order in which each input is first needed. `known` maps a variable to its input and the permutation
    of the input's axes."""
    for equation in jaxpr.eqns:
        name, params, operands = equation.primitive.name, equation.params, equation.invars
        traced = [None if isinstance(v, Literal) else known.get(v) for v in operands]
        if not any(traced):
            continue
        if name in _CASTS:
            known.update({v: t for v, t in zip(equation.outvars, traced, strict=True) if t})
        elif name == "transpose" and traced[0]:
            var, axes = traced[0]
            known[equation.outvars[0]] = var, tuple(axes[i] for i in params["permutation"])
        elif name == "conv_general_dilated" and traced[1]:
            var, axes = traced[1]
            out, into, *spatial = params["dimension_numbers"].rhs_spec
            wishes.setdefault(var, tuple(axes[i] for i in (*spatial, into, out)))
        elif name in _LOOPS:
            for operand in traced:
                if operand and operand[1] != tuple(range(len(operand[1]))):
                    wishes.setdefault(*operand)
        elif (body := _body(equation)) is not None:
            _wish(body, {v: t for v, t in zip(body.invars, traced, strict=True) if t}, wishes)


def _body(equation: Any) -> Jaxpr | None:
    """The jaxpr that an equation calls; None if it is not a call."""
    inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
    body: Jaxpr | None = getattr(inner, "jaxpr", inner)
    is_call = body is not None and len(body.invars) == len(equation.invars) and equation.primitive.name not in _LOOPS
    return body if is_call else None
