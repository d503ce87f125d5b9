"""Values whose axes are in any memory order.

An order is a tuple `axes`: axis i of a value is axis `axes[i]` of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import numpy as np
from jax import lax

Axes = tuple[int, ...]


class Value:
    """An array in some memory order."""

    def __init__(self, array: jax.Array, axes: Axes) -> None:
        self.array, self.axes = array, axes

    def at(self, axes: Axes) -> jax.Array:
        """The array in an order."""
        if axes == self.axes:
            return self.array
        return lax.transpose(self.array, [self.axes[i] for i in inverse(axes)])

    @property
    def is_ordered(self) -> bool:
        """Whether the array is in the order of the axes."""
        return self.axes == identity(len(self.axes))

    def transposed(self, permutation: Sequence[int]) -> Value:
        """The value whose axis i is axis `permutation[i]` of this one."""
        return Value(self.array, tuple(self.axes[i] for i in permutation))


class Deferred(Value):
    """A value that is not in memory, such as a constant: it is computed in the order that is asked for."""

    def __init__(self, make: Callable[[Axes], jax.Array], rank: int) -> None:
        self.axes = identity(rank)
        self._make, self._made = make, dict[Axes, jax.Array]()

    def at(self, axes: Axes) -> jax.Array:
        if axes not in self._made:
            self._made[axes] = self._make(axes)
        return self._made[axes]

    def transposed(self, permutation: Sequence[int]) -> Value:
        back = inverse(permutation)
        return Deferred(lambda axes: self.at(tuple(axes[i] for i in back)), len(back))


def as_value(array: jax.Array) -> Value:
    """An array in the order of its axes."""
    return Value(array, identity(np.ndim(array)))


def identity(rank: int) -> Axes:
    """The order of an array whose axes are in order."""
    return tuple(range(rank))


def inverse(permutation: Sequence[int]) -> Axes:
    """The permutation that undoes another."""
    out = [0] * len(permutation)
    for i, axis in enumerate(permutation):
        out[axis] = i
    return tuple(out)


def ranks(axes: Sequence[int]) -> Axes:
    """The order that remains of some axes of an order when the others are removed."""
    return tuple(sorted(axes).index(axis) for axis in axes)


def placed(sequence: Sequence, axes: Axes) -> list:
    """What is given for the axes of a value, in an order."""
    return [sequence[i] for i in inverse(axes)]


def common(values: Sequence[Value]) -> Axes:
    """The order in which to combine values of one shape: that of the first which is not in the order of its axes."""
    return next((v.axes for v in values if not v.is_ordered), identity(len(values[0].axes)))
