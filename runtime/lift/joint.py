"""A traced run that ends in a backward pass, taken apart: a program for forward and one for backward.

The gradient of a compiled function is torch's own: its backward pass is traced after the function, from cotangents that
are inputs. What backward needs of forward is saved as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import torch
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var
from jax.extend.core.primitives import jit_p
from torch.autograd.function import BackwardCFunction

from ..dispatch.call import Call


class Ends(NamedTuple):
    """Where autograd's graph of a tensor ends."""

    leaves: dict[int, torch.Tensor]  # by id, in a fixed order
    open: bool  # whether a function in Python is on the way, whose backward may run a backward pass to other leaves


def ends_of(tensor: torch.Tensor) -> Ends:
    """Follow the graph of a tensor."""
    found: dict[int, torch.Tensor] = {}
    pending, seen = [tensor.grad_fn], set()
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.setdefault(id(node.variable), node.variable)
        pending.extend(n for n, _ in node.next_functions)
    return Ends(found, any(map(_is_open, seen)))


# Where functions are made that stand for operators: those of libraries, and ours.
_OPERATORS = "torch._library.autograd", Call.__module__


def _is_open(node: Any) -> bool:
    """Whether a node is of an `autograd.Function`, and not of an operator, whose backward is of tensors alone."""
    return isinstance(node, BackwardCFunction) and type(node)._forward_cls.__module__ not in _OPERATORS  # type: ignore[attr-defined]


def accumulated(
    outputs: Sequence[torch.Tensor], leaves: Sequence[torch.Tensor], given: Sequence[torch.Tensor]
) -> list[torch.Tensor | None]:
    """The gradients of leaves, with those of backward passes within, such as that of a reentrant checkpoint."""
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    try:
        torch.autograd.backward(outputs, given)
        return [leaf.grad for leaf in leaves]
    finally:
        for leaf, gradient in zip(leaves, before, strict=True):
            leaf.grad = gradient


class Split(NamedTuple):
    """The two programs: backward takes what forward gives as `residuals`, its inputs `kept`, and the cotangents."""

    forward: Jaxpr  # (constants) -> outputs, residuals
    backward: Jaxpr  # (constants, residuals) -> gradients
    residuals: int


def split(jaxpr: Jaxpr, outputs: int, cotangents: set[int]) -> Split:
    """Take a jaxpr apart behind the equation that takes the constants numbered `cotangents`; its first `outputs`
    results are those of forward, the others the gradients."""
    at = _mark(jaxpr, cotangents)
    ahead, after = jaxpr.eqns[:at], jaxpr.eqns[at:]
    made = {v for e in ahead for v in e.outvars}
    used = [v for e in after for v in e.invars if isinstance(v, Var)]
    used += [v for v in jaxpr.outvars[outputs:] if isinstance(v, Var)]
    residuals = list(dict.fromkeys(v for v in used if v in made))
    return Split(
        _part(jaxpr, [], ahead, [*jaxpr.outvars[:outputs], *residuals]),
        _part(jaxpr, residuals, after, jaxpr.outvars[outputs:]),
        len(residuals),
    )


def _part(jaxpr: Jaxpr, inputs: list[Var], equations: list[Any], outputs: list[Any]) -> Jaxpr:
    info = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    effects = set().union(*(e.effects for e in equations)) if equations else set()
    return jaxpr.replace(invars=inputs, eqns=equations, outvars=outputs, effects=effects, debug_info=info)


def before(jaxpr: Jaxpr, outputs: int, cotangents: set[int]) -> Jaxpr:
    """The program for forward alone."""
    return _part(jaxpr, [], jaxpr.eqns[: _mark(jaxpr, cotangents)], jaxpr.outvars[:outputs])


def after(jaxpr: Jaxpr, outputs: int) -> Jaxpr:
    """The program for the gradients alone, forward within."""
    gradients = jaxpr.outvars[outputs:]
    needed = live(jaxpr, gradients)
    return _part(jaxpr, [], [e for e in jaxpr.eqns if not needed.isdisjoint(e.outvars)], gradients)


def live(jaxpr: Jaxpr, results: Sequence[Any]) -> set[Var]:
    """What some results of a jaxpr are computed from."""
    found = {v for v in results if isinstance(v, Var)}
    for equation in reversed(jaxpr.eqns):
        if not found.isdisjoint(equation.outvars):
            found.update(v for v in equation.invars if isinstance(v, Var))
    return found


def _mark(jaxpr: Jaxpr, cotangents: set[int]) -> int:
    markers = {jaxpr.constvars[i] for i in cotangents}
    return next(i for i, e in enumerate(jaxpr.eqns) if any(v in markers for v in e.invars if isinstance(v, Var)))


_equation = jax.jit(jax.lax.neg)  # any function: the parameters of its equation are what JAX gives one


def applied(jaxpr: Jaxpr, constants: Sequence[Any], arguments: Sequence[Any]) -> list[jax.Array]:
    """Call a jaxpr as one equation: going through its own would trace it a second time. A constant may be None where
    the jaxpr does not use it."""
    given = [(v, c) for v, c in zip(jaxpr.constvars, constants, strict=True) if c is not None]
    inputs = [*(v for v, _ in given), *jaxpr.invars]
    info = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    closed = ClosedJaxpr(jaxpr.replace(constvars=(), invars=inputs, debug_info=info), ())
    params = dict(jax.make_jaxpr(_equation)(1.0).eqns[0].params)
    for name in ("in_shardings", "in_layouts", "donated_invars"):
        params[name] *= len(inputs)
    for name in ("out_shardings", "out_layouts"):
        params[name] *= len(jaxpr.outvars)
    params.update(jaxpr=closed, name="run")
    return jit_p.bind(*(c for _, c in given), *arguments, **params)


def marked(arrays: list[jax.Array]) -> list[jax.Array]:
    """The arrays behind an equation that `split` finds."""
    return list(jax.lax.optimization_barrier(arrays))


__all__ = [
    "Jaxpr",
    "Literal",
    "Split",
    "accumulated",
    "after",
    "applied",
    "before",
    "ends_of",
    "live",
    "marked",
    "split",
]
