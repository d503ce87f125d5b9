"""Strided views of N-d arrays, read and written by reshape, slice, transpose and broadcast.

The base keeps its natural shape, so that XLA fuses a view into its consumer and shardings are preserved. Only strides
that overlap, or that carry from one digit into the next, need a gather.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels.in_place import update
from ..words import place
from ..xla.memory import cached_until_eviction
from .avals import contiguous_strides
from .spec import Ints, TensorSpec


class Plan(NamedTuple):
    """A view as slices of its base: digit `j` of the refined shape starts at `starts[j]` and has length `counts[j]`."""

    refined: Ints
    starts: Ints
    counts: Ints
    steps: Ints
    order: Ints  # transposes the sliced digits into the view's order, unit digits last


@cached_until_eviction(16384)
def plan(shape: Ints, size: Ints, stride: Ints, offset: int) -> Plan | None:
    """The plan of a view of a base of `shape`, or None if the view needs a gather."""
    n = math.prod(shape)
    if n == 0 or 0 in size:
        return None
    bounds = [math.prod(shape[i:]) for i in range(len(shape) + 1)]
    dims = sorted((i for i in range(len(size)) if size[i] > 1 and stride[i] > 0), key=lambda i: -stride[i])
    units: list[int] = []
    steps: list[int] = []
    for d in dims:
        s = stride[d]
        fits = n % s == 0 and (not units or units[-1] % s == 0)
        unit = s if fits else next((b for b in bounds if s % b == 0), 1)
        units.append(unit)
        steps.append(s // unit)
    if any(a % b or a == b for a, b in pairwise(units)) or (units and n % units[0]):
        return None
    edges = [n, *units] if units and units[-1] == 1 else [n, *units, 1]
    refined = [a // b for a, b in pairwise(edges)]
    starts: list[int] = []
    counts: list[int] = []
    rest = offset
    for j, extent in enumerate(refined):
        start, rest = divmod(rest, edges[j + 1])
        count, step = (size[dims[j]], steps[j]) if j < len(dims) else (1, 1)
        if start + (count - 1) * step >= extent:
            return None  # the view carries into the next digit
        starts.append(start)
        counts.append(count)
    steps += [1] * (len(refined) - len(steps))
    kept = sorted(range(len(dims)), key=lambda j: dims[j])
    order = (*kept, *range(len(dims), len(refined)))
    return Plan(tuple(refined), tuple(starts), tuple(counts), tuple(steps), order)


def _flat_indices(view: TensorSpec) -> jax.Array:
    last = view.offset + sum((n - 1) * s for n, s in zip(view.size, view.stride, strict=True) if n)
    dtype = np.int32 if last < 2**31 else np.int64
    index = jnp.full(view.size, view.offset, dtype)
    for d, s in enumerate(view.stride):
        if view.size[d] > 1:
            index = index + lax.broadcasted_iota(dtype, view.size, d) * np.asarray(s, dtype)
    return index


def _collapsed(view: TensorSpec) -> Ints:
    return tuple(n if s > 0 else 1 for n, s in zip(view.size, view.stride, strict=True))


def read(base: jax.Array, view: TensorSpec, starts: Sequence[jax.Array] | None = None) -> jax.Array:
    """The elements of a view, as an array of shape `view.size`."""
    if 0 in view.size:
        return jnp.zeros(view.size, base.dtype)
    if starts is None and view.is_reshape_of(base.shape):
        return base if base.shape == view.size else lax.reshape(base, view.size)
    p = plan(base.shape, view.size, view.stride, 0 if starts is not None else view.offset)
    if p is None:
        return base.reshape(-1)[_flat_indices(view)]
    digits = lax.reshape(base, p.refined)
    spans = [(c - 1) * s + 1 for c, s in zip(p.counts, p.steps, strict=True)]
    if starts is None:
        if p.counts != p.refined:
            limits = [a + n for a, n in zip(p.starts, spans, strict=True)]
            digits = lax.slice(digits, p.starts, limits, p.steps)
    else:
        digits = lax.dynamic_slice(digits, starts, spans, allow_negative_indices=False)
        if any(s > 1 for s in p.steps):
            digits = lax.slice(digits, [0] * len(spans), spans, p.steps)
    out = lax.reshape(lax.transpose(digits, p.order), _collapsed(view))
    return jnp.broadcast_to(out, view.size)


def write(base: jax.Array, view: TensorSpec, value: jax.Array, starts: Sequence[jax.Array] | None = None) -> jax.Array:
    """The base with the elements of a view replaced by `value`, which has shape `view.size` and the base's dtype."""
    if 0 in view.size:
        return base
    if view.is_expanded():  # several indices share an element: the last value written wins
        value = value[tuple(slice(None if s else n - 1, None) for n, s in zip(view.size, view.stride, strict=True))]
        view = view._replace(size=_collapsed(view))
    if starts is None and view.is_reshape_of(base.shape):
        return value if base.shape == view.size else value.reshape(base.shape)
    p = plan(base.shape, view.size, view.stride, 0 if starts is not None else view.offset)
    if p is None:
        return base.reshape(-1).at[_flat_indices(view)].set(value).reshape(base.shape)
    digits = base.reshape(p.refined)
    value = value.reshape([p.counts[j] for j in p.order]).transpose(np.argsort(p.order))
    spans = [(c - 1) * s + 1 for c, s in zip(p.counts, p.steps, strict=True)]
    strided = any(s > 1 for s in p.steps)
    if starts is None:
        where = tuple(slice(a, a + n, s) for a, n, s in zip(p.starts, spans, p.steps, strict=True))
        if not strided:
            digits = update(digits, value, [place(a) for a in p.starts])
        else:
            digits = digits.at[where].set(value)
    else:
        if strided:
            window = lax.dynamic_slice(digits, starts, spans, allow_negative_indices=False)
            value = window.at[tuple(slice(None, None, s) for s in p.steps)].set(value)
        digits = update(digits, value, starts)
    return digits.reshape(base.shape)


_GEOMETRIES = 1 << 12  # whose first offsets are remembered
_first_offsets: dict[tuple[Ints, Ints, Ints], int] = {}  # the oldest first


@cached_until_eviction(65536)
def locate(shape: Ints, view: TensorSpec) -> tuple[TensorSpec, np.ndarray | None]:
    """The static part of a view of an array of `shape` and, where its starts are an operand, their values.

    The starts of a geometry become an operand when a second offset is seen, so that a loop over `x[t]` compiles twice,
    not once for every `t`. The static part then has offset 0.
    """
    if view.is_reshape_of(shape):
        return (view.restrided(contiguous_strides(shape)) if shape == view.size else view), None
    p = plan(shape, view.size, view.stride, view.offset)
    if p is None:
        return view, None
    first = _first_offsets.setdefault((shape, view.size, view.stride), view.offset)
    if len(_first_offsets) > _GEOMETRIES:
        _first_offsets.pop(next(iter(_first_offsets)), None)
    if first == view.offset or plan(shape, view.size, view.stride, 0) is None:
        return view, None
    return view._replace(offset=0), np.asarray(p.starts, np.int32)
