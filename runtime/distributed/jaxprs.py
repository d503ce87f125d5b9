"""Comparison of the ranks' jaxprs of a program, equation by equation, and unification where only numbers differ.

Ranks that run the same program differ in which part of a tensor they own, that is, in starts of slices and scalars.
These become operands; any other difference is an error.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun
from jax.extend.core.primitives import jit_p, slice_p

from .._jax import NamedAxisEffect, traced_as
from ..trace.ranks import AXIS
from ..tracebacks import line_of

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_SLICED = ("start_indices", "limit_indices")


@dataclass(frozen=True, slots=True)
class RankNumber:
    """A number of a jaxpr: a scalar, or the start of a slice."""

    value: Any
    dtype: Any

    def array(self) -> jax.Array:
        """The number as an operand."""
        with jax.enable_x64(True):
            return jnp.asarray(self.value, self.dtype)


def inlined(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Inline all calls in a jaxpr, and make scalar constants literals: JAX may choose differently on each rank."""
    equations: list[JaxprEqn] = []
    constants: dict[Var, Any] = {}

    def constant(variable: Any, value: Any) -> Any:
        if not variable.aval.shape:
            return Literal(np.asarray(value)[()], variable.aval)
        new = Var(variable.aval)
        constants[new] = value
        return new

    def append(jaxpr: Jaxpr, values: dict[Var, Any], callers: tuple[Any, ...]) -> list[Any]:
        def atom(v: Any) -> Any:
            return v if isinstance(v, Literal) else values[v]

        for e in jaxpr.eqns:
            given = [atom(v) for v in e.invars]
            source = e.source_info
            if callers:
                source = source.replace(name_stack=callers[-1].name_stack + source.name_stack)
            if len(callers) > 1:  # within an operation, whose cached trace may come from another call site
                source = source.replace(traceback=callers[1].traceback)
            if e.primitive is jit_p:
                inner = e.params["jaxpr"]
                known = dict(zip(inner.jaxpr.invars, given, strict=True))
                known |= {v: constant(v, c) for v, c in zip(inner.jaxpr.constvars, inner.consts, strict=True)}
                values |= zip(e.outvars, append(inner.jaxpr, known, (*callers, source)), strict=True)
            else:
                values |= {v: Var(v.aval) for v in e.outvars}
                equations.append(e.replace(invars=given, outvars=[*map(atom, e.outvars)], source_info=source))
        return [atom(v) for v in jaxpr.outvars]

    jaxpr = closed.jaxpr
    values = {v: v for v in jaxpr.invars}
    values |= {v: constant(v, c) for v, c in zip(jaxpr.constvars, closed.consts, strict=True)}
    results = append(jaxpr, values, ())
    info = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    flat = jaxpr.replace(constvars=[*constants], eqns=equations, outvars=results, debug_info=info)
    return ClosedJaxpr(flat, [*constants.values()])


class Description:
    """A jaxpr as checksums and numbers to compare."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.equations = jaxpr.eqns
        self.digests: list[int] = []  # of the equations and of the results, without numbers
        self.numbers: list[RankNumber] = []
        names: dict[Any, int] = {}

        def shown(v: Any) -> str:
            return f"number:{v.aval}" if isinstance(v, Literal) else f"{names.setdefault(v, len(names))}:{v.aval}"

        for e in jaxpr.eqns:
            hidden = _SLICED if e.primitive is slice_p else ()
            params = [f"{k}={v}" for k, v in sorted(e.params.items()) if k not in hidden]
            text = [e.primitive.name, *map(shown, (*e.invars, *e.outvars)), *params]
            self.digests.append(zlib.crc32(_ADDRESS.sub("", " ".join(text)).encode()))
            self.numbers += numbers_of(e)
        results = [str(v.val) if isinstance(v, Literal) else shown(v) for v in jaxpr.outvars]
        self.digests.append(zlib.crc32(" ".join(results).encode()))

    def place(self, i: int) -> str:
        """Describe an equation with the innermost line of the user's program that led to it."""
        if i >= len(self.equations):
            return "its results"
        line = line_of(self.equations[i])
        return self.equations[i].primitive.name + f" ({line})" * bool(line)


def numbers_of(equation: JaxprEqn) -> list[RankNumber]:
    """The numbers of an equation, in the order in which `evaluate` counts them."""
    starts = equation.params["start_indices"] if equation.primitive is slice_p else ()
    found = [RankNumber(start, np.dtype(np.int32)) for start in starts]
    literals: list[Any] = [v for v in equation.invars if isinstance(v, Literal)]
    return found + [RankNumber(v.val, v.aval.dtype) for v in literals]


def evaluate(closed: ClosedJaxpr, arguments: Sequence[Any], replaced: Mapping[int, Any]) -> list[Any]:
    """Evaluate an inlined jaxpr with some of its numbers replaced by arrays."""
    if not replaced:
        return jaxpr_as_fun(closed)(*arguments)
    jaxpr, count = closed.jaxpr, itertools.count()
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    values |= zip(jaxpr.invars, arguments, strict=True)

    def value(v: Any) -> Any:
        return replaced.get(next(count), v.val) if isinstance(v, Literal) else values[v]

    for e in jaxpr.eqns:
        rank = len(e.params["start_indices"]) if e.primitive is slice_p else 0
        starts = {i: replaced[n] for i in range(rank) if (n := next(count)) in replaced}
        given = [value(v) for v in e.invars]
        with traced_as(e), e.ctx.manager:
            if starts:
                results = [_sliced(given[0], starts, **e.params)]
            else:
                results = e.primitive.bind(*given, **e.primitive.get_bind_params(e.params))
                results = results if e.primitive.multiple_results else [results]
        values |= zip(e.outvars, results, strict=True)
    return [v.val if isinstance(v, Literal) else values[v] for v in jaxpr.outvars]


def _sliced(x: jax.Array, starts: Mapping[int, Any], start_indices: Any, limit_indices: Any, strides: Any) -> jax.Array:
    sizes = [limit - start for start, limit in zip(start_indices, limit_indices, strict=True)]
    part = lax.dynamic_slice(x, [starts.get(i, np.int32(start)) for i, start in enumerate(start_indices)], sizes)
    return part if strides is None else lax.slice(part, [0] * x.ndim, sizes, strides)


def axes_among(jaxpr: Any) -> list[str]:
    """The axes of groups that a program names, from its equations, because `ppermute` has no named-axis effect."""
    return sorted(set(_axes(jaxpr)))


def _axes(jaxpr: Any) -> Iterator[str]:
    for equation in jaxpr.eqns:
        for key, value in equation.params.items():
            values = value if isinstance(value, tuple | list) else (value,)
            if key in ("axes", "axis_name"):
                yield from (v for v in values if isinstance(v, str) and v.startswith(AXIS))
            for inner in values:
                if isinstance(inner, ClosedJaxpr | Jaxpr):
                    yield from _axes(inner)


def renamed(jaxpr: Jaxpr, axes: Mapping[Any, tuple[str, ...]]) -> Jaxpr:
    """The jaxpr with each named axis replaced by axes of another mesh."""

    def effects(found: Any) -> Any:
        named = {e for e in found if isinstance(e, NamedAxisEffect) and e.name in axes}
        return found - named | {NamedAxisEffect(new) for e in named for new in axes[e.name]}

    def param(name: str, value: Any) -> Any:
        if name in ("axes", "axis_name"):
            names = value if isinstance(value, tuple) else (value,)
            return tuple(new for old in names for new in axes.get(old, (old,)))
        return _within(value, lambda inner: renamed(inner, axes))

    equations = [
        e.replace(params={k: param(k, v) for k, v in e.params.items()}, effects=effects(e.effects)) for e in jaxpr.eqns
    ]
    return jaxpr.replace(eqns=equations, effects=effects(jaxpr.effects))


def _within(value: Any, change: Callable[[Jaxpr], Jaxpr]) -> Any:
    """A parameter of an equation with `change` applied to its jaxprs."""
    if isinstance(value, Jaxpr):
        return change(value)
    if isinstance(value, ClosedJaxpr):
        return ClosedJaxpr(change(value.jaxpr), value.consts)
    if isinstance(value, (tuple, list)) and any(isinstance(v, (Jaxpr, ClosedJaxpr)) for v in value):
        return type(value)(_within(v, change) for v in value)
    return value
