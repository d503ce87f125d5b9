"""Python numbers whose value a trace does not know: what `.item()` of a traced tensor gives.

They are torch's `SymFloat`, `SymInt` and `SymBool` around a node that computes with JAX, so that host arithmetic on
them (`lr / correction`) becomes part of the program, and they pass through every place where torch takes a number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..device.cell import untraced
from .trace import refuse

_WRAP = {bool: torch.SymBool, int: torch.SymInt, float: torch.SymFloat}
_DTYPE = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}


Host = Callable[[Sequence[float]], Any]


class Guards:
    """What a run asked of numbers that the host passes to each call: the answers that its program stands for."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.asked: list[tuple[Host, Any]] = []

    def ask(self, host: Host) -> Any:
        """The answer, which is noted."""
        answer = host(self.numbers)
        self.asked.append((host, answer))
        return answer

    def hold(self, numbers: Sequence[float]) -> bool:
        """Whether other numbers give the same answers."""
        return all(host(numbers) == answer for host, answer in self.asked)


class Node:
    """What torch asks of the node of a symbolic number.

    One that is computed of numbers of the host alone can answer what its value is: `host` gives it, and `guards` notes
    the question.
    """

    host: Host | None = None
    guards: Guards | None = None

    def __init__(self, array: Any, kind: type) -> None:
        with jax.enable_x64(True):
            self.array = jnp.asarray(array, _DTYPE[kind])
            if not isinstance(self.array, jax.core.Tracer) and not untraced():  # a known input: its value may change
                self.array = jax.lax.optimization_barrier(self.array)
        self.kind = kind

    def is_int(self) -> bool:
        """Whether it is an int."""
        return self.kind is int

    def is_float(self) -> bool:
        """Whether it is a float."""
        return self.kind is float

    def is_bool(self) -> bool:
        """Whether it is a bool."""
        return self.kind is bool

    def wrap_int(self, value: int) -> Node:
        """A known int."""
        return self._constant(value, int)

    def wrap_float(self, value: float) -> Node:
        """A known float."""
        return self._constant(value, float)

    def wrap_bool(self, value: bool) -> Node:
        """A known bool."""
        return self._constant(value, bool)

    def _constant(self, value: Any, kind: type) -> Node:
        node = Node(value, kind)
        node.host = lambda numbers: value
        return node

    def sym_float(self) -> Node:
        """The number as a float."""
        made = Node(self.array, float)
        made.host, made.guards = self.host, self.guards
        return made

    def maybe_as_int(self) -> None:
        """No value is known."""

    maybe_as_float = maybe_as_bool = maybe_as_int

    def _no(self) -> bool:
        return False

    is_nested_int = is_constant = has_hint = is_symbolic_constant = _no

    def is_symbolic(self) -> bool:
        """Its value is not known."""
        return True

    def expect_true(self, *_: Any) -> bool:
        """What torch asserts of a number is taken for true."""
        return True

    def round(self, digits: int | None = None) -> Node:
        """The nearest int, or float of so many digits."""
        return Node(jnp.round(self.array, digits or 0), int if digits is None else self.kind)

    def clone(self) -> Node:
        """Itself: it never changes."""
        return self

    def nested_int(self) -> None:
        """It is none."""

    nested_int_coeff = constant_int = nested_int

    def _unknown(self, *_: Any) -> Any:
        if self.host is not None and self.guards is not None:
            return self.kind(self.guards.ask(self.host))
        refuse(self.array, {bool: "a condition", int: "an int", float: "a float"}[self.kind])
        return self.kind(self.array)

    guard_int = guard_float = guard_bool = guard_size_oblivious = expect_size = bool_ = int_ = float_ = _unknown
    guard_or_true = guard_or_false = statically_known_true = _unknown

    def __repr__(self) -> str:
        return f"<{self.kind.__name__} of a trace>"

    _graph_repr = __str__ = __repr__
    str = __repr__


def _binary(compute: Callable[[Any, Any], Any], kind: type | None) -> Callable[[Node, Node], Node]:
    def method(self: Node, other: Node) -> Node:
        with jax.enable_x64(True):
            made = Node(compute(self.array, other.array), kind or self.kind)
        one, two = self.host, other.host
        if one is not None and two is not None and compute.__module__ == "_operator":
            made.host, made.guards = lambda numbers: compute(one(numbers), two(numbers)), self.guards or other.guards
        return made

    return method


def _unary(compute: Callable[[Any], Any], kind: type | None) -> Callable[[Node], Node]:
    def method(self: Node) -> Node:
        with jax.enable_x64(True):
            made = Node(compute(self.array), kind or self.kind)
        one = self.host
        if one is not None and compute.__module__ == "_operator":
            made.host, made.guards = lambda numbers: compute(one(numbers)), self.guards
        return made

    return method


# By torch's names: what they compute, and the type of the result where it is not that of the operand.
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
    setattr(Node, _name, _binary(_compute, _kind))
for _name, (_one, _kind) in _UNARY.items():
    setattr(Node, _name, _unary(_one, _kind))


def symbol(array: jax.Array, guards: Guards | None = None, host: Host | None = None) -> Any:
    """A Python number whose value is that of a 0-dim array, and of `host`, where it is known."""
    kind = bool if array.dtype == bool else int if jnp.issubdtype(array.dtype, jnp.integer) else float
    node = Node(array, kind)
    node.host, node.guards = host, guards
    return _WRAP[kind](node)


def array_of(value: Any) -> jax.Array | None:
    """The array of a symbolic number, of 64 bits; None for other numbers."""
    node = getattr(value, "node", None)
    return node.array if isinstance(node, Node) else None
