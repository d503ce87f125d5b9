"""Reshapes of values in any memory order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from jax import lax

from .values import Deferred, Value, identity


def reshaped(x: Value, old: Sequence[int], new: Sequence[int]) -> Value:
    """A value reshaped from one shape to another.

    A group of axes that is merged and split is reshaped in its place, if its axes are neighbours in memory. If those of
    some group are not, the array is put in the order of its axes first.
    """
    groups = [] if 0 in old else list(_groups(old, new))
    stays = all(_are_neighbours([x.axes[i] for i in before], x, old) for before, _ in groups)
    if 0 in old or isinstance(x, Deferred) or not stays:
        return Value(lax.reshape(x.at(identity(len(old))), new), identity(len(new)))
    array, axes = x.array, [0] * len(new)
    sizes: list[int] = []
    for _, after in sorted(groups, key=lambda group: x.axes[group[0][0]]):
        for axis in after:
            axes[axis] = len(sizes)
            sizes.append(new[axis])
    for axis, size in enumerate(new):
        if size == 1:
            axes[axis] = len(sizes)
            sizes.append(1)
    return Value(lax.reshape(array, sizes), tuple(axes))


def _groups(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The smallest groups of axes, except those of one element, of which a reshape merges the first to split them into
    the second."""
    befores, afters = ([axis for axis, size in enumerate(shape) if size != 1] for shape in (old, new))
    while befores:
        before, after = [befores.pop(0)], [afters.pop(0)]
        have, want = old[before[0]], new[after[0]]
        while have != want:
            if have < want:
                before.append(befores.pop(0))
                have *= old[before[-1]]
            else:
                after.append(afters.pop(0))
                want *= new[after[-1]]
        yield before, after


def _are_neighbours(places: Sequence[int], x: Value, old: Sequence[int]) -> bool:
    """Whether axes of an array follow each other, but for axes of one element between them."""
    sizes = dict(zip(x.axes, old, strict=True))
    return all(
        first < second and all(sizes[axis] == 1 for axis in range(first + 1, second))
        for first, second in pairwise(places)
    )
