"""Lowerings of the family `random`.

Generated from ops_spec/random.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from tenax.generated import checks
from tenax.kernels import random as random_kernels
from tenax.words import DEFAULT, FLOAT64, INT64, INT_TO_FLOAT, Array, DType, cast


def uniform___checks(rng: Array, self: Array, from_: ArrayLike = 0, to: ArrayLike = 1) -> tuple[Array, ...]:
    """The conditions of uniform_; its row of the table has their errors."""
    return (cast(from_, FLOAT64) <= cast(to, FLOAT64),)


def normal___checks(rng: Array, self: Array, mean: ArrayLike = 0, std: ArrayLike = 1) -> tuple[Array, ...]:
    """The conditions of normal_; its row of the table has their errors."""
    return (checks.std_not_negative(std),)


def log_normal_(rng: Array, self: Array, mean: ArrayLike = 1, std: ArrayLike = 2) -> Array:
    """log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)

    Spec: ops_spec/random.yaml
    """
    dtype, self, mean, std = DEFAULT(self, scalars=(mean, std))
    return cast(jnp.exp(random_kernels.normal_(rng, self, mean, std)), dtype)


def log_normal___checks(rng: Array, self: Array, mean: ArrayLike = 1, std: ArrayLike = 2) -> tuple[Array, ...]:
    """The conditions of log_normal_; its row of the table has their errors."""
    return (cast(std, FLOAT64) > 0,)


def exponential___checks(rng: Array, self: Array, lambd: ArrayLike = 1) -> tuple[Array, ...]:
    """The conditions of exponential_; its row of the table has their errors."""
    return (cast(lambd, FLOAT64) > 0,)


def cauchy_(rng: Array, self: Array, median: ArrayLike = 0, sigma: ArrayLike = 1) -> Array:
    """cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)

    Spec: ops_spec/random.yaml
    """
    dtype, self, median, sigma = DEFAULT(self, scalars=(median, sigma))
    result = median + sigma * jnp.tan(jnp.pi * (random_kernels.rand(rng, self.shape, dtype=self.dtype) - 0.5))
    return cast(result, dtype)


def cauchy___checks(rng: Array, self: Array, median: ArrayLike = 0, sigma: ArrayLike = 1) -> tuple[Array, ...]:
    """The conditions of cauchy_; its row of the table has their errors."""
    return (cast(sigma, FLOAT64) > 0,)


def geometric___checks(rng: Array, self: Array, p: ArrayLike) -> tuple[Array, ...]:
    """The conditions of geometric_; its row of the table has their errors."""
    return ((cast(p, FLOAT64) > 0) & (cast(p, FLOAT64) < 1),)


def bernoulli___float(rng: Array, self: Array, p: ArrayLike = 0.5) -> Array:
    """bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)

    Spec: ops_spec/random.yaml
    """
    return bernoulli___Tensor(rng, self, p)


def bernoulli___float__checks(rng: Array, self: Array, p: ArrayLike = 0.5) -> tuple[Array, ...]:
    """The conditions of bernoulli_.float; its row of the table has their errors."""
    return (checks.is_probability(p),)


def bernoulli___Tensor(rng: Array, self: Array, p: Array) -> Array:
    """bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)

    Spec: ops_spec/random.yaml
    """
    return random_kernels.bernoulli_(rng=rng, self=self, p=p)


def bernoulli___Tensor__checks(rng: Array, self: Array, p: Array) -> tuple[Array, ...]:
    """The conditions of bernoulli_.Tensor; its row of the table has their errors."""
    return (checks.all_probabilities(p),)


def random_(rng: Array, self: Array) -> Array:
    """random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)

    Spec: ops_spec/random.yaml
    """
    return random_kernels.random_from(rng, self, 0, None)


def random___to(rng: Array, self: Array, to: int) -> Array:
    """random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)

    Spec: ops_spec/random.yaml
    """
    return random_kernels.random_from(rng, self, 0, to)


def bernoulli(rng: Array, self: Array) -> Array:
    """bernoulli(Tensor self, *, Generator? generator=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return bernoulli___Tensor(rng, self, self)


def bernoulli__checks(rng: Array, self: Array) -> tuple[Array, ...]:
    """The conditions of bernoulli; its row of the table has their errors."""
    return (checks.all_probabilities(self),)


def bernoulli__p(rng: Array, self: Array, p: ArrayLike) -> Array:
    """bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return bernoulli___float(rng, self, p)


def bernoulli__p__checks(rng: Array, self: Array, p: ArrayLike) -> tuple[Array, ...]:
    """The conditions of bernoulli.p; its row of the table has their errors."""
    return (checks.is_probability(p),)


def normal_functional(rng: Array, self: Array, mean: ArrayLike = 0, std: ArrayLike = 1) -> Array:
    """normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.normal_(rng, self, mean, std)


def normal_functional__checks(rng: Array, self: Array, mean: ArrayLike = 0, std: ArrayLike = 1) -> tuple[Array, ...]:
    """The conditions of normal_functional; its row of the table has their errors."""
    return (checks.std_not_negative(std),)


def normal__Tensor_float(rng: Array, mean: Array, std: ArrayLike = 1) -> Array:
    """normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return normal__Tensor_Tensor(rng, mean, std)


def normal__Tensor_float__checks(rng: Array, mean: Array, std: ArrayLike = 1) -> tuple[Array, ...]:
    """The conditions of normal.Tensor_float; its row of the table has their errors."""
    return (checks.std_not_negative(std),)


def normal__float_Tensor(rng: Array, mean: ArrayLike, std: Array) -> Array:
    """normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return normal__Tensor_Tensor(rng, mean, std)


def normal__float_Tensor__checks(rng: Array, mean: ArrayLike, std: Array) -> tuple[Array, ...]:
    """The conditions of normal.float_Tensor; its row of the table has their errors."""
    return (checks.all_std_not_negative(std),)


def normal__Tensor_Tensor(rng: Array, mean: Array, std: Array) -> Array:
    """normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.normal(rng=rng, mean=mean, std=std)


def normal__Tensor_Tensor__checks(rng: Array, mean: Array, std: Array) -> tuple[Array, ...]:
    """The conditions of normal.Tensor_Tensor; its row of the table has their errors."""
    return (checks.all_std_not_negative(std),)


def poisson(rng: Array, self: Array) -> Array:
    """poisson(Tensor self, Generator? generator=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    dtype, self = DEFAULT(self)
    return cast(jax.random.poisson(rng, lax.stop_gradient(self), dtype=INT64), dtype)


def poisson__checks(rng: Array, self: Array) -> tuple[Array, ...]:
    """The conditions of poisson; its row of the table has their errors."""
    return (jnp.all(self >= 0),)


def multinomial__checks(rng: Array, self: Array, num_samples: int, replacement: bool = False) -> tuple[Array, ...]:
    """The conditions of multinomial; its row of the table has their errors."""
    return (jnp.all((self >= 0) & (self < jnp.inf)), jnp.all(jnp.sum(self, axis=-1) > 0))


def rand__generator(rng: Array, size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.rand(rng, size, dtype=dtype)


def rand_like(rng: Array, self: Array, *, dtype: DType | None = None) -> Array:
    """rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.rand(rng, self.shape, dtype=dtype or self.dtype)


def rand_like__generator(rng: Array, self: Array, *, dtype: DType | None = None) -> Array:
    """rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.rand(rng, self.shape, dtype=dtype or self.dtype)


def randn__generator(rng: Array, size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randn(rng, size, dtype=dtype)


def randn_like(rng: Array, self: Array, *, dtype: DType | None = None) -> Array:
    """randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randn(rng, self.shape, dtype=dtype or self.dtype)


def randn_like__generator(rng: Array, self: Array, *, dtype: DType | None = None) -> Array:
    """randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randn(rng, self.shape, dtype=dtype or self.dtype)


def normal__float_float(
    rng: Array, mean: ArrayLike, std: ArrayLike, size: Sequence[int], *, dtype: DType | None = None
) -> Array:
    """normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return normal_functional(rng, jnp.zeros(tuple(size), dtype), mean, std)


def normal__float_float__checks(
    rng: Array, mean: ArrayLike, std: ArrayLike, size: Sequence[int], *, dtype: DType | None = None
) -> tuple[Array, ...]:
    """The conditions of normal.float_float; its row of the table has their errors."""
    return (checks.std_not_negative(std),)


def randint__low_generator(
    rng: Array, low: int, high: int, size: Sequence[int], *, dtype: DType | None = INT64
) -> Array:
    """randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=long,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint(rng, low, high, size, dtype=dtype)


def randint(rng: Array, high: int, size: Sequence[int], *, dtype: DType | None = INT64) -> Array:
    """randint(SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint(rng, 0, high, size, dtype=dtype)


def randint__generator(rng: Array, high: int, size: Sequence[int], *, dtype: DType | None = INT64) -> Array:
    """randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=long, Layout?
        layout=None, Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint(rng, 0, high, size, dtype=dtype)


def randint_like(rng: Array, self: Array, high: int, *, dtype: DType | None = None) -> Array:
    """randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint(rng, 0, high, self.shape, dtype=dtype or self.dtype)


def randint_like__generator(rng: Array, self: Array, high: int, *, dtype: DType | None = None) -> Array:
    """randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout?
        layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint(rng, 0, high, self.shape, dtype=dtype or self.dtype)


def randint_like__Tensor__checks(
    rng: Array, self: Array, high: Array, *, dtype: DType | None = None
) -> tuple[Array, ...]:
    """The conditions of randint_like.Tensor; its row of the table has their errors."""
    return (checks.high_above_zero(high),)


def randint_like__Tensor_generator(rng: Array, self: Array, high: Array, *, dtype: DType | None = None) -> Array:
    """randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, ScalarType? dtype=None, Layout?
        layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint_like(rng, self, high, dtype=dtype)


def randint_like__Tensor_generator__checks(
    rng: Array, self: Array, high: Array, *, dtype: DType | None = None
) -> tuple[Array, ...]:
    """The conditions of randint_like.Tensor_generator; its row of the table has their errors."""
    return (checks.high_above_zero(high),)


def randint_like__low_dtype(rng: Array, self: Array, low: int, high: int, *, dtype: DType | None = None) -> Array:
    """randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint(rng, low, high, self.shape, dtype=dtype or self.dtype)


def randint_like__low_generator_dtype(
    rng: Array, self: Array, low: int, high: int, *, dtype: DType | None = None
) -> Array:
    """randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, ScalarType?
        dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None)
        -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randint(rng, low, high, self.shape, dtype=dtype or self.dtype)


def randperm__generator(rng: Array, n: int, *, dtype: DType | None = INT64) -> Array:
    """randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/random.yaml
    """
    return random_kernels.randperm(rng, n, dtype=dtype)


def native_dropout_backward(grad_output: Array, mask: Array, scale: ArrayLike) -> Array:
    """native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor

    Spec: ops_spec/random.yaml
    """
    dtype, grad_output, scale = INT_TO_FLOAT(grad_output, scalars=(scale,))
    return cast(grad_output * (cast(mask, grad_output.dtype) * scale), dtype)


def _masked_scale(self: Array, mask: Array, scale: ArrayLike) -> Array:
    """_masked_scale(Tensor self, Tensor mask, float scale) -> Tensor

    Spec: ops_spec/random.yaml
    """
    dtype, self, scale = DEFAULT(self, scalars=(scale,))
    return cast(self * jnp.where(mask != 0, scale, 0), dtype)
