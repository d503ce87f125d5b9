"""A rule for each primitive that can be computed on padded arrays.

The first elements of its results, up to their true sizes, must not depend on the rest of its arguments: a sum over an
axis of symbolic size leaves out the rest, a concatenation moves the parts together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from ..kernels import running
from .sizes import NotPaddableError, Sizes, is_symbol

Rule = Callable[..., Any]
_Mode = lax.GatherScatterMode


def _sizes(equation: Any, position: int = 0) -> tuple[Any, ...]:
    """The symbolic shape of an argument."""
    return tuple(equation.invars[position].aval.shape)


def _unless_symbolic(name: str, sizes: Sequence[Any], axes: Sequence[int]) -> None:
    """Raise if one of these axes has a symbolic size."""
    if any(is_symbol(sizes[axis]) for axis in axes):
        raise NotPaddableError(name)


# Shapes


def _broadcast_in_dim(
    known: Sizes, equation: Any, x: Any, *sizes: Any, shape: Any, broadcast_dimensions: Any, sharding: Any
) -> Any:
    return lax.broadcast_in_dim(x, known.shape(equation.outvars[0].aval.shape), broadcast_dimensions)


def _iota(known: Sizes, equation: Any, *sizes: Any, dtype: Any, shape: Any, dimension: int, sharding: Any) -> Any:
    return lax.broadcasted_iota(dtype, known.shape(equation.outvars[0].aval.shape), dimension)


def _reshape(known: Sizes, equation: Any, x: Any, *sizes: Any, new_sizes: Any, dimensions: Any, sharding: Any) -> Any:
    old, new = _sizes(equation), tuple(equation.outvars[0].aval.shape)
    if _keeps_firsts(old, new):
        return lax.reshape(x, known.shape(new))
    # Each element is read from where it is in the padded array. Those of the rest are read from anywhere.
    index: Any = np.int64(0)
    for axis, size in enumerate(new):
        index = index * known.true(size) + lax.broadcasted_iota(np.int64, known.shape(new), axis)
    place, step = lax.full_like(index, 0), 1
    for size in reversed(old):
        true = lax.broadcast(lax.convert_element_type(known.true(size), np.int64), index.shape)
        place = place + lax.rem(index, true) * step
        index, step = lax.div(index, true), step * known.padded(size)
    return lax.reshape(x, (x.size,)).at[place].get(mode="clip", wrap_negative_indices=False)


def _keeps_firsts(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Whether a reshape maps the first elements along symbolic axes to such.

    Axes are merged and split in groups of equal size. In a group, a symbolic axis must be the first that is not 1: its
    elements are then the first ones of the whole group.
    """
    i = j = 0
    while i < len(old) or j < len(new):
        ends = _group(old[i:], new[j:])
        if ends is None:
            return False
        first, second = old[i : i + ends[0]], new[j : j + ends[1]]
        i, j = i + ends[0], j + ends[1]
        if not _leads(first) or not _leads(second):
            return False
    return True


def _group(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int] | None:
    """The lengths of the shortest beginnings of two shapes that have the same number of elements."""
    products = [1]
    for size in new:
        products.append(products[-1] * size)
    count: Any = 1
    for i in range(len(old) + 1):
        if i:
            count = count * old[i - 1]
        for j, product in enumerate(products):
            if (i or j) and _is_same(product, count):
                return i, j
    return None


def _is_same(first: Any, second: Any) -> bool:
    return bool(is_symbol(first) == is_symbol(second) and first == second)


def _leads(sizes: Sequence[Any]) -> bool:
    large = [size for size in sizes if is_symbol(size) or size != 1]
    return not any(map(is_symbol, large[1:]))


def _same(known: Sizes, equation: Any, *arguments: Any, **params: Any) -> Any:
    """A primitive whose parameters contain no sizes, and which treats the elements of symbolic axes alike."""
    return equation.primitive.bind(*arguments, **params)


def _squeeze(known: Sizes, equation: Any, x: Any, *, dimensions: Any) -> Any:
    return lax.squeeze(x, dimensions)


def _concatenate(known: Sizes, equation: Any, *parts: Any, dimension: int) -> Any:
    sizes = [_sizes(equation, i)[dimension] for i in range(len(parts))]
    if not any(map(is_symbol, sizes)):
        return lax.concatenate(parts, dimension)
    # Each part overwrites what is after the true elements of those before it.
    out = lax.full(known.shape(equation.outvars[0].aval.shape), 0, parts[0].dtype)
    start: Any = np.int32(0)
    for part, size in zip(parts, sizes, strict=True):
        starts = [np.int32(0)] * part.ndim
        out = lax.dynamic_update_slice(out, part, [*starts[:dimension], start, *starts[dimension + 1 :]])
        start = start + lax.convert_element_type(known.true(size), np.int32)
    return out


def _stack(known: Sizes, equation: Any, *parts: Any, axis: int) -> Any:
    return jax.numpy.stack(parts, axis)


def _slice(known: Sizes, equation: Any, x: Any, *, start_indices: Any, limit_indices: Any, strides: Any) -> Any:
    sizes = _sizes(equation)
    limits = []
    for axis, (start, limit, size) in enumerate(zip(start_indices, limit_indices, sizes, strict=True)):
        if is_symbol(start) or (is_symbol(size) and strides is not None and strides[axis] != 1):
            raise NotPaddableError("slice")
        limits.append(known.padded(limit))
    return lax.slice(x, start_indices, limits, strides)


def _dynamic_slice(known: Sizes, equation: Any, x: Any, *starts: Any, slice_sizes: Any) -> Any:
    sizes, parts = _sizes(equation), equation.outvars[0].aval.shape
    x, clamped = _room(known, x, sizes, parts, starts[: x.ndim])
    return lax.dynamic_slice(x, clamped, known.shape(parts), allow_negative_indices=False)


def _dynamic_update_slice(known: Sizes, equation: Any, x: Any, update: Any, *starts: Any) -> Any:
    parts = _sizes(equation, 1)
    larger, clamped = _room(known, x, _sizes(equation), parts, starts)
    replaced = lax.dynamic_slice(larger, clamped, update.shape, allow_negative_indices=False)
    for axis, part in enumerate(parts):
        if is_symbol(part):
            update = lax.select(known.is_true(update, axis, part), update, replaced)
    larger = lax.dynamic_update_slice(larger, update, clamped, allow_negative_indices=False)
    return lax.slice(larger, [0] * x.ndim, x.shape)


def _room(
    known: Sizes, x: Any, sizes: Sequence[Any], parts: Sequence[Any], starts: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """`x` with room behind it for padded parts that begin at `starts`, and these, clamped as the true sizes say."""
    clamped = []
    for axis, (size, part, start) in enumerate(zip(sizes, parts, starts, strict=True)):
        if is_symbol(size) or is_symbol(part):
            room = [(0, known.padded(part) if i == axis else 0, 0) for i in range(x.ndim)]
            x = lax.pad(x, lax.full((), 0, x.dtype), room)
            most = lax.convert_element_type(known.true(size) - known.true(part), start.dtype)
            start = lax.clamp(lax.full((), 0, start.dtype), start, most)
        clamped.append(start)
    return x, clamped


def _pad(known: Sizes, equation: Any, x: Any, value: Any, *, padding_config: Any) -> Any:
    sizes, found = _sizes(equation), equation.outvars[0].aval.shape
    for axis, (low, high, interior) in enumerate(padding_config):
        if not any(map(is_symbol, (low, high, interior, sizes[axis]))):
            x = lax.pad(x, value, [(low, high, interior) if i == axis else (0, 0, 0) for i in range(x.ndim)])
            continue
        if is_symbol(interior) or interior or any(not is_symbol(n) and n < 0 for n in (low, high)):
            raise NotPaddableError("pad")
        # `x`, of which the rest becomes padding, is written into padding that is long enough for all of it.
        if is_symbol(sizes[axis]):
            x = lax.select(known.is_true(x, axis, sizes[axis]), x, lax.broadcast(value, x.shape))
        shape, size = [*x.shape], known.padded(found[axis])
        shape[axis] += size
        out = lax.broadcast(value, shape)
        out = lax.dynamic_update_slice_in_dim(out, x, lax.convert_element_type(known.true(low), np.int32), axis)
        x = lax.slice_in_dim(out, 0, size, axis=axis)
    return x


# Reductions


def _reduction(filler: Callable[[Any], Any]) -> Rule:
    def reduce(known: Sizes, equation: Any, x: Any, *, axes: Any, **params: Any) -> Any:
        x = known.masked(x, _sizes(equation), axes, filler(np.dtype(x.dtype)))
        return equation.primitive.bind(x, axes=axes, **params)

    return reduce


def _least(dtype: np.dtype) -> Any:
    if dtype == np.bool_:
        return False
    return jax.numpy.iinfo(dtype).min if jax.numpy.issubdtype(dtype, np.integer) else -_infinity(dtype)


def _greatest(dtype: np.dtype) -> Any:
    if dtype == np.bool_:
        return True
    return jax.numpy.iinfo(dtype).max if jax.numpy.issubdtype(dtype, np.integer) else _infinity(dtype)


def _infinity(dtype: np.dtype) -> float:
    if not np.isinf(np.asarray(np.inf).astype(dtype).astype(np.float64)):
        raise NotPaddableError(f"{dtype} without infinity")
    return float("inf")


def _scan(filler: Callable[[Any], Any], forward: Callable[[Any, int], Any]) -> Rule:
    def scan(known: Sizes, equation: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        if not reverse:
            return forward(x, axis)
        x = known.masked(x, _sizes(equation), [axis], filler(np.dtype(x.dtype)))  # the rest comes first
        return equation.primitive.bind(x, axis=axis, reverse=reverse)

    return scan


def _sort(known: Sizes, equation: Any, *arrays: Any, dimension: int, num_keys: int, **params: Any) -> Any:
    size = _sizes(equation)[dimension]
    if not is_symbol(size):
        return equation.primitive.bind(*arrays, dimension=dimension, num_keys=num_keys, **params)
    if len(arrays) == 1 and jax.numpy.issubdtype(arrays[0].dtype, np.signedinteger):
        # Equal integers cannot be told apart, and one array is sorted much faster.
        x = known.masked(arrays[0], _sizes(equation), [dimension], _greatest(np.dtype(arrays[0].dtype)))
        return [lax.sort(x, dimension=dimension)]
    rest = lax.bitwise_not(known.is_true(arrays[0], dimension, size))  # comes last, whatever its elements are
    return lax.sort((rest, *arrays), dimension=dimension, num_keys=num_keys + 1, **params)[1:]


def _split(known: Sizes, equation: Any, x: Any, *, sizes: Any, axis: int) -> Any:
    _unless_symbolic("split", _sizes(equation), [axis])
    return lax.split(x, sizes, axis)


def _rev(known: Sizes, equation: Any, x: Any, *, dimensions: Any) -> Any:
    sizes = _sizes(equation)
    x = lax.rev(x, dimensions)
    for axis in dimensions:
        if is_symbol(sizes[axis]):  # the rest comes first, and is rotated to the end
            rest = lax.convert_element_type(x.shape[axis] - known.true(sizes[axis]), np.int32)
            twice = lax.concatenate([x, x], axis)
            x = lax.dynamic_slice_in_dim(twice, rest, x.shape[axis], axis)
    return x


def _bitcast(known: Sizes, equation: Any, x: Any, *, new_dtype: Any) -> Any:
    if len(equation.outvars[0].aval.shape) != x.ndim:
        raise NotPaddableError("bitcast_convert_type")
    return lax.bitcast_convert_type(x, new_dtype)


def _top_k(known: Sizes, equation: Any, x: Any, **params: Any) -> Any:
    _unless_symbolic("top_k", _sizes(equation), [params.get("axis", -1)])
    return equation.primitive.bind(x, **params)


def _dot_general(known: Sizes, equation: Any, x: Any, y: Any, *, dimension_numbers: Any, **params: Any) -> Any:
    (first, second), _ = dimension_numbers
    x = known.masked(x, _sizes(equation, 0), first, 0)
    y = known.masked(y, _sizes(equation, 1), second, 0)
    return equation.primitive.bind(x, y, dimension_numbers=dimension_numbers, **params)


def _convolution(known: Sizes, equation: Any, x: Any, w: Any, *, dimension_numbers: Any, **params: Any) -> Any:
    """Symbolic may be the batch, or the axis that is contracted when the gradient of a weight is computed."""
    _, feature, *space = dimension_numbers.lhs_spec
    sizes, weight = _sizes(equation, 0), _sizes(equation, 1)
    _, contracted, *window = dimension_numbers.rhs_spec
    if params["feature_group_count"] != 1 or params["batch_group_count"] != 1:
        raise NotPaddableError("conv_general_dilated")  # XLA computes these slowly; exact sizes have other methods
    _unless_symbolic("conv_general_dilated", sizes, space)
    _unless_symbolic("conv_general_dilated", weight, window)
    x, w = known.masked(x, sizes, [feature], 0), known.masked(w, weight, [contracted], 0)
    return equation.primitive.bind(x, w, dimension_numbers=dimension_numbers, **params)


def _windows(known: Sizes, equation: Any, *arrays: Any, window_dimensions: Any, **params: Any) -> Any:
    padding, strides = params["padding"], params["window_strides"]
    for axis, size in enumerate(_sizes(equation)):
        if is_symbol(size) and (window_dimensions[axis] != 1 or strides[axis] != 1 or any(padding[axis])):
            raise NotPaddableError(equation.primitive.name)
    return equation.primitive.bind(*arrays, window_dimensions=window_dimensions, **params)


# Indices


def _gather(
    known: Sizes,
    equation: Any,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    **params: Any,
) -> Any:
    sizes = _sizes(equation)
    # Along an axis of symbolic size, an index is within the true size, or else the whole axis is taken.
    indices = _within(known, sizes, slice_sizes, indices, dimension_numbers.start_index_map, mode)
    return equation.primitive.bind(
        x, indices, dimension_numbers=dimension_numbers, slice_sizes=known.shape(slice_sizes), mode=mode, **params
    )


def _within(known: Sizes, sizes: Any, slices: Any, indices: Any, axes: Sequence[int], mode: Any) -> Any:
    """The indices with those beyond the true sizes clipped, or moved beyond the padded sizes."""
    columns = [lax.index_in_dim(indices, i, indices.ndim - 1) for i in range(len(axes))]
    changed = False
    for i, axis in enumerate(axes):
        size, part = sizes[axis], slices[axis]
        if mode in (_Mode.PROMISE_IN_BOUNDS, None) or not (is_symbol(size) or is_symbol(part)):
            if known.padded(part) > known.padded(size):
                raise NotPaddableError("gather")
            continue
        if is_symbol(part) or part != 1:
            raise NotPaddableError("gather")
        index, changed = columns[i], True
        last = lax.broadcast(lax.convert_element_type(known.true(size), index.dtype) - 1, index.shape)
        if mode == _Mode.CLIP:
            columns[i] = lax.clamp(lax.full_like(index, 0), index, last)
        else:  # what is out of bounds is filled
            columns[i] = lax.select(lax.gt(index, last), lax.full_like(index, known.padded(size)), index)
    return lax.concatenate(columns, indices.ndim - 1) if changed else indices


def _scatter(
    known: Sizes,
    equation: Any,
    x: Any,
    indices: Any,
    updates: Any,
    *,
    dimension_numbers: Any,
    mode: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
    **params: Any,
) -> Any:
    sizes, index_sizes, update_sizes = (_sizes(equation, i) for i in range(3))
    numbers = dimension_numbers
    if mode == _Mode.CLIP or not index_sizes[-1]:
        raise NotPaddableError("scatter")
    apart = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    window = [axis for axis in range(x.ndim) if axis not in apart]
    for axis, update_axis in zip(window, numbers.update_window_dims, strict=True):
        size, part = sizes[axis], update_sizes[update_axis]
        if (is_symbol(size) or is_symbol(part)) and not _is_same(size, part):
            raise NotPaddableError("scatter")
    if any(map(is_symbol, index_sizes[:-1])):  # the rest of the indices is moved beyond `x`
        beyond = jax.numpy.iinfo(indices.dtype).max
        indices, unique_indices = known.masked(indices, index_sizes, range(indices.ndim - 1), beyond), False
    return equation.primitive.bind(
        x,
        indices,
        updates,
        dimension_numbers=dimension_numbers,
        mode=_Mode.FILL_OR_DROP,
        indices_are_sorted=False,
        unique_indices=unique_indices,
        **params,
    )


_SCATTERS = ("scatter", "scatter_add", "scatter-add", "scatter_mul", "scatter-mul", "scatter_min", "scatter-min")
RULES: dict[str, Rule] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "iota": _iota,
    "reshape": _reshape,
    "transpose": _same,
    "squeeze": _squeeze,
    "unsplit": lambda known, equation, x, *, axes: x,  # these programs run on one device
    "concatenate": _concatenate,
    "stack": _stack,
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "pad": _pad,
    "reduce_sum": _reduction(lambda dtype: 0),
    "reduce_prod": _reduction(lambda dtype: 1),
    "reduce_max": _reduction(_least),
    "reduce_min": _reduction(_greatest),
    "reduce_and": _reduction(lambda dtype: np.invert(np.zeros((), dtype))),
    "reduce_or": _reduction(lambda dtype: 0),
    "reduce_xor": _reduction(lambda dtype: 0),
    "argmax": _reduction(_least),
    "argmin": _reduction(_greatest),
    "cumsum": _scan(lambda dtype: 0, running.cumsum),
    "cumprod": _scan(lambda dtype: 1, running.cumprod),
    "cummax": _scan(_least, running.cummax),
    "cummin": _scan(_greatest, running.cummin),
    "cumlogsumexp": _scan(_least, running.cumlogsumexp),
    "sort": _sort,
    "split": _split,
    "rev": _rev,
    "bitcast_convert_type": _bitcast,
    "top_k": _top_k,
    "dot_general": _dot_general,
    "conv_general_dilated": _convolution,
    "reduce_window_sum": _windows,
    "reduce_window_max": _windows,
    "reduce_window_min": _windows,
    "gather": _gather,
    **dict.fromkeys((*_SCATTERS, "scatter_max", "scatter-max"), _scatter),
}
