"""Evaluation of jaxprs by other rules than JAX's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

# Primitives whose results depend on the elements at the same place only. Their arguments are scalars or have the shape
# of the result.
ELEMENTWISE = set(
    """abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp clz complex conj
    convert_element_type copy copy_p cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt igamma igammac
    imag integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or polygamma
    population_count pow real reduce_precision regularized_incomplete_beta rem round rsqrt select_n shift_left
    shift_right_arithmetic shift_right_logical sign sin sinh sqrt square stop_gradient sub tan tanh xor zeta""".split()
)

_CALLS = {  # the parameter that holds the jaxpr of a primitive that calls one
    "jit": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}

Results = Callable[[Any, list[Any]], Sequence[Any]]


def evaluate(
    jaxpr: Jaxpr,
    consts: Sequence[Any],
    arguments: Sequence[Any],
    results: Results,
    constant: Callable[[Any], Any] = lambda x: x,
) -> list[Any]:
    """Evaluate a jaxpr, including those that it calls.

    Args:
        jaxpr: what is evaluated.
        consts: arrays for `jaxpr.constvars`.
        arguments: values of any kind for `jaxpr.invars`.
        results: a function of an equation and its arguments that returns values for `equation.outvars`.
        constant: makes the value of an array among the constants and literals.

    Returns:
        The values of `jaxpr.outvars`.
    """
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, map(constant, consts), strict=True))
    values |= zip(jaxpr.invars, arguments, strict=True)

    def value(v: Any) -> Any:
        return constant(v.val) if isinstance(v, Literal) else values[v]

    for equation in jaxpr.eqns:
        operands = [value(v) for v in equation.invars]
        with equation.ctx.manager:
            found = _called(equation, operands)
            out = results(equation, operands) if found is None else evaluate(*found, results, constant)
        values |= zip(equation.outvars, out, strict=True)
    return [value(v) for v in jaxpr.outvars]


def _called(equation: Any, operands: list[Any]) -> tuple[Jaxpr, Sequence[Any], Sequence[Any]] | None:
    """The jaxpr that an equation calls, with its constants and arguments; None if it calls none."""
    name, params = equation.primitive.name, equation.params
    if name == "cond" and params["branches_platforms"]:
        inner, operands = _of_platform(params), operands[1:]
    elif name in _CALLS:
        inner = params[_CALLS[name]]
    else:
        return None
    return (inner.jaxpr, inner.consts, operands) if isinstance(inner, ClosedJaxpr) else (inner, (), operands)


def _of_platform(params: Any) -> ClosedJaxpr:
    """The branch of `lax.platform_dependent` for the default backend; the last one is for platforms that none names."""
    named = zip(params["branches_platforms"], params["branches"], strict=True)
    return next(branch for names, branch in named if names is None or jax.default_backend() in names)


def bound(primitive: Any, arguments: Sequence[Any], params: Any) -> Sequence[Any]:
    """The results of a primitive as JAX computes it, as a sequence even if there is one."""
    results = primitive.bind(*arguments, **primitive.get_bind_params(params))
    return results if primitive.multiple_results else [results]
