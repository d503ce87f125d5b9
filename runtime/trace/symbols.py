"""Symbolic Python numbers: the results of `.item()` on tensors whose values are unknown in a trace.

They are torch's `SymFloat`, `SymInt` and `SymBool` around a node that computes with JAX. So host arithmetic on them
(`lr / correction`) becomes part of the program, and torch accepts them wherever it accepts a number. The subclasses
here count as Python's numbers (`isinstance(number, float)`), because code of any library may ask that; only
`type(number)` tells them apart.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..errors import TraceError
from ..platforms import platform
from ..storage.placement import no_jax_trace
from .core import SYMBOLIC_TYPES, is_unknown, require_known, user_line
from .data_checks import answer_unknown
from .host_numbers import HostNumber, HostNumbers

_DTYPE = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}
_NARROW = tuple(map(np.dtype, (jnp.float32, jnp.bfloat16, jnp.float16)))


class TracedSymNode:
    """The node of a symbolic number, with the methods that torch calls on its `SymNode`.

    A node that is computed from host numbers alone knows its value, `host`, computed by `numbers`.
    """

    host: HostNumber | None = None
    numbers: HostNumbers | None = None

    def __init__(self, array: Any, kind: type) -> None:
        self.given = array
        self.kind = kind
        self.where = user_line()
        if getattr(array, "dtype", _DTYPE[kind]) == _DTYPE[kind]:
            _ = self.array  # part of this trace, not of an inner one that may read it first

    @functools.cached_property
    def array(self) -> jax.Array:
        """The number in 64 bits; not computed before it is needed, because TPUs emulate them."""
        with jax.enable_x64(True):
            array = jnp.asarray(self.given, _DTYPE[self.kind])
            if isinstance(array, jax.core.Tracer) or no_jax_trace():
                return array
            return jax.lax.optimization_barrier(array)  # known now, but it may change between calls

    def _is(self, kind: type) -> bool:
        return self.kind is kind

    is_int = functools.partialmethod(_is, int)
    is_float = functools.partialmethod(_is, float)
    is_bool = functools.partialmethod(_is, bool)

    def _constant(self, kind: type, value: Any) -> TracedSymNode:
        node = TracedSymNode(np.float32(value) if kind is float and self._is_narrow() else value, kind)
        node.host = HostNumber(value)
        return node

    wrap_int = functools.partialmethod(_constant, int)
    wrap_float = functools.partialmethod(_constant, float)
    wrap_bool = functools.partialmethod(_constant, bool)

    def sym_float(self) -> TracedSymNode:
        """The number as a float."""
        return self._computed(TracedSymNode(self.array, float), float)

    def _is_narrow(self) -> bool:
        """Whether operations are in float32: on TPUs, which emulate float64, those of numbers of float32 or less."""
        dtype = getattr(self.given, "dtype", None)
        return dtype in _NARROW and platform() == "tpu"

    def _computed(self, made: TracedSymNode, function: Callable[..., Any], *others: TracedSymNode) -> TracedSymNode:
        """Set the value of a node computed from this one and others, if theirs are known; return the node."""
        made.numbers = next((node.numbers for node in (self, *others) if node.numbers is not None), None)
        operands = tuple(node.host for node in (self, *others) if node.host is not None)
        if made.numbers is not None and len(operands) == 1 + len(others):
            made.host = made.numbers.compute(function, operands, made.kind)
        else:
            made.numbers = None
        return made

    def asks(self, condition: Callable[[Any], bool], what: str) -> bool:
        """Whether the value of `what` meets a condition, on which the run then depends.

        Raises:
            TraceError: the value is not known.
        """
        if self.host is None or self.numbers is None:
            require_known(self.array, what)
            return True
        return bool(self.numbers.ask(self.numbers.compute(condition, (self.host,), bool)))

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
        """What torch asserts about a number; if that is unknown, it is assumed to be true."""
        return True if self.host is None else bool(self._unknown())

    def round(self, digits: int | None = None) -> TracedSymNode:
        """The number rounded to the nearest int, or to `digits` decimals."""
        with jax.enable_x64(True):
            made = TracedSymNode(jnp.round(self.array, digits or 0), int if digits is None else self.kind)
        return self._computed(made, round, *(() if digits is None else [self._constant(int, digits)]))

    def clone(self, *_: Any) -> TracedSymNode:
        """The node itself, because nodes are immutable."""
        return self

    __deepcopy__ = clone

    def neg(self) -> TracedSymNode:
        """The negative number. That of a float32 is exact, and TPUs emulate float64."""
        narrow = getattr(self.given, "dtype", None) == np.float32
        with jax.enable_x64(True):
            made = TracedSymNode(-(self.given if narrow else self.array), self.kind)
        return self._computed(made, operator.neg)

    def nested_int(self) -> None:
        """None: the number is not a size of a nested tensor."""

    nested_int_coeff = constant_int = nested_int

    def _unknown(self, *_: Any) -> Any:
        if self.host is not None and self.numbers is not None:
            return self.numbers.ask(self.host)
        if self.kind is bool and is_unknown(self.array):
            return answer_unknown(self.array, "a condition")
        require_known(self.array, {bool: "a condition", int: "an int", float: "a float"}[self.kind])
        return self.kind(self.array)

    def bool_(self) -> bool:
        """Whether the number is not 0, on which the run then depends."""
        return bool(self._unknown()) if self.numbers is None else self.asks(bool, "a condition")

    def guard_int(self, *_: Any) -> Any:
        """The value, where C++ needs it.

        Raises:
            TraceError: the value does not fit in 32 bits, to which `torch.tensor` would truncate it.
        """
        value = self._unknown()
        if not -(2**31) <= value < 2**31:
            raise TraceError("torch.tensor cuts a symbolic int to 32 bits; expected one that fits")
        return value

    guard_float = guard_bool = guard_size_oblivious = expect_size = int_ = float_ = _unknown
    guard_or_true = guard_or_false = statically_known_true = _unknown

    def __repr__(self) -> str:
        return f"<{self.kind.__name__} of a trace>" if self.numbers is None else repr(self._unknown())

    _graph_repr = __str__ = __repr__
    str = __repr__


def _operation(
    compute: Callable[..., Any], kind: type | None, host: Callable[..., Any]
) -> Callable[..., TracedSymNode]:
    def method(self: TracedSymNode, *others: TracedSymNode) -> TracedSymNode:
        nodes = (self, *others)
        narrow = all(node._is_narrow() for node in nodes)
        with jax.enable_x64(True):
            arrays = (node.given.astype(np.float32) if narrow else node.array for node in nodes)
            made = TracedSymNode(compute(*arrays), kind or self.kind)
        return self._computed(made, host, *others)

    return method


# Operations by their names in torch's SymNode: the implementation, the result type if it differs, and Python's
# implementation if that is another function.
_OPERATIONS: dict[str, tuple[Any, ...]] = {
    **{name: (getattr(operator, name), None) for name in ("add", "sub", "mul", "mod")},
    **{name: (getattr(operator, name), bool) for name in ("eq", "ne", "gt", "lt", "ge", "le")},
    "float_truediv": (operator.truediv, float),
    "int_truediv": (operator.truediv, float),
    "int_floordiv": (operator.floordiv, int),
    "float_pow": (operator.pow, float),
    "pow_by_natural": (operator.pow, int),
    "sym_max": (jnp.maximum, None, max),
    "sym_min": (jnp.minimum, None, min),
    **dict.fromkeys(("and_", "sym_and"), (jnp.logical_and, bool, operator.and_)),
    **dict.fromkeys(("or_", "sym_or"), (jnp.logical_or, bool, operator.or_)),
    "bitwise_and": (operator.and_, None),
    "bitwise_or": (operator.or_, None),
    "bitwise_xor": (operator.xor, None),
    "lshift": (operator.lshift, None),
    "rshift": (operator.rshift, None),
    "pos": (operator.pos, None),
    "abs": (jnp.abs, None, abs),
    "sym_not": (jnp.logical_not, bool, operator.not_),
    "ceil": (jnp.ceil, int, math.ceil),
    "floor": (jnp.floor, int, math.floor),
    "trunc": (jnp.trunc, int, math.trunc),
    **{
        f"sym_{name}": (getattr(jnp, name), float, getattr(math, name))
        for name in ("sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "acos", "asin", "atan", "exp", "log", "log2")
    },
}
for _name, (_compute, _kind, *_host) in _OPERATIONS.items():
    setattr(TracedSymNode, _name, _operation(_compute, _kind, *(_host or [_compute])))


def _converted(number: Any, classes: dict[Any, Any]) -> Any:
    cls = classes.get(type(number))
    return number if cls is None else cls(number.node)


def _on_subclasses(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of torch's class on numbers of the subclasses; torch takes what counts as Python's for a constant."""

    @functools.wraps(method)
    def call(*args: Any) -> Any:
        return _converted(method(*[_converted(x, _THEIRS) for x in args]), _OURS)

    return call


# NumPy's functions of symbolic numbers that are parts of the program; their results are symbolic too. Without these,
# NumPy makes arrays of objects of the numbers, and looks for methods that they lack.
_OF_NUMPY: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.absolute: abs,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}
# Where Python knows the argument, its functions are no substitute: `math.log(0)` raises, and NumPy's does not.
_OF_UNKNOWN: dict[Any, str] = {
    getattr(np, name.replace("sym_a", "arc").removeprefix("sym_")): name
    for name in _OPERATIONS
    if name.startswith("sym_") and _OPERATIONS[name][1] is float
}


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """NumPy's protocol for its functions; those without a symbolic form get the value, or raise `TraceError`."""
    given = [x.item() if isinstance(x, np.generic) else x for x in inputs]
    nodes = [x.node for x in given if type(x) in SYMBOLIC_TYPES]
    if method == "__call__" and not options and all(isinstance(x, (bool, int, float)) for x in given):
        if ufunc in _OF_NUMPY:
            return _OF_NUMPY[ufunc](*given)
        if ufunc in _OF_UNKNOWN and all(node.host is None for node in nodes):
            return _WRAP[float](getattr(self.node, _OF_UNKNOWN[ufunc])())
    return getattr(ufunc, method)(*[x.node._unknown() if type(x) in SYMBOLIC_TYPES else x for x in inputs], **options)


def _array(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.array(number)`, alone or in a list: the value, or `TraceError`; NumPy would make an array of objects."""
    return np.array(self.node._unknown(), *args, **kwargs)


def _format(self: Any, spec: str = "") -> str:
    """The number as text, which needs the value; `repr(number)` does without, for debuggers."""
    return format(self.node._unknown(), spec)


def _subclass(theirs: Any, kind: type) -> Any:
    """The subclass of a symbolic class whose numbers count as a number of Python's."""
    methods = {n: _on_subclasses(m) for n, m in vars(theirs).items() if callable(m) and n != "__init__"}
    methods |= {"__array_ufunc__": _array_ufunc, "__array__": _array, "__format__": _format, "__str__": _format}
    return type(theirs.__name__, (theirs,), {**methods, "__class__": property(lambda self: kind)})


_OURS = {theirs: _subclass(theirs, kind) for theirs, kind in SYMBOLIC_TYPES.items()}
_THEIRS = {ours: theirs for theirs, ours in _OURS.items()}
_WRAP = {kind: _OURS[theirs] for theirs, kind in SYMBOLIC_TYPES.items()}
SYMBOLIC_TYPES.update({ours: SYMBOLIC_TYPES[theirs] for ours, theirs in _THEIRS.items()})


def symbolic_number(
    array: jax.Array, numbers: HostNumbers | None = None, host: HostNumber | None = None, kind: type | None = None
) -> Any:
    """A symbolic number for a 0-d array; `host` is its value if `numbers` knows it. Its `kind` defaults to that of the
    array."""
    if kind is None:
        kind = bool if array.dtype == bool else int if jnp.issubdtype(array.dtype, jnp.integer) else float
    node = TracedSymNode(array, kind)
    node.host, node.numbers = host, numbers if host is not None else None
    return _WRAP[kind](node)


def item(x: torch.Tensor) -> Any:
    """`x.item()`, for which torch makes a symbolic number of its own class; it counts as a number of Python's here."""
    return _converted(x.item(), _OURS)


def is_of_host(value: Any) -> bool:
    """Whether a value is a symbolic number computed from host numbers alone."""
    node = getattr(value, "node", None)
    return isinstance(node, TracedSymNode) and node.numbers is not None


def symbolic_array(value: Any) -> jax.Array | None:
    """The 64-bit array of a symbolic number; None for other values."""
    node = getattr(value, "node", None)
    return node.array if isinstance(node, TracedSymNode) else None
