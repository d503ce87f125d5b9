"""Axes that no mesh splits, for operations that XLA's partitioner computes wrongly where it splits them (JAX 0.10).

A convolution with a stride or padding has wrong values if pixels are split, and padding between elements has wrong
values or ends the process. So operands and results are constrained to be whole along such axes, at the cost of an
exchange between the devices; other axes stay split. In a program of one device the constraint is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tenax._jax import constrained_to_whole_axes, is_over_mesh
from tenax.words import Array

_unsplit = Primitive("unsplit")


def unsplit(x: Array, axes: Sequence[int]) -> Array:
    """`x`, whose `axes` are not split over a mesh."""
    whole: Array = _unsplit.bind(x, axes=tuple(axis % x.ndim for axis in axes))
    return whole


def _lowered(context: Any, x: Any, *, axes: tuple[int, ...]) -> list[Any]:
    return [constrained_to_whole_axes(context, x, axes) if is_over_mesh(context) else x]


def _run(x: Array, *, axes: tuple[int, ...]) -> Array:
    is_split = isinstance(x, jax.Array) and not x.is_fully_replicated
    return jax.jit(partial(_unsplit.bind, axes=axes))(x) if is_split else x


def _batched(arrays: Any, places: Any, *, axes: tuple[int, ...]) -> tuple[Array, int]:
    (x,), (place,) = arrays, places
    return unsplit(x, [axis + (axis >= place) for axis in axes]), place


_unsplit.def_abstract_eval(lambda x, axes: x)
_unsplit.def_impl(_run)
mlir.register_lowering(_unsplit, _lowered)
ad.deflinear2(_unsplit, lambda cotangent, x, *, axes: [unsplit(cotangent, axes)])
batching.primitive_batchers[_unsplit] = _batched
