"""Random numbers derived from uniform or normal ones, integers and permutations, each from one JAX key.

The numbers are JAX's, not torch's; ranges, endpoints, resolution and moments are torch's. An in-place sampler uses only
shape and dtype of `self`. float16 and bfloat16 are computed in float32, except that uniform numbers are drawn at their
own resolution, because rounding could reach the excluded end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT64,
    Array,
    DType,
    Number,
    cast,
    is_complex,
    is_float,
    opmath,
    real_dtype,
)

_UINT64 = np.dtype("uint64")

# Bits of the significand, including the hidden one: a uniform number is a multiple of 2**-digits.
_DIGITS = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}


def unit(rng: Array, shape: Sequence[int], dtype: DType) -> Array:
    """Uniform numbers in [0, 1) of a floating dtype, at its full resolution.

    `jax.random.uniform` has a bit less: multiples of 2**-23 in float32, where torch has multiples of 2**-24.
    """
    digits, width = _DIGITS[dtype], dtype.itemsize * 8
    bits = jax.random.bits(rng, tuple(shape), np.dtype(f"uint{width}"))
    bits = lax.shift_right_logical(bits, lax.full((), width - digits, bits.dtype))
    return cast(bits, dtype) * 2.0**-digits


def _parts(name: str, sample: Callable[[Array, DType], Array], rng: Array, dtype: DType) -> Array:
    """A sample of a floating dtype, or two independent ones as the parts of a complex dtype."""
    if is_complex(dtype):
        real, imag = jax.random.split(rng)
        return lax.complex(sample(real, real_dtype(dtype)), sample(imag, real_dtype(dtype)))
    if not is_float(dtype):
        raise NotImplementedError(f'"{name}" not implemented for {dtype}; expected a floating-point or complex dtype')
    return sample(rng, dtype)


# Real numbers


def uniform_(rng: Array, self: Array, from_: Any = 0, to: Any = 1) -> Array:
    """Uniform numbers in [from, to), in both parts of a complex dtype."""

    def sample(rng: Array, dtype: DType) -> Array:
        wide = opmath(dtype)
        low, high = cast(from_, wide), cast(to, wide)
        drawn = cast(cast(unit(rng, self.shape, dtype), wide) * (high - low) + low, dtype)
        return jnp.where(drawn == cast(high, dtype), cast(low, dtype), drawn)

    return _parts("uniform_", sample, rng, self.dtype)


def rand(rng: Array, size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """Uniform numbers in [0, 1)."""
    return _parts("rand", lambda rng, part: unit(rng, size, part), rng, dtype or FLOAT32)


def _gauss(rng: Array, shape: Sequence[int], dtype: DType, mean: Any = 0, std: Any = 1) -> Array:
    """`mean + std * normal`; the parts of a complex normal number have half the variance each."""
    scale = 0.5**0.5 if is_complex(dtype) else 1.0

    def sample(rng: Array, dtype: DType) -> Array:
        wide = opmath(dtype)
        return jax.random.normal(rng, tuple(shape), wide) * (cast(std, wide) * scale)

    drawn = _parts("normal_", sample, rng, dtype)
    return cast(drawn + cast(mean, drawn.dtype), dtype)


def normal_(rng: Array, self: Array, mean: Any = 0, std: Any = 1) -> Array:
    """Normal numbers; in a complex dtype both parts have the mean `mean`."""
    if is_complex(self.dtype):
        part = cast(mean, real_dtype(self.dtype))
        mean = lax.complex(part, part)
    return _gauss(rng, self.shape, self.dtype, mean, std)


def randn(rng: Array, size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """Standard normal numbers."""
    return _gauss(rng, size, dtype or FLOAT32)


def normal(rng: Array, mean: Any, std: Any = 1) -> Array:
    """Normal numbers around `mean`, in the dtype of the first argument that is a tensor; both are broadcast."""
    tensors = [x for x in (mean, std) if isinstance(x, jax.Array)]
    shape = jnp.broadcast_shapes(*(x.shape for x in tensors))
    return _gauss(rng, shape, tensors[0].dtype, mean, std)


def exponential(rng: Array, shape: Sequence[int], dtype: DType) -> Array:
    """Standard exponential numbers, never 0 or inf, so that dividing by them is safe.

    Of 2**24 numbers from `jax.random.exponential` in float32, 4 were 0.
    """
    u = unit(rng, shape, dtype)
    return jnp.where(u == 0, 2.0 ** -_DIGITS[dtype], -jnp.log1p(-u))


def exponential_(rng: Array, self: Array, lambd: Any = 1) -> Array:
    """Exponential numbers with rate `lambd`."""
    wide = opmath(self.dtype)
    return cast(exponential(rng, self.shape, wide) / cast(lambd, wide), self.dtype)


def geometric_(rng: Array, self: Array, p: Any) -> Array:
    """The number of trials of probability `p` up to the first success, at least 1."""
    if self.dtype == BOOL or is_complex(self.dtype):
        raise NotImplementedError(f'"geometric_" not implemented for {self.dtype}; expected an integer or float dtype')
    wide = FLOAT64 if self.dtype == FLOAT64 else FLOAT32
    trials = jnp.ceil(-exponential(rng, self.shape, wide) / jnp.log1p(-cast(p, wide)))
    return cast(trials, self.dtype)


# Integers


def _from(low: Any, bits: Array, dtype: DType) -> Array:
    # Unsigned sums wrap, so their bits are right for any int64 `low`.
    return cast(lax.bitcast_convert_type(cast(bits, _UINT64) + cast(low, _UINT64), INT64), dtype)


def _integers_between(rng: Array, shape: Sequence[int], low: int | Number, end: int | Number, dtype: DType) -> Array:
    """Integers in [low, end), the same ones for Python numbers and for operands as bounds; the bias is below 2**-32,
    as in torch."""
    count = cast(end, _UINT64) - cast(low, _UINT64)
    narrow = jax.random.bits(rng, tuple(shape), np.dtype("uint32"))
    narrow = (
        cast(narrow, _UINT64) % jnp.maximum(count, 1)
        if _has_words(low, end)
        else cast(narrow % cast(count, narrow.dtype), _UINT64)
    )
    if _has_words(low, end):  # the count may not fit into 32 bits, or even 64: then it is 0
        wide = jax.random.bits(rng, tuple(shape), _UINT64)
        wide = jnp.where(count == 0, wide, wide % jnp.maximum(count, 1))
        narrow = jnp.where((count > 0) & (count < 2**32), narrow, wide)
    return _from(low, narrow, dtype)


def _has_words(*bounds: int | Number) -> bool:
    """Whether a bound may exceed 32 bits."""
    return any(not -(2**31) <= n < 2**31 if isinstance(n, int) else n.value.dtype.itemsize > 4 for n in bounds)


def _largest(dtype: DType) -> int:
    """The largest integer that `random_` draws; for floats, the last one up to which all integers are exact."""
    if is_complex(dtype):
        raise NotImplementedError(f'"random_" not implemented for {dtype}; expected an integer or float dtype')
    if is_float(dtype):
        return 2 ** _DIGITS[dtype]
    return 1 if dtype == BOOL else int(jnp.iinfo(dtype).max)


def _ordered(op: str, low: int | Number, high: int | Number) -> None:
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        raise RuntimeError(f"{op} expects 'from' to be less than 'to', but got from={low} >= to={high}")


def random_from(rng: Array, self: Array, from_: int | Number, to: int | Number | None) -> Array:
    """Integers in [from, to); without `to`, up to and including the largest of the dtype."""
    end = _largest(self.dtype) + 1 if to is None else to
    _ordered("random_", from_, end)
    if not is_float(self.dtype):
        least = 0 if self.dtype == BOOL else int(jnp.iinfo(self.dtype).min)
        for name, bound, by in (("from", from_, 0), ("to - 1", end, 1)):
            if isinstance(bound, int) and not least <= bound - by <= _largest(self.dtype):
                raise RuntimeError(f"{name} is out of bounds for {self.dtype}")
    return _integers_between(rng, self.shape, from_, end, self.dtype)


def randint(
    rng: Array, low: int | Number, high: int | Number, size: Sequence[int], *, dtype: DType | None = INT64
) -> Array:
    """Integers in [low, high)."""
    _ordered("random_", low, high)
    return _integers_between(rng, size, low, high, dtype or INT64)


def randint_like(rng: Array, self: Array, high: Any, *, dtype: DType | None = None) -> Array:
    """Integers in [0, high); `high` is an int or a 0-d array."""
    if isinstance(high, (int, Number)):
        return randint(rng, 0, high, self.shape, dtype=dtype or self.dtype)
    bits = jax.random.bits(rng, self.shape, _UINT64)
    return _from(0, bits % cast(high, _UINT64), dtype or self.dtype)


def randperm(rng: Array, n: int, *, dtype: DType | None = INT64) -> Array:
    """A permutation of 0 to n - 1, which the dtype must hold exactly."""
    dtype = dtype or INT64
    if n - 1 > _largest(dtype):
        raise RuntimeError(f"n is too large to represent 0 to n - 1 exactly: n={n}, dtype={dtype}")
    return cast(jax.random.permutation(rng, jnp.arange(n, dtype=INT64)), dtype)


# Bernoulli trials and dropout


def _hits(rng: Array, shape: Sequence[int], p: Any, dtype: DType = FLOAT32) -> Array:
    """True with probability `p`, a number or an array, at the resolution of `dtype`."""
    return unit(rng, shape, dtype) < cast(p, dtype)


def bernoulli_(rng: Array, self: Array, p: Any = 0.5) -> Array:
    """1 with probability `p` (broadcast), else 0."""
    if is_complex(self.dtype):
        raise NotImplementedError(f'"bernoulli_" not implemented for {self.dtype}; expected an integer or float dtype')
    exact = isinstance(p, jax.Array) and p.dtype == FLOAT64
    return cast(_hits(rng, self.shape, p, FLOAT64 if exact else FLOAT32), self.dtype)


def _dropped(x: Array, keep: Array, scale: Any) -> Array:
    wide = opmath(x.dtype)
    return cast(cast(x, wide) * jnp.where(keep, cast(scale, wide), 0), x.dtype)


def native_dropout(rng: Array, input: Array, p: Any, train: bool | None) -> tuple[Array, Array]:
    """(input with elements zeroed with probability `p` and others scaled by 1 / (1 - p), bool mask of the others)."""
    if train is False:
        return input, jnp.ones(input.shape, BOOL)
    q = 1 - cast(p, FLOAT64)
    keep = _hits(rng, input.shape, q)
    return _dropped(input, keep, 1 / q), keep


def _fused_dropout(rng: Array, self: Array, p: Any) -> tuple[Array, Array]:
    """(self with elements kept with probability `p` and scaled by 1 / p, uint8 mask of them)."""
    keep = _hits(rng, self.shape, p)
    return _dropped(self, keep, 1 / cast(p, FLOAT64)), cast(keep, np.dtype("uint8"))
