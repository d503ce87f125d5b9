"""Rewrites products with torch's (out, in) weight matrices into the form that XLA handles best.

A product with the transpose of a matrix is rewritten to contract the other axis of the matrix itself. Forward and
backward of a linear layer then read the same operand, so XLA gathers a sharded matrix once for both.

For products with few rows, as in token decoding, XLA's CPU backend transposes such a matrix in every product, or
recomputes the row for each of its results. With the matrix as the left operand it reads it in place, in half the time
or less. With more rows, or with (in, out) matrices, that order is slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import jax
from jax.extend.core import Jaxpr, Var, jaxpr_as_fun
from jax.extend.core.primitives import dot_general_p, reshape_p, transpose_p

from ..platforms import platform
from ..words import FEW_ROWS

_barrier_p = jax.make_jaxpr(jax.lax.optimization_barrier)(0.0).eqns[0].primitive


def rewritten_products(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of arrays with its products rewritten."""

    @wraps(function)
    def run(*operands: Any) -> Any:
        closed, shapes = jax.make_jaxpr(function, return_shape=True)(*operands)
        results = jaxpr_as_fun(closed.replace(jaxpr=_rewritten(closed.jaxpr)))(*jax.tree.leaves(operands))
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return run


def _rewritten(jaxpr: Jaxpr) -> Jaxpr:
    cpu = platform() == "cpu"
    equations: list[Any] = []
    sources: dict[Any, Any] = {}  # transposed variable -> its source
    results = [*jaxpr.outvars]
    results += [e.invars[0] for e in jaxpr.eqns if e.primitive is reshape_p and any(e.outvars[0] is v for v in results)]
    for equation in jaxpr.eqns:
        if equation.primitive is transpose_p and equation.params["permutation"] == (1, 0):
            sources[equation.outvars[0]] = equation.invars[0]
        if equation.primitive is not dot_general_p:
            equations.append(equation)
            continue
        matrix = _matrix(equation, sources, results) if cpu else None
        equations += [_untransposed(equation, sources)] if matrix is None else _matrix_first(equation, matrix)
    return jaxpr.replace(eqns=equations)


def _untransposed(equation: Any, sources: dict[Any, Any]) -> Any:
    """For many rows, the product with the matrix itself in place of its transpose."""
    (left, right), batched = equation.params["dimension_numbers"]
    rows, matrix = equation.invars
    if matrix not in sources or right != (0,) or rows.aval.size // rows.aval.shape[left[0]] <= FEW_ROWS:
        return equation
    params = {**equation.params, "dimension_numbers": ((left, (1,)), batched)}
    return equation.replace(invars=[rows, sources[matrix]], params=params)


def _matrix(equation: Any, sources: dict[Any, Any], results: Sequence[Any]) -> Any:
    """The (out, in) matrix of a product with few rows; None for any other product."""
    (left, right), batched = equation.params["dimension_numbers"]
    first, second = equation.invars
    rows = first.aval.shape[0] if first.aval.ndim == 2 else 0
    narrow = first.aval.dtype.itemsize < 4
    # A single row of a narrow dtype is fast already; a product that is not itself a result must not be rounded early.
    if narrow and (rows == 1 or all(v is not equation.outvars[0] for v in results)):
        return None
    if not 1 <= rows <= FEW_ROWS or second.aval.ndim != 2 or any(batched) or left != (1,):
        return None
    return second if right == (1,) else sources.get(second)


def _matrix_first(equation: Any, matrix: Any) -> Iterator[Any]:
    """The product with its operands swapped; the barrier keeps XLA from undoing that."""
    numbers = ((1,), (1,)), ((), ())
    aval = equation.outvars[0].aval
    product, kept = (Var(aval.update(shape=aval.shape[::-1])) for _ in range(2))
    params = {**equation.params, "dimension_numbers": numbers}
    yield equation.replace(invars=[matrix, equation.invars[0]], outvars=[product], params=params)
    yield equation.replace(primitive=_barrier_p, invars=[product], outvars=[kept], params={})
    yield equation.replace(primitive=transpose_p, invars=[kept], params={"permutation": (1, 0)})
