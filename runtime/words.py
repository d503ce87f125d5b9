"""The word list of the specs: torch's type promotion and axis conventions as functions of JAX arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = jax.Array
DType = np.dtype

BOOL = np.dtype(bool)
INT64 = np.dtype("int64")
FLOAT16 = np.dtype("float16")
FLOAT32 = np.dtype("float32")
FLOAT64 = np.dtype("float64")
COMPLEX64 = np.dtype("complex64")
COMPLEX128 = np.dtype("complex128")
BFLOAT16 = np.dtype(jnp.bfloat16)


class Number:
    """A Python number in a lowering: `value` keeps its full precision, `dtype` is the one torch gives the number."""

    __slots__ = ("dtype", "value")

    def __init__(self, value: Any, dtype: DType) -> None:
        self.value = value
        self.dtype = dtype

    def __jax_array__(self) -> Array:
        return jnp.asarray(self.value, dtype_of(self.value) if not hasattr(self.value, "dtype") else self.value.dtype)

    def astype(self, dtype: Any) -> Array:
        """The number as a 0-d array of `dtype`."""
        return cast(self.value, dtype)


def _level(dtype: DType) -> int:
    """Torch's order of kinds: bool < integer < float < complex."""
    if dtype == BOOL:
        return 0
    if jnp.issubdtype(dtype, np.integer):
        return 1
    return 3 if jnp.issubdtype(dtype, np.complexfloating) else 2


def is_complex(x: Any) -> bool:
    """Whether the array or dtype is complex."""
    return _level(dtype_of(x)) == 3


def is_float(x: Any) -> bool:
    """Whether the array or dtype is a real floating type."""
    return _level(dtype_of(x)) == 2


def is_int(x: Any) -> bool:
    """Whether the array or dtype is an integer type; bool is not."""
    return _level(dtype_of(x)) == 1


_default_float: ContextVar[DType] = ContextVar("default float", default=FLOAT32)


def default_float() -> DType:
    """What a float is that nothing else gives a dtype: torch's default dtype when the trace began."""
    return _default_float.get()


@contextmanager
def default_float_is(dtype: DType) -> Iterator[None]:
    """Set `default_float` for a trace."""
    token = _default_float.set(dtype)
    try:
        yield
    finally:
        _default_float.reset(token)


def dtype_of(x: Any) -> DType:
    """The dtype torch sees: of an array, a `Number`, a Python number or a dtype."""
    if isinstance(x, bool):
        return BOOL
    if isinstance(x, int):
        return INT64
    if isinstance(x, float):
        return default_float()
    if isinstance(x, complex):
        return np.dtype(f"complex{default_float().itemsize * 16}")
    return np.dtype(getattr(x, "dtype", x))


def opmath(dtype: Any) -> DType:
    """The dtype torch computes in: float16 and bfloat16 widen to float32 (`at::OpMathType`)."""
    dtype = np.dtype(dtype)
    return FLOAT32 if _level(dtype) == 2 and dtype.itemsize < 4 else dtype


def real_dtype(dtype: Any) -> DType:
    """complex64 to float32, complex128 to float64, others unchanged."""
    dtype = np.dtype(dtype)
    parts: dict[DType, DType] = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
    return parts.get(dtype, dtype)


# Torch has these for what other programs wrote, and promotes them with floats only.
_UNPROMOTED = frozenset(np.dtype(name) for name in ("uint16", "uint32", "uint64"))


def _complex(dtype: DType) -> DType:
    """The complex type whose parts have a float dtype; bfloat16's are float32."""
    if dtype == FLOAT16:
        raise NotImplementedError("float16 and a complex number: torch gives complex32, which JAX does not have")
    return COMPLEX128 if dtype == FLOAT64 else COMPLEX64


def promote_types(a: DType, b: DType) -> DType:
    """`torch.promote_types` (c10/core/ScalarType.cpp)."""
    if a == b:
        return a
    if _level(a) > _level(b):
        a, b = b, a
    if _level(b) != 2 and not {a, b}.isdisjoint(_UNPROMOTED):
        message = "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote"
        raise RuntimeError(f"{message} {a} and {b}")
    if _level(b) == 3:
        wide = a in (FLOAT64, COMPLEX128) or b == COMPLEX128
        return COMPLEX128 if wide else COMPLEX64
    if _level(a) < _level(b):
        return b
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    # float16 with bfloat16, or int8 with uint8.
    return FLOAT32 if _level(a) == 2 else np.dtype("int16")


def result_type(*args: Any) -> DType:
    """`torch.result_type` of arrays and numbers: dimensioned tensors, then 0-dim tensors, then numbers decide."""
    best: list[DType | None] = [None, None, None]
    for x in args:
        if x is None:
            continue
        ndim = getattr(x, "ndim", None)
        rank = 2 if ndim is None else (0 if ndim else 1)
        dtype = dtype_of(x)
        held = best[rank]
        best[rank] = dtype if held is None else promote_types(held, dtype)
    result: DType | None = None
    for dtype in [d for d in best if d is not None]:
        if result is None:
            result = dtype
        elif _level(dtype) > _level(result):
            if _level(dtype) < 3:
                result = promote_types(result, dtype)
            else:
                result = _complex(result) if _level(result) == 2 else dtype
    if result is None:
        raise TypeError("result_type: no argument has a dtype")
    return result


def cast(x: Any, dtype: Any) -> Array:
    """Convert an array, `Number` or Python number to `dtype`; complex to real keeps the real part."""
    dtype = np.dtype(dtype)
    if isinstance(x, Number):
        x = x.value
    if not hasattr(x, "dtype"):
        if x.__class__ is int and dtype.kind in "iu":  # which wraps, as a conversion does
            bits = 8 * dtype.itemsize
            x %= 1 << bits
            x -= (x >> (bits - 1) << bits) * (dtype.kind == "i")
        return lax.full((), x, dtype)  # jnp.asarray takes a number through 32 bits
    if x.dtype == dtype and not getattr(x, "weak_type", False):
        return x
    if _level(np.dtype(x.dtype)) == 3 and _level(dtype) < 3 and dtype != BOOL:
        x = jnp.real(x)
    return lax.convert_element_type(x, dtype)


def _promoted(
    common: DType, compute: DType, result: DType, tensors: Sequence[Any], scalars: Sequence[Any]
) -> tuple[Any, ...]:
    converted = [x if x is None else cast(x, compute) for x in (*tensors, *scalars)]
    return (result, *converted)


def DEFAULT(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802 (torch's names)
    """(result dtype, arguments in the compute dtype)."""
    common = result_type(*tensors)
    return _promoted(common, opmath(common), common, tensors, scalars)


def NO_OPMATH(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802
    """(result dtype, arguments in the common dtype)."""
    common = result_type(*tensors)
    return _promoted(common, common, common, tensors, scalars)


def INT_TO_FLOAT(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802
    """As DEFAULT, with integers and bool made the default float."""
    common = result_type(*tensors)
    common = default_float() if _level(common) < 2 else common
    return _promoted(common, opmath(common), common, tensors, scalars)


def ALWAYS_BOOL(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802
    """Arguments in the common dtype; the result is bool."""
    common = result_type(*tensors)
    return _promoted(common, common, BOOL, tensors, scalars)


def COMPLEX_TO_FLOAT(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802
    """As DEFAULT; a complex result becomes real."""
    common = result_type(*tensors)
    return _promoted(common, opmath(common), real_dtype(common), tensors, scalars)


def BOOL_TO_LONG(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802
    """As DEFAULT, with bool made int64."""
    common = result_type(*tensors)
    common = INT64 if common == BOOL else common
    return _promoted(common, opmath(common), common, tensors, scalars)


def INT_TO_LONG(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802
    """As DEFAULT, with integers and bool made int64, as torch sums them."""
    common = result_type(*tensors)
    common = INT64 if _level(common) < 2 else common
    return _promoted(common, opmath(common), common, tensors, scalars)


@jax.custom_jvp
def root(x: Array) -> Array:
    """The square root of a norm or a deviation: torch takes its derivative at 0 to be 0, where JAX would give NaN."""
    return lax.sqrt(x)


@root.defjvp
def _root_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (t,) = primals, tangents
    zero = x == 0
    slope = jnp.where(zero, jnp.zeros_like(x), lax.rsqrt(jnp.where(zero, jnp.ones_like(x), x)) / 2)
    return root(x), t * slope


def place(index: int) -> np.integer:
    """A static index as small as it can be: JAX (0.10) fails to lower a batched slice at an int64 one, where its 64-bit
    types are off."""
    return np.int32(index) if index < 1 << 31 else np.int64(index)


def axis(x: Array, dim: int) -> int:
    """One non-negative axis; a 0-d array has the axis 0 that torch gives it.

    Raises:
        IndexError: there is no such axis.
    """
    rank = max(x.ndim, 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def axes(x: Array, dims: int | Sequence[int] | None) -> tuple[int, ...]:
    """Non-negative axes; `None` or an empty list means all of them, and a 0-d array has none."""
    if x.ndim == 0:
        return ()
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        return tuple(range(x.ndim))
    return tuple(d % x.ndim for d in ((dims,) if isinstance(dims, int) else dims))


class UnknownSizeError(jax.errors.ConcretizationTypeError):
    """The size of a result is known only when its program runs."""

    def __init__(self, count: jax.core.Tracer, instead: str) -> None:
        super().__init__(count, f"The result's shape depends on data. Within jit, {instead}.")
        self.instead = instead


def extent(count: Any, instead: str) -> int:
    """A count that becomes the size of a result.

    Raises:
        UnknownSizeError: within a trace, where only `instead` is possible.
    """
    if isinstance(count, jax.core.Tracer):
        raise UnknownSizeError(count, instead)
    return int(count)


# What lowerings take for granted in a trace that finds out with its results whether it holds, and the errors if not.
promises: ContextVar[list[tuple[Array, str]] | None] = ContextVar("promises", default=None)


def promised(holds: Any, error: str) -> bool:
    """Whether something may be taken for granted: it holds, or the trace finds out with its results."""
    if not isinstance(holds, jax.core.Tracer):
        return bool(holds)
    taken = promises.get()
    if taken is None:
        return False
    taken.append((holds, error))
    return True


def as_long(x: Any) -> Array:
    """Convert to int64, torch's index dtype."""
    return cast(x, INT64)
