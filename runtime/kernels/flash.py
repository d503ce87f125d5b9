"""softmax(query @ key.T * scale + mask) @ value, in memory that is linear in the sequence length.

The method is FlashAttention (Dao et al. 2022): scores are computed tile by tile, and recomputed for the gradient from
the log-sum-exp of each row. Products have operands of the inputs' dtype and accumulate in the compute dtype, as does
the softmax. The cost is that a second derivative materializes all scores.

Arrays: query (batch, heads, groups, L, E), key and value (batch, heads, S, E), and a mask of five axes, each full or 1,
for scores (batch, heads, groups, L, S); `groups` query heads share one head of key and value.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tenax.kernels import loops
from tenax.words import BOOL, Array, cast, opmath

# Scores per tile: 16 MiB of float32. Fewer rows than NARROW would leave matrix units idle.
TILE, NARROW = 1 << 22, 64

Start = tuple[Any, Any, Any]  # of a tile: batch, head, row


class How(NamedTuple):
    """The parameters of an attention that are not arrays."""

    scale: float | None  # None if it is an operand, in the inputs
    causal: bool = False
    dropout_p: float = 0.0  # if it is not an operand
    impl: Hashable = None  # of the random key whose data is `seed`
    devices: int = 1  # over which batch and heads may be split
    precision: str | None = None  # of products; JAX traces the derivative when the setting may have changed


class AttentionInputs(NamedTuple):
    """The arrays that attention is a function of. `seed` is the data of a random key, and None without dropout; `scale`
    and `rest`, which is 1 - dropout_p in float64, are 0-d if they are operands of the program."""

    query: Array
    key: Array
    value: Array
    mask: Array | None
    seed: Array | None
    scale: Array | None = None
    rest: Array | None = None


class Tile(NamedTuple):
    """The size of a tile along each axis, and the number of tiles."""

    batch: int
    heads: int
    rows: int
    counts: tuple[int, int, int]


def _tile(query: Array, key: Array, devices: int) -> Tile | None:
    """The tile for these arrays; None if a single tile suffices, and for symbolic sizes, which cannot be tiled.

    On several devices a tile has the whole batch and all heads, because slicing a sharded axis would gather it.
    """
    batch, heads, groups, length, _ = query.shape
    if not all(isinstance(n, int) for n in (*query.shape, *key.shape)):
        return None
    row = groups * key.shape[2]
    sizes = [batch, heads, length]
    if batch * heads * length * row <= TILE * devices:
        return None
    if devices > 1:
        rows = max(TILE * devices // (batch * heads * row), NARROW)
        pieces = -(-length // rows)
        return Tile(batch, heads, -(-length // pieces), (1, 1, pieces)) if pieces > 1 else None
    for axis, one in ((0, heads * length * row), (1, length * row)):
        most = max(TILE // one, 1)
        sizes[axis] = max(d for d in range(1, min(sizes[axis], most) + 1) if sizes[axis] % d == 0)
        if one <= TILE:
            break
    else:
        pieces = -(-length // max(TILE // row, NARROW))
        sizes[2] = -(-length // pieces)
    return Tile(sizes[0], sizes[1], sizes[2], (batch // sizes[0], heads // sizes[1], -(-length // sizes[2])))


# One tile of scores


def _dot(how: How, form: str, a: Array, b: Array, dtype: Any) -> Array:
    """A product with groups and rows merged into one axis "r": to contract two axes, XLA would transpose scores."""
    shape = next(x for x in (a, b) if x.ndim == 5).shape
    merged = (x.reshape(*x.shape[:2], x.shape[2] * x.shape[3], x.shape[4]) if x.ndim == 5 else x for x in (a, b))
    made = jnp.einsum(form, *merged, preferred_element_type=dtype, precision=how.precision)
    return made.reshape(*shape[:4], made.shape[3]) if form[-2] == "r" else made


def _scale(how: How, x: AttentionInputs, dtype: Any) -> Any:
    return how.scale if x.scale is None else cast(x.scale, dtype)


def _rest(how: How, x: AttentionInputs) -> Any:
    return 1 - how.dropout_p if x.rest is None else x.rest


def _thinned(how: How, x: AttentionInputs, kept: Array, weights: Array) -> Array:
    """What dropout leaves of the weights."""
    rest = _rest(how, x)
    return jnp.where(kept, weights / (rest if x.rest is None else cast(rest, weights.dtype)), 0)


def _scores(how: How, x: AttentionInputs, start: Start) -> Array:
    compute = opmath(x.query.dtype)
    scores = _dot(how, "bnre,bnse->bnrs", x.query, x.key, compute) * _scale(how, x, compute)
    if how.causal:
        rows, columns = (lax.broadcasted_iota(jnp.int32, scores.shape[-2:], axis) for axis in (0, 1))
        scores = jnp.where(rows + start[2] >= columns, scores, -jnp.inf)
    if x.mask is None:
        return scores
    return jnp.where(x.mask, scores, -jnp.inf) if x.mask.dtype == BOOL else scores + cast(x.mask, scores.dtype)


def _kept(how: How, x: AttentionInputs, seed: Array, shape: Sequence[int], whole: Sequence[int], start: Start) -> Array:
    """The dropout mask. Each row of the `whole` has its own random key, so the mask does not depend on the tiling."""
    index: Any = 0
    for axis, first in enumerate((start[0], start[1], 0, start[2])):
        place = lax.broadcasted_iota(jnp.uint32, shape[:4], axis) + jnp.asarray(first, jnp.uint32)
        index = index * jnp.uint32(whole[axis]) + place
    fold = jax.vmap(jax.random.fold_in, (None, 0))
    keys = fold(jax.random.wrap_key_data(seed, impl=how.impl), index.ravel())
    return jax.vmap(lambda key: jax.random.bernoulli(key, _rest(how, x), shape[4:]))(keys).reshape(shape)


def _some(how: How, whole: Sequence[int], x: AttentionInputs, start: Start = (0, 0, 0)) -> tuple[Array, Array]:
    """The output of some rows and their log-sum-exp; 0 and -inf for a fully masked row."""
    scores = _scores(how, x, start)
    top = lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf))
    top = jnp.where(top == -jnp.inf, 0, top)
    weights = jnp.exp(scores - top)
    total = jnp.sum(weights, axis=-1, keepdims=True)
    empty = total == 0
    total = jnp.where(empty, 1, total)
    if x.seed is not None:
        weights = _thinned(how, x, _kept(how, x, x.seed, scores.shape, whole, start), weights)
    weights = cast(weights, x.value.dtype)
    out = _dot(how, "bnrs,bnse->bnre", weights, x.value, scores.dtype) / total
    return cast(out, x.query.dtype), jnp.where(empty, -jnp.inf, jnp.log(total) + top)[..., 0]


def _some_gradients(
    how: How, whole: Sequence[int], x: AttentionInputs, lse: Array, grad: Array, slope: Array, start: Start = (0, 0, 0)
) -> tuple[Array, Array, Array, Array]:
    """Gradients of query, key, value and scores, in the compute dtype.

    `slope` is the row sum of grad * output, plus the term of the log-sum-exp. In half precision it is only that term,
    and the sum is recomputed here: the rounding of the output would be the largest error of these gradients.
    """
    compute, dtype = lse.dtype, x.query.dtype
    weights = jnp.exp(_scores(how, x, start) - jnp.where(lse == -jnp.inf, 0, lse)[..., None])
    given, of_weights = weights, _dot(how, "bnre,bnse->bnrs", grad, x.value, compute)
    if x.seed is not None:
        kept = _kept(how, x, x.seed, weights.shape, whole, start)
        given, of_weights = (_thinned(how, x, kept, w) for w in (given, of_weights))
    if dtype != compute:
        slope = slope + jnp.sum(weights * of_weights, axis=-1)
    of_scores = weights * (of_weights - slope[..., None])
    of_products = cast(of_scores * _scale(how, x, compute), dtype)
    return (
        _dot(how, "bnrs,bnse->bnre", of_products, x.key, compute),
        _dot(how, "bnrs,bnre->bnse", of_products, x.query, compute),
        _dot(how, "bnrs,bnre->bnse", cast(given, dtype), grad, compute),
        of_scores,
    )


# Tile by tile


def _start(i: Array, tile: Tile) -> Start:
    batch, head, row = jnp.unravel_index(i, tile.counts)
    return batch * tile.batch, head * tile.heads, row * tile.rows


def _place(x: Array, tile: Tile, start: Start, rows: bool) -> tuple[list[Any], list[int]]:
    """Start and size of the tile's part of `x`, whose fourth axis may be rows; axes of size 1 are not cut."""
    starts, sizes = [jnp.int32(0)] * x.ndim, list(x.shape)
    for axis, size, first in zip((0, 1, 3), tile[:3], start, strict=True):
        if sizes[axis] > 1 and (rows or axis < 3):
            starts[axis], sizes[axis] = first, size
    return starts, sizes


def _cut(x: Array, tile: Tile, start: Start, rows: bool = True) -> Array:
    return lax.dynamic_slice(x, *_place(x, tile, start, rows))


def _added(x: Array, part: Array, tile: Tile, start: Start, rows: bool = True) -> Array:
    starts, sizes = _place(x, tile, start, rows)
    return lax.dynamic_update_slice(x, lax.dynamic_slice(x, starts, sizes) + part, starts)


def _inputs(x: AttentionInputs, tile: Tile, start: Start) -> AttentionInputs:
    query, key, value = _cut(x.query, tile, start), _cut(x.key, tile, start, False), _cut(x.value, tile, start, False)
    mask = None if x.mask is None else _cut(x.mask, tile, start)
    return x._replace(query=query, key=key, value=value, mask=mask)


def _padded(x: Array, tile: Tile) -> Array:
    """Pad the rows to a multiple of the tile's."""
    missing = tile.rows * tile.counts[2] - x.shape[3]
    return x if missing == 0 or x.shape[3] == 1 else jnp.pad(x, [(0, missing * (axis == 3)) for axis in range(x.ndim)])


def _forward(how: How, x: AttentionInputs) -> tuple[Array, Array]:
    whole, tile = x.query.shape[:4], _tile(x.query, x.key, how.devices)
    if tile is None:
        return _some(how, whole, x)
    padded = x._replace(query=_padded(x.query, tile), mask=None if x.mask is None else _padded(x.mask, tile))

    def step(i: Array, made: tuple[Array, Array]) -> tuple[Array, Array]:
        start = _start(i, tile)
        out, lse = _some(how, whole, _inputs(padded, tile, start), start)
        return _added(made[0], out, tile, start), _added(made[1], lse, tile, start)

    rows = padded.query.shape[:4]
    none = jnp.zeros((*rows, x.value.shape[3]), x.query.dtype), jnp.zeros(rows, opmath(x.query.dtype))
    out, lse = loops.fori_loop(jnp.int32(0), jnp.int32(prod(tile.counts)), step, none)
    return out[:, :, :, : whole[3]], lse[:, :, :, : whole[3]]


def _sum_to(x: Array, shape: Sequence[int]) -> Array:
    return jnp.sum(x, axis=[i for i, n in enumerate(shape) if n != x.shape[i]], keepdims=True)


Gradients = tuple[Array, Array, Array, Array | None]  # of query, key, value, and a mask that is added


def _backward(how: How, x: AttentionInputs, out: Array, lse: Array, grad: Array, of_lse: Array) -> Gradients:
    whole, tile = x.query.shape[:4], _tile(x.query, x.key, how.devices)
    slope = -of_lse if out.dtype != lse.dtype else jnp.sum(grad * out, axis=-1) - of_lse
    biased = x.mask is not None and x.mask.dtype != BOOL

    def some(x: AttentionInputs, *rest: Any) -> list[Array]:
        *gradients, of_scores = _some_gradients(how, whole, x, *rest)
        return [*gradients, _sum_to(of_scores, x.mask.shape)] if x.mask is not None and biased else gradients

    if tile is None:
        made = some(x, lse, grad, slope)
    else:
        lse, grad, slope = (_padded(a, tile) for a in (lse, grad, slope))
        padded = x._replace(query=_padded(x.query, tile), mask=None if x.mask is None else _padded(x.mask, tile))

        def step(i: Array, made: list[Array]) -> list[Array]:
            start = _start(i, tile)
            parts = some(_inputs(padded, tile, start), *(_cut(a, tile, start) for a in (lse, grad, slope)), start)
            return [
                _added(m, p, tile, start, axis not in (1, 2))
                for axis, (m, p) in enumerate(zip(made, parts, strict=True))
            ]

        none = [jnp.zeros(a.shape, lse.dtype) for a in _parts(padded) if a is not None]
        made = loops.fori_loop(jnp.int32(0), jnp.int32(prod(tile.counts)), step, none)
    parts = [a for a in _parts(x) if a is not None]
    made = [cast(m[:, :, :, : a.shape[3]], a.dtype) for m, a in zip(made, parts, strict=True)]
    return made[0], made[1], made[2], made[3] if biased else None


# With derivatives


def _parts(x: AttentionInputs) -> Gradients:
    """The differentiable inputs."""
    return x.query, x.key, x.value, None if x.mask is None or x.mask.dtype == BOOL else x.mask


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def gradients(how: How, x: AttentionInputs, out: Array, lse: Array, grad: Array, of_lse: Array) -> Gradients:
    return _backward(how, x, out, lse, grad, of_lse)


def _gradients_fwd(how: How, x: AttentionInputs, out: Array, lse: Array, grad: Array, of_lse: Array) -> Any:
    return gradients(how, x, out, lse, grad, of_lse), (x, grad, of_lse)


def _gradients_bwd(how: How, saved: Any, cotangents: Gradients) -> Any:
    """Differentiate the plain formula. The gradients of the inputs include what flows through `out` and `lse`."""
    x, grad, of_lse = saved

    def some(query: Array, key: Array, value: Array, mask: Array | None) -> tuple[Array, Array]:
        parts = {"query": query, "key": key, "value": value, "mask": x.mask if mask is None else mask}
        return _some(how, query.shape[:4], x._replace(**parts))

    def again(parts: Gradients, grad: Array, of_lse: Array) -> Gradients:
        return jax.vjp(some, *parts)[1]((grad, of_lse))

    (query, key, value, mask), of_grad, of_of_lse = jax.vjp(again, _parts(x), grad, of_lse)[1](cotangents)
    return AttentionInputs(query, key, value, mask, None), None, None, of_grad, of_of_lse


gradients.defvjp(_gradients_fwd, _gradients_bwd)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def flash(how: How, x: AttentionInputs) -> tuple[Array, Array]:
    """(batch, heads, groups, L, Ev) in the dtype of the query, and the log-sum-exp of the rows in the compute dtype."""
    return _forward(how, x)


def _flash_fwd(how: How, x: AttentionInputs) -> Any:
    out, lse = flash(how, x)
    return (out, lse), (x, out, lse)


def _flash_bwd(how: How, saved: Any, cotangents: tuple[Array, Array]) -> tuple[AttentionInputs]:
    x, out, lse = saved
    of_query, of_key, of_value, of_mask = gradients(how, x, out, lse, *cotangents)
    return (AttentionInputs(of_query, of_key, of_value, of_mask, None),)


flash.defvjp(_flash_fwd, _flash_bwd)
