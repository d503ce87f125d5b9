"""The equations of a jaxpr in one list: those of large nested functions stand in their place."""

from __future__ import annotations

from typing import Any, NamedTuple

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

_LARGE = 48  # equations of a nested function above which it is inlined


class Equation(NamedTuple):
    """An equation of JAX, with other variables than its own if it was inlined."""

    source: JaxprEqn
    inputs: list[Any]  # variables and literals
    outputs: list[Var]

    def rebound(self) -> JaxprEqn:
        """The equation of JAX on the variables of this one."""
        return self.source.replace(invars=self.inputs, outvars=self.outputs)


class Flattened(NamedTuple):
    """The equations of a jaxpr, in an order in which they can be computed."""

    equations: list[Equation]
    inputs: list[Var]
    results: list[Any]  # variables and literals
    constants: dict[Var, Any]


def flatten(closed: ClosedJaxpr) -> Flattened:
    """List the equations of a jaxpr."""
    equations: list[Equation] = []
    constants: dict[Var, Any] = {}

    def visit(jaxpr: Jaxpr, values: list[Any], arguments: list[Any]) -> list[Any]:
        """Append the equations of a jaxpr on some variables; return those of its results."""
        known: dict[Any, Any] = dict(zip(jaxpr.invars, arguments, strict=True))
        for variable, value in zip(jaxpr.constvars, values, strict=True):
            known[variable] = constant = Var(variable.aval)
            constants[constant] = value
        for equation in jaxpr.eqns:
            inputs = [v if v.__class__ is Literal else known[v] for v in equation.invars]
            nested = _inlined(equation)
            if nested is None:
                outputs = [Var(v.aval) for v in equation.outvars]
                equations.append(Equation(equation, inputs, outputs))
            else:
                outputs = visit(nested.jaxpr, nested.consts, inputs)
            known.update(zip(equation.outvars, outputs, strict=True))
        return [v if v.__class__ is Literal else known[v] for v in jaxpr.outvars]

    inputs = [Var(v.aval) for v in closed.jaxpr.invars]
    results = visit(closed.jaxpr, closed.consts, inputs)
    return Flattened(_depth_first(equations), inputs, results, constants)


def _depth_first(equations: list[Equation]) -> list[Equation]:
    """Reorder equations so that each is followed by those that use its results, as far as they can be computed.

    An operator on a list of tensors, such as those of an optimizer, computes one operation for all of them after the
    other. In this order, what is computed for each parameter stands together, and is equal for equal shapes.
    """
    users: dict[Var, list[int]] = {}
    missing = []  # for each equation, the number of variables that it uses and that are not computed
    made = {v for e in equations for v in e.outputs}
    for number, equation in enumerate(equations):
        used = {v for v in equation.inputs if v.__class__ is Var and v in made}
        missing.append(len(used))
        for variable in used:
            users.setdefault(variable, []).append(number)
    ordered: list[Equation] = []
    done = [False] * len(equations)
    for number in range(len(equations)):
        ready = [] if done[number] else [number]
        while ready:
            current = ready.pop()
            done[current] = True
            ordered.append(equations[current])
            following = []
            for user in (u for v in equations[current].outputs for u in users.get(v, ())):
                missing[user] -= 1
                if not missing[user]:
                    following.append(user)
            ready += sorted(following, reverse=True)
    return ordered


def _inlined(equation: JaxprEqn) -> ClosedJaxpr | None:
    """The function that an equation calls, if it is inlined."""
    nested: ClosedJaxpr | None = equation.params.get("jaxpr") if equation.primitive.name == "jit" else None
    return nested if nested is not None and len(nested.jaxpr.eqns) > _LARGE else None
