"""For each primitive, how it is computed on arrays in any memory order, and the order of its results.

A rule takes the equation and its values, and returns the values of its results. Primitives without a rule take arrays
in the order of their axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from ..jaxprs import bound
from .reshapes import reshaped
from .values import Axes, Deferred, Value, common, placed, ranks

Rule = Callable[..., Value | Sequence[Value]]


def elementwise(equation: Any, *values: Value) -> Value:
    """Scalars stay as they are; a result is deferred if all arguments are."""
    rank = equation.outvars[0].aval.ndim
    whole = [v for v in values if len(v.axes) == rank]

    def at(axes: Axes) -> jax.Array:
        operands = [v.at(axes) if len(v.axes) == rank else v.array for v in values]
        (out,) = bound(equation.primitive, operands, equation.params)
        return out

    if rank and all(isinstance(v, Deferred) for v in whole):
        return Deferred(at, rank)
    axes = common([v for v in whole if not isinstance(v, Deferred)] or whole)
    return Value(at(axes), axes)


def _barrier(equation: Any, *values: Value) -> list[Value]:
    results = bound(equation.primitive, [v.at(v.axes) for v in values], equation.params)
    return [Value(out, v.axes) for out, v in zip(results, values, strict=True)]


# Shapes


def _transpose(equation: Any, x: Value, *, permutation: Any) -> Value:
    return x.transposed(permutation)


def _broadcast_in_dim(equation: Any, x: Value, *, shape: Any, broadcast_dimensions: Any, sharding: Any) -> Value:
    def at(axes: Axes) -> jax.Array:
        places = [axes[d] for d in broadcast_dimensions]
        return lax.broadcast_in_dim(x.at(ranks(places)), placed(shape, axes), sorted(places))

    return Deferred(at, len(shape))


def _iota(equation: Any, *, dtype: Any, shape: Any, dimension: int, sharding: Any) -> Value:
    return Deferred(lambda axes: lax.broadcasted_iota(dtype, placed(shape, axes), axes[dimension]), len(shape))


def _reshape(equation: Any, x: Value, *, new_sizes: Any, dimensions: Any, sharding: Any) -> Value:
    return reshaped(x, equation.invars[0].aval.shape, new_sizes)


def _squeeze(equation: Any, x: Value, *, dimensions: Any) -> Value:
    return reshaped(x, equation.invars[0].aval.shape, equation.outvars[0].aval.shape)


def _mapped(x: Value, at: Callable[[Axes], jax.Array]) -> Value:
    """What is computed from one value by a function of the order; deferred if the value is."""
    return Deferred(at, len(x.axes)) if isinstance(x, Deferred) else Value(at(x.axes), x.axes)


def _rev(equation: Any, x: Value, *, dimensions: Any) -> Value:
    return _mapped(x, lambda axes: lax.rev(x.at(axes), [axes[d] for d in dimensions]))


def _slice(equation: Any, x: Value, *, start_indices: Any, limit_indices: Any, strides: Any) -> Value:
    bounds = start_indices, limit_indices, strides or (1,) * len(x.axes)
    return _mapped(x, lambda axes: lax.slice(x.at(axes), *(placed(b, axes) for b in bounds)))


def _dynamic_slice(equation: Any, x: Value, *starts: Value, slice_sizes: Any) -> Value:
    begin = placed([s.array for s in starts], x.axes)
    out = equation.primitive.bind(x.at(x.axes), *begin, slice_sizes=tuple(placed(slice_sizes, x.axes)))
    return Value(out, x.axes)


def _dynamic_update_slice(equation: Any, x: Value, update: Value, *starts: Value) -> Value:
    axes = common([x, update])
    begin = placed([s.array for s in starts], axes)
    return Value(equation.primitive.bind(x.at(axes), update.at(axes), *begin), axes)


def _pad(equation: Any, x: Value, filler: Value, *, padding_config: Any) -> Value:
    return _mapped(x, lambda axes: lax.pad(x.at(axes), filler.array, placed(padding_config, axes)))


def _concatenate(equation: Any, *parts: Value, dimension: int) -> Value:
    axes = common(parts)
    return Value(lax.concatenate([p.at(axes) for p in parts], axes[dimension]), axes)


def _split(equation: Any, x: Value, *, sizes: Any, axis: int) -> list[Value]:
    return [Value(part, x.axes) for part in lax.split(x.at(x.axes), sizes, x.axes[axis])]


# Reductions and windows


def _reduction(equation: Any, x: Value, *, axes: Any, **params: Any) -> Value:
    removed = tuple(sorted(x.axes[a] for a in axes))
    kept = [axis for axis in x.axes if axis not in removed]
    return Value(equation.primitive.bind(x.at(x.axes), axes=removed, **params), ranks(kept))


def _scan(equation: Any, x: Value, *, axis: int, **params: Any) -> Value:
    return Value(equation.primitive.bind(x.at(x.axes), axis=x.axes[axis], **params), x.axes)


def _sort(equation: Any, *values: Value, dimension: int, **params: Any) -> list[Value]:
    axes = common(values)
    out = equation.primitive.bind(*(v.at(axes) for v in values), dimension=axes[dimension], **params)
    return [Value(x, axes) for x in out]


def _windows(equation: Any, *values: Value, **params: Any) -> Value | list[Value]:
    """Arguments of the result's rank are arrays, others initial values."""
    rank = len(values[0].axes)
    arrays = [v for v in values if len(v.axes) == rank]
    axes = common(arrays)
    names = ("window_dimensions", "window_strides", "padding", "base_dilation", "window_dilation")
    params |= {name: tuple(placed(params[name], axes)) for name in names if name in params}
    operands = [v.at(axes) if len(v.axes) == rank else v.array for v in values]
    results = [Value(x, axes) for x in bound(equation.primitive, operands, params)]
    return results if equation.primitive.multiple_results else results[0]


# Products


def _dot_general(equation: Any, x: Value, y: Value, *, dimension_numbers: Any, **params: Any) -> Value:
    """The axes of the result are those of a batch, then the others of each operand, as they are in their arrays.

    The operand that is not in the order of its axes comes first: the channels of a channels-last image stay last.
    """
    contracted, batch = dimension_numbers
    sides = list(zip((x, y), contracted, batch, strict=True))
    free = [[axis for d, axis in enumerate(v.axes) if d not in (*c, *b)] for v, c, b in sides]
    starts = len(batch[0]), len(batch[0]) + len(free[0])
    if x.is_ordered and not y.is_ordered:
        sides.reverse()
        starts = len(batch[0]) + len(free[1]), len(batch[0])
        if isinstance(params["precision"], tuple):
            params["precision"] = params["precision"][::-1]
    numbers = (
        tuple(tuple(v.axes[d] for d in c) for v, c, _ in sides),
        tuple(tuple(v.axes[d] for d in b) for v, _, b in sides),
    )
    out = equation.primitive.bind(*(v.at(v.axes) for v, *_ in sides), dimension_numbers=numbers, **params)
    order = list(range(len(batch[0])))
    order += [start + rank for start, axes in zip(starts, free, strict=True) for rank in ranks(axes)]
    return Value(out, tuple(order))


def _convolution(equation: Any, x: Value, w: Value, *, dimension_numbers: Any, **params: Any) -> Value:
    """The result has the order of `x`."""
    lhs, rhs, out = dimension_numbers
    order = [0] * len(out)
    for ours, theirs in zip(out, lhs, strict=True):  # batch, features, and space, as they stand in `x`
        order[ours] = x.axes[theirs]
    numbers = lax.ConvDimensionNumbers(
        tuple(x.axes[d] for d in lhs), tuple(w.axes[d] for d in rhs), tuple(order[d] for d in out)
    )
    result = equation.primitive.bind(x.at(x.axes), w.at(w.axes), dimension_numbers=numbers, **params)
    return Value(result, tuple(order))


RULES: dict[str, Rule] = {
    "optimization_barrier": _barrier,
    "unsplit": lambda equation, x, *, axes: x,  # these programs run on one device
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast_in_dim,
    "iota": _iota,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "rev": _rev,
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "pad": _pad,
    "concatenate": _concatenate,
    "split": _split,
    **dict.fromkeys(
        "reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or reduce_xor argmax argmin".split(), _reduction
    ),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), _scan),
    "sort": _sort,
    "reduce_window": _windows,
    "reduce_window_sum": _windows,
    "reduce_window_max": _windows,
    "reduce_window_min": _windows,
    "dot_general": _dot_general,
    "conv_general_dilated": _convolution,
}
