"""Convolution as a sum over the taps of the kernel, each of which multiplies a shifted image.

XLA's CPU backend fuses the multiply-adds of all taps into one loop over contiguous rows. For the loop to vectorize, the
image is padded in memory before it is read, and each phase of a strided image is copied to an array of its own. The
gradient of the weight reduces the products of all taps in one loop with an accumulator per tap; in a separate reduction
each addition would wait for the one before.

Barriers keep operands and results from being recomputed in each loop that reads them, such as that of a batch norm.

There is no im2col matrix; the cost is one more copy of the image, in float32 for half precision.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from math import prod

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.convolution.eigen import in_memory
from tenax.kernels.convolution.geometry import Geometry, Sizes
from tenax.words import Array, cast, opmath

# Images and outputs are split to (N, groups, channels per group, *spatial).
_LEAD = 3

# Adds the contribution of a (groups, out, in) matrix of weights to each group.
Contract = Callable[[Array, Array], Array]

# A reduction over more elements than this is split, and the partial sums are added: float32 loses digits in long
# chains of additions.
CHAIN = 2**13
# Samples of at most this many pixels share a matrix product: copying them is cheaper than small products.
SMALL = 64
# Maximum number of sums that are reduced in one loop.
ACCUMULATORS = 64


def _split(x: Array, groups: int) -> Array:
    wide = cast(x, opmath(x.dtype))
    return wide.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def multiply_add(weights: Array, x: Array) -> Array:
    """Contract with one multiply-add per channel of a group."""
    spread = weights.reshape(*weights.shape, *(1,) * (x.ndim - _LEAD))
    return functools.reduce(lax.add, (spread[:, :, c] * x[:, :, c : c + 1] for c in range(x.shape[2])))


def product(weights: Array, x: Array) -> Array:
    """Contract with one matrix product per group, and per sample unless samples are small."""
    flat = x.reshape(*x.shape[:_LEAD], -1)
    if flat.shape[-1] <= SMALL:
        # In this order of operands, XLA's CPU backend does not copy the image before it multiplies.
        out = lax.dot_general(flat, weights, (((2,), (2,)), ((1,), (0,)))).transpose(1, 0, 3, 2)
    else:
        weights = jnp.broadcast_to(weights, (x.shape[0], *weights.shape))
        out = lax.dot_general(weights, flat, (((3,), (2,)), ((0, 1), (0, 1))))
    return out.reshape(*out.shape[:_LEAD], *x.shape[_LEAD:])


def _window(x: Array, starts: Sequence[int], sizes: Sequence[int]) -> Array:
    """Slice the last axes of `x`."""
    lead = x.shape[: x.ndim - len(starts)]
    ends = (start + size for start, size in zip(starts, sizes, strict=True))
    return lax.slice(x, (*(0,) * len(lead), *starts), (*lead, *ends))


def _matrices(weight: Array, groups: int) -> Callable[[Sizes], Array]:
    """A function from a tap to its weights: (groups, out, in)."""
    wide = cast(weight, opmath(weight.dtype))
    shape = (groups, weight.shape[0] // groups, weight.shape[1])
    wide = wide.reshape(*shape, *weight.shape[2:])
    return lambda tap: _window(wide, tap, (1,) * len(tap)).reshape(shape)


def _number(offset: Sizes, stride: Sizes) -> int:
    """The number of the phase of a strided image to which an offset belongs."""
    return functools.reduce(
        lambda number, pair: number * pair[1] + pair[0] % pair[1], zip(offset, stride, strict=True), 0
    )


def _phases(geometry: Geometry, image: Array) -> Callable[[Sizes], Array]:
    """A function from a tap to the shifted, strided image that it reads: (N, groups, channels, *out)."""
    g = geometry
    lead, rank = image.ndim - g.rank, g.rank
    if max(g.stride) == 1:
        padded = in_memory(image, g.pads)
        phases = padded[None]
    else:
        counts = [-(-(i + low + high) // s) for i, (low, high), s in zip(g.image, g.pads, g.stride, strict=True)]
        ends = zip(g.image, g.padding, counts, g.stride, strict=True)
        config = [(0, 0, 0)] * lead + [(p, c * s - p - i, 0) for i, p, c, s in ends]
        padded = lax.pad(image, jnp.zeros((), image.dtype), config)
        pairs = itertools.chain.from_iterable(zip(counts, g.stride, strict=True))
        apart = padded.reshape(*image.shape[:lead], *pairs)
        axes = (*(lead + 1 + 2 * i for i in range(rank)), *range(lead), *(lead + 2 * i for i in range(rank)))
        apart = apart.transpose(axes)
        phases = lax.optimization_barrier(apart.reshape(prod(g.stride), *apart.shape[rank:]))

    def read(tap: Sizes) -> Array:
        offset = g.offset(tap)
        phase = lax.slice_in_dim(phases, number := _number(offset, g.stride), number + 1)
        starts = [o // s for o, s in zip(offset, g.stride, strict=True)]
        return _window(phase.reshape(phases.shape[1:]), starts, g.out)

    return read


def output(geometry: Geometry, image: Array, weight: Array, contract: Contract = multiply_add) -> Array:
    """(N, Ci, *image) and (Co, Ci/groups, *kernel) to (N, Co, *out)."""
    read, matrices = _phases(geometry, _split(image, geometry.groups)), _matrices(weight, geometry.groups)
    terms = (contract(matrices(tap), read(tap)) for tap in geometry.taps)
    total = lax.optimization_barrier(cast(functools.reduce(lax.add, terms), image.dtype))
    return total.reshape(image.shape[0], weight.shape[0], *geometry.out)


def image(geometry: Geometry, output_: Array, weight: Array, contract: Contract = multiply_add) -> Array:
    """(N, Co, *out) and (Co, Ci/groups, *kernel) to (N, Ci, *image).

    Pixels whose positions agree modulo the stride read the same taps, so each phase is a convolution without a stride.
    """
    g, batch = geometry, output_.shape[0]
    matrices = _matrices(weight, g.groups)
    # Pixel `q * stride + phase` of the padded image reads the output at `q - shift` through a tap.
    counts = [-(-(p + i) // s) for p, i, s in zip(g.padding, g.image, g.stride, strict=True)]
    furthest = [(k - 1) * d // s for k, d, s in zip(g.kernel, g.dilation, g.stride, strict=True)]
    pads = [(far, count - o) for far, count, o in zip(furthest, counts, g.out, strict=True)]
    padded = in_memory(_split(output_, g.groups), pads)

    def term(tap: Sizes) -> Array:
        shifts = [o // s for o, s in zip(g.offset(tap), g.stride, strict=True)]
        starts = [far - n for far, n in zip(furthest, shifts, strict=True)]
        return contract(matrices(tap).swapaxes(1, 2), _window(padded, starts, counts))

    def phase(number: int) -> Array:
        taps = [t for t in g.taps if _number(g.offset(t), g.stride) == number]
        if not taps:
            return jnp.zeros((batch, g.groups, weight.shape[1], *counts), output_.dtype)
        return lax.optimization_barrier(cast(functools.reduce(lax.add, map(term, taps)), output_.dtype))

    phases = [phase(number) for number in range(prod(g.stride))]
    channels = g.groups * weight.shape[1]
    whole = jnp.stack(phases).reshape(*g.stride, batch, channels, *counts)
    pairs = itertools.chain.from_iterable((g.rank + 2 + i, i) for i in range(g.rank))
    whole = whole.transpose(g.rank, g.rank + 1, *pairs)
    whole = whole.reshape(batch, channels, *(c * s for c, s in zip(counts, g.stride, strict=True)))
    return _window(whole, g.padding, g.image)


def _blocks(batch: int, elements: int) -> int:
    """The number of blocks into which to cut a batch so that none has more than `CHAIN` elements, if possible."""
    return next(b for b in range(1, batch + 1) if batch % b == 0 and (batch // b * elements <= CHAIN or b == batch))


def weight(geometry: Geometry, output_: Array, image_: Array) -> Array:
    """(N, Co, *out) and (N, Ci, *image) to (Co, Ci/groups, *kernel): one loop of multiply-adds for all taps."""
    g = geometry
    blocks = _blocks(output_.shape[0], prod(g.out))

    def cut(x: Array) -> Array:
        return x.reshape(blocks, x.shape[0] // blocks, *x.shape[1:])

    read = _phases(g, cut(_split(image_, g.groups))[:, :, :, None])
    outputs = lax.optimization_barrier(cut(_split(output_, g.groups))[:, :, :, :, None])
    products = [read(tap) * outputs for tap in g.taps]
    sums: list[Array] = []
    for start in range(0, len(products), ACCUMULATORS):
        some = products[start : start + ACCUMULATORS]
        zeros = (np.zeros((), outputs.dtype),) * len(some)
        sums += lax.reduce(tuple(some), zeros, lambda *pair: tuple(map(lax.add, *pair)), (1, *range(5, 5 + g.rank)))
    total = cast(jnp.sum(jnp.stack(sums, -1), axis=0), output_.dtype)
    return total.reshape(output_.shape[1], image_.shape[1] // g.groups, *g.kernel)


def weight_by_products(geometry: Geometry, output_: Array, image_: Array) -> Array:
    """`weight`, with one matrix product per tap."""
    g = geometry
    read = _phases(g, _split(image_, g.groups))
    outputs = _split(output_, g.groups)
    outputs = outputs.reshape(*outputs.shape[:_LEAD], -1)

    def term(tap: Sizes) -> Array:
        x = read(tap).reshape(*outputs.shape[:2], -1, outputs.shape[-1])
        if x.shape[-1] <= SMALL:
            return lax.dot_general(outputs, x, (((0, 3), (0, 3)), ((1,), (1,))))
        return jnp.sum(lax.dot_general(outputs, x, (((3,), (3,)), ((0, 1), (0, 1)))), axis=0)

    total = cast(jnp.stack([term(tap) for tap in g.taps], -1), output_.dtype)
    return total.reshape(output_.shape[1], image_.shape[1] // g.groups, *g.kernel)
