"""Python numbers whose value a trace does not know: what `.item()` of a traced tensor gives.

They are torch's `SymFloat`, `SymInt` and `SymBool` around a node that computes with JAX, so that host arithmetic on
them (`lr / correction`) becomes part of the program, and they pass through every place where torch takes a number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .cell import untraced
from .trace import refuse

_WRAP = {bool: torch.SymBool, int: torch.SymInt, float: torch.SymFloat}
_DTYPE = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}


class Node:
    """What torch asks of the node of a symbolic number."""

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
        return Node(value, int)

    def wrap_float(self, value: float) -> Node:
        """A known float."""
        return Node(value, float)

    def wrap_bool(self, value: bool) -> Node:
        """A known bool."""
        return Node(value, bool)

    def sym_float(self) -> Node:
        """The number as a float."""
        return Node(self.array, float)

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

    def clone(self) -> Node:
        """Itself: it never changes."""
        return self

    def nested_int(self) -> None:
        """It is none."""

    nested_int_coeff = constant_int = nested_int

    def _unknown(self, *_: Any) -> Any:
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
            return Node(compute(self.array, other.array), kind or self.kind)

    return method


def _unary(compute: Callable[[Any], Any], kind: type | None) -> Callable[[Node], Node]:
    def method(self: Node) -> Node:
        with jax.enable_x64(True):
            return Node(compute(self.array), kind or self.kind)

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
    "and_": (jnp.logical_and, bool),
    "or_": (jnp.logical_or, bool),
}
_UNARY: dict[str, tuple[Callable[[Any], Any], type | None]] = {
    "neg": (operator.neg, None),
    "pos": (operator.pos, None),
    "abs": (jnp.abs, None),
    "sym_not": (jnp.logical_not, bool),
    "ceil": (jnp.ceil, int),
    "floor": (jnp.floor, int),
    "trunc": (jnp.trunc, int),
    "round": (jnp.round, int),
    **{
        f"sym_{name}": (getattr(jnp, name), float)
        for name in ("sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "exp", "log", "log2")
    },
}
for _name, (_compute, _kind) in _BINARY.items():
    setattr(Node, _name, _binary(_compute, _kind))
for _name, (_one, _kind) in _UNARY.items():
    setattr(Node, _name, _unary(_one, _kind))


def symbol(array: jax.Array) -> Any:
    """A Python number whose value is that of a 0-dim array."""
    kind = bool if array.dtype == bool else int if jnp.issubdtype(array.dtype, jnp.integer) else float
    return _WRAP[kind](Node(array, kind))


def array_of(value: Any) -> jax.Array | None:
    """The array of a symbolic number, of 64 bits; None for other numbers."""
    node = getattr(value, "node", None)
    return node.array if isinstance(node, Node) else None
