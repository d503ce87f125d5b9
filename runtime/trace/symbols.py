"""Symbolic Python numbers: the results of `.item()` on tensors whose values are unknown in a trace.

They are torch's `SymFloat`, `SymInt` and `SymBool` around a node that computes with JAX. Host arithmetic on them
(`lr / correction`) thus becomes part of the program, and torch accepts them wherever it accepts a number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..storage.placement import no_jax_trace
from .core import require_known, user_line

_WRAP = {bool: torch.SymBool, int: torch.SymInt, float: torch.SymFloat}
_DTYPE = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}


HostFunction = Callable[[Sequence[float]], Any]


class NumberGuards:
    """Questions that a run asked about numbers of the host; the program is valid for the answers that it got."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.asked: list[tuple[HostFunction, Any]] = []

    def ask(self, host: HostFunction) -> Any:
        """Answer a question from the current numbers, and record the answer."""
        answer = host(self.numbers)
        self.asked.append((host, answer))
        return answer

    def hold(self, numbers: Sequence[float]) -> bool:
        """Whether other numbers lead to the same answers."""
        return all(host(numbers) == answer for host, answer in self.asked)


class TracedSymNode:
    """The node of a symbolic number, with the methods that torch calls on its `SymNode`.

    A node that is computed from numbers of the host alone knows its value: `host` computes it, and `guards` records the
    question.
    """

    host: HostFunction | None = None
    guards: NumberGuards | None = None

    def __init__(self, array: Any, kind: type) -> None:
        with jax.enable_x64(True):
            self.array = jnp.asarray(array, _DTYPE[kind])
            if (
                not isinstance(self.array, jax.core.Tracer) and not no_jax_trace()
            ):  # an input with a known value, which may change between calls
                self.array = jax.lax.optimization_barrier(self.array)
        self.kind = kind
        self.where = user_line()

    def is_int(self) -> bool:
        """Whether it is an int."""
        return self.kind is int

    def is_float(self) -> bool:
        """Whether it is a float."""
        return self.kind is float

    def is_bool(self) -> bool:
        """Whether it is a bool."""
        return self.kind is bool

    def wrap_int(self, value: int) -> TracedSymNode:
        """A known int."""
        return self._constant(value, int)

    def wrap_float(self, value: float) -> TracedSymNode:
        """A known float."""
        return self._constant(value, float)

    def wrap_bool(self, value: bool) -> TracedSymNode:
        """A known bool."""
        return self._constant(value, bool)

    def _constant(self, value: Any, kind: type) -> TracedSymNode:
        node = TracedSymNode(value, kind)
        node.host = lambda numbers: value
        return node

    def sym_float(self) -> TracedSymNode:
        """The number as a float."""
        made = TracedSymNode(self.array, float)
        made.host, made.guards = self.host, self.guards
        return made

    def maybe_as_int(self) -> None:
        """None: the value is unknown."""

    maybe_as_float = maybe_as_bool = maybe_as_int

    def _no(self) -> bool:
        return False

    is_nested_int = is_constant = has_hint = is_symbolic_constant = _no

    def is_symbolic(self) -> bool:
        """Always true."""
        return True

    def expect_true(self, *_: Any) -> bool:
        """Take for true what torch asserts about a number."""
        return True

    def round(self, digits: int | None = None) -> TracedSymNode:
        """The nearest int, or float of so many digits."""
        return TracedSymNode(jnp.round(self.array, digits or 0), int if digits is None else self.kind)

    def clone(self) -> TracedSymNode:
        """The node itself, because nodes are immutable."""
        return self

    def nested_int(self) -> None:
        """None: the number is no nested size."""

    nested_int_coeff = constant_int = nested_int

    def _unknown(self, *_: Any) -> Any:
        if self.host is not None and self.guards is not None:
            return self.kind(self.guards.ask(self.host))
        require_known(self.array, {bool: "a condition", int: "an int", float: "a float"}[self.kind])
        return self.kind(self.array)

    guard_int = guard_float = guard_bool = guard_size_oblivious = expect_size = bool_ = int_ = float_ = _unknown
    guard_or_true = guard_or_false = statically_known_true = _unknown

    def __repr__(self) -> str:
        return f"<{self.kind.__name__} of a trace>"

    _graph_repr = __str__ = __repr__
    str = __repr__


def _binary(
    compute: Callable[[Any, Any], Any], kind: type | None
) -> Callable[[TracedSymNode, TracedSymNode], TracedSymNode]:
    def method(self: TracedSymNode, other: TracedSymNode) -> TracedSymNode:
        with jax.enable_x64(True):
            made = TracedSymNode(compute(self.array, other.array), kind or self.kind)
        one, two = self.host, other.host
        if one is not None and two is not None and compute.__module__ == "_operator":
            made.host, made.guards = lambda numbers: compute(one(numbers), two(numbers)), self.guards or other.guards
        return made

    return method


def _unary(compute: Callable[[Any], Any], kind: type | None) -> Callable[[TracedSymNode], TracedSymNode]:
    def method(self: TracedSymNode) -> TracedSymNode:
        with jax.enable_x64(True):
            made = TracedSymNode(compute(self.array), kind or self.kind)
        one = self.host
        if one is not None and compute.__module__ == "_operator":
            made.host, made.guards = lambda numbers: compute(one(numbers)), self.guards
        return made

    return method


# Operations by their names in torch's SymNode: the implementation, and the type of the result if it differs.
_BINARY: dict[str, tuple[Callable[[Any, Any], Any], type | None]] = {
    **{name: (getattr(operator, name), None) for name in ("add", "sub", "mul", "mod")},
    **{name: (getattr(operator, name), bool) for name in ("eq", "ne", "gt", "lt", "ge", "le")},
    "float_truediv": (operator.truediv, float),
    "int_truediv": (operator.truediv, float),
    "int_floordiv": (operator.floordiv, int),
    "float_pow": (operator.pow, float),
    "pow_by_natural": (operator.pow, int),
    "sym_max": (jnp.maximum, None),
    "sym_min": (jnp.minimum, None),
    **dict.fromkeys(("and_", "sym_and"), (jnp.logical_and, bool)),
    **dict.fromkeys(("or_", "sym_or"), (jnp.logical_or, bool)),
    "bitwise_and": (operator.and_, None),
    "bitwise_or": (operator.or_, None),
    "bitwise_xor": (operator.xor, None),
    "lshift": (operator.lshift, None),
    "rshift": (operator.rshift, None),
}
_UNARY: dict[str, tuple[Callable[[Any], Any], type | None]] = {
    "neg": (operator.neg, None),
    "pos": (operator.pos, None),
    "abs": (jnp.abs, None),
    "sym_not": (jnp.logical_not, bool),
    "ceil": (jnp.ceil, int),
    "floor": (jnp.floor, int),
    "trunc": (jnp.trunc, int),
    **{
        f"sym_{name}": (getattr(jnp, name), float)
        for name in ("sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "acos", "asin", "atan", "exp", "log", "log2")
    },
}
for _name, (_compute, _kind) in _BINARY.items():
    setattr(TracedSymNode, _name, _binary(_compute, _kind))
for _name, (_one, _kind) in _UNARY.items():
    setattr(TracedSymNode, _name, _unary(_one, _kind))


def symbolic_number(array: jax.Array, guards: NumberGuards | None = None, host: HostFunction | None = None) -> Any:
    """A symbolic number for a 0-d array; `host` computes its value if numbers of the host determine it."""
    kind = bool if array.dtype == bool else int if jnp.issubdtype(array.dtype, jnp.integer) else float
    node = TracedSymNode(array, kind)
    node.host, node.guards = host, guards
    return _WRAP[kind](node)


def symbolic_array(value: Any) -> jax.Array | None:
    """The 64-bit array of a symbolic number; None for other values."""
    node = getattr(value, "node", None)
    return node.array if isinstance(node, TracedSymNode) else None
