"""The functions that spec expressions may use: torch's type promotion and axis conventions on JAX arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from tenax.platforms import platform

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
FLOAT8_E4M3FN = np.dtype(jnp.float8_e4m3fn)
FLOAT8_E8M0FNU = np.dtype(jnp.float8_e8m0fnu)


class Number:
    """A Python number in a lowering: `value` keeps its full precision, `dtype` is its dtype in torch. `negative` is
    its sign if the spec asks for it."""

    __slots__ = ("dtype", "negative", "value")

    def __init__(self, value: Any, dtype: DType, negative: bool = False) -> None:
        self.value = value
        self.dtype = dtype
        self.negative = negative

    def __jax_array__(self) -> Array:
        return jnp.asarray(self.value, dtype_of(self.value) if not hasattr(self.value, "dtype") else self.value.dtype)

    def astype(self, dtype: Any) -> Array:
        """The number as a 0-d array of `dtype`."""
        return cast(self.value, dtype)


jax.tree_util.register_pytree_node(
    Number, lambda x: ((x.value,), (x.dtype, x.negative)), lambda known, values: Number(*values, *known)
)


def _level(dtype: DType) -> int:
    """Torch's order of kinds: bool < integer < float < complex."""
    if dtype == BOOL:
        return 0
    if jnp.issubdtype(dtype, np.integer):
        return 1
    return 3 if jnp.issubdtype(dtype, np.complexfloating) else 2


def is_negative(x: Any) -> bool:
    """Whether a Python number is negative or NaN; for a `Number`, only if the spec asks for its sign."""
    return x.negative if isinstance(x, Number) else not isinstance(x, complex) and not x >= 0


def is_complex(x: Any) -> bool:
    """Whether the array or dtype is complex."""
    return _level(dtype_of(x)) == 3


def is_float(x: Any) -> bool:
    """Whether the array or dtype is a real floating type."""
    return _level(dtype_of(x)) == 2


def is_int(x: Any) -> bool:
    """Whether the array or dtype is an integer type; bool is not."""
    return _level(dtype_of(x)) == 1


def extremes(dtype: DType) -> tuple[Any, Any]:
    """The least and the greatest value of a dtype that is not complex: of floats, the infinities."""
    if is_float(dtype):
        return -np.inf, np.inf
    return (False, True) if dtype == BOOL else (np.iinfo(dtype).min, np.iinfo(dtype).max)


# From torch 2.15 on, bounds beyond the range of an integer dtype are its limits, and operands share gradients of ties.
TORCH = tuple(map(int, metadata.version("torch").split(".")[:2]))
SINCE_2_15 = TORCH >= (2, 15)
_default_float: ContextVar[DType] = ContextVar("default float", default=FLOAT32)


def default_float() -> DType:
    """The dtype of a Python float: torch's default dtype at the start of the trace."""
    return _default_float.get()


@contextmanager
def _set(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """Set a variable for a trace."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


default_float_is = partial(_set, _default_float)


def product_precision(dtype: DType = FLOAT32) -> str | None:
    """The precision of products of `dtype` in the current trace; None for JAX's default.

    The settings of torch and JAX concern float32. For narrower operands XLA ignores them, but the compiler of TPU
    kernels, which compute attention and grouped products, raises an error.
    """
    setting: str | None = jax.config.jax_default_matmul_precision  # type: ignore[attr-defined, unused-ignore]
    return "default" if dtype in (FLOAT16, BFLOAT16) else setting


# The number of devices that the arrays of the current trace may be on.
mesh_devices: ContextVar[int] = ContextVar("devices of the mesh", default=1)
over_devices = partial(_set, mesh_devices)


def dtype_of(x: Any) -> DType:
    """The dtype of an array, a `Number`, a Python number or a dtype, according to torch."""
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
    """Map complex64 to float32 and complex128 to float64; others are unchanged."""
    dtype = np.dtype(dtype)
    parts: dict[DType, DType] = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
    return parts.get(dtype, dtype)


# torch supports these dtypes mainly for interchange, and promotes them only with floats.
_UNPROMOTED = frozenset(np.dtype(name) for name in ("uint16", "uint32", "uint64"))


def _complex(dtype: DType) -> DType:
    """The complex dtype for a float dtype; for bfloat16 it is complex64."""
    if dtype == FLOAT16:
        raise NotImplementedError("float16 and a complex number: the result is complex32, which JAX does not have")
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
        previous = best[rank]
        best[rank] = dtype if previous is None else promote_types(previous, dtype)
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
    """Convert an array, `Number` or Python number to `dtype`.

    Complex to real keeps the real part; to bool, a number is true unless it is 0. To an integer of less than 32 bits,
    or an unsigned one, a float wraps around as on the CPU, where XLA would saturate: 300.7 becomes 44 in uint8. To
    float8_e4m3fn, which has no infinity, larger numbers become the largest. float8_e8m0fnu has no sign and no zero: 0
    becomes its least number.
    """
    dtype = np.dtype(dtype)
    if isinstance(x, Number):
        x = x.value
    if not hasattr(x, "dtype"):
        if type(x) is int and dtype.kind in "iu":  # wraps around, like a conversion
            bits = 8 * dtype.itemsize
            x %= 1 << bits
            x -= (x >> (bits - 1) << bits) * (dtype.kind == "i")
        return lax.full((), x, dtype)  # jnp.asarray converts a number to 32 bits first
    if x.dtype == dtype and not getattr(x, "weak_type", False):
        return x
    if dtype == BOOL:
        return truth(x)
    if is_complex(x) and not is_complex(dtype):
        x = real(x)
    if dtype == FLOAT8_E4M3FN:
        most = np.float32(jnp.finfo(dtype).max)
        x = lax.clamp(-most, lax.convert_element_type(x, FLOAT32), most)
    if dtype == FLOAT8_E8M0FNU:
        x = lax.convert_element_type(x, FLOAT32)
        x = jnp.where(x == 0, np.float32(2.0**-127), lax.abs(x))
    if dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 4):
        x = _wrapped(x, dtype) if is_float(x) else x
    return lax.convert_element_type(x, dtype)


def tied(grad: Array, chosen: Array, tie: Array, before: float, share: float = 0.5) -> Array:
    """The gradient of an operand that is chosen or not; of a tie it takes a share, in torch 2.13 and 2.14 `before`."""
    part = share if SINCE_2_15 else before
    return jnp.where(chosen, grad, jnp.where(tie, grad * part, 0) if part else 0)


@jax.custom_jvp
def real(x: Array) -> Array:
    """The real part; JAX's derivative of `lax.real` raises for complex128 if its 64-bit types are off."""
    return lax.real(x) if is_complex(x) else x


@jax.custom_jvp
def imag(x: Array) -> Array:
    """The imaginary part, with a derivative as that of `real`."""
    return lax.imag(x)


def _real_tangent(t: Array) -> Array:
    dtype = real_dtype(t.dtype)
    return lax.convert_element_type_p.bind(t, new_dtype=dtype, weak_type=False, sharding=None)


real.defjvp(lambda primals, tangents: (real(*primals), _real_tangent(*tangents)))


@imag.defjvp
def _imag_jvp(primals: Any, tangents: Any) -> Any:
    with jax.enable_x64(True):
        return imag(*primals), _real_tangent(tangents[0] * jnp.asarray(-1j, tangents[0].dtype))


def _wrapped(x: Array, dtype: DType) -> Array:
    """A float as an integer that `dtype` wraps around: of 32 bits, or of 64 for wider ones.

    What this integer does not hold becomes 0. Numbers from 2**63 that uint64 holds are left.
    """
    wide: DType = np.dtype(np.int32) if dtype.itemsize < 4 else INT64
    x = lax.convert_element_type(x, FLOAT32) if x.dtype.itemsize < 4 else x
    held = jnp.abs(x) < jnp.asarray(2.0 ** (8 * wide.itemsize - 1), x.dtype)
    whole = lax.convert_element_type(jnp.where(held, x, jnp.zeros((), x.dtype)), wide)
    if dtype.itemsize < 8:
        return whole
    return jnp.where(x < 0, lax.convert_element_type(whole, dtype), lax.convert_element_type(x, dtype))


def _converted(x: Any, dtype: DType) -> Array:
    """`cast`, except that a bool mask becomes 1 and 0 by a select.

    XLA turns a product with a converted mask into a select between the other factor and 0. This is wrong, because
    infinity times 0 is NaN and -1 times 0 is -0.
    """
    mask = x.value if isinstance(x, Number) else x
    if dtype.kind in "biu" or getattr(mask, "dtype", None) != BOOL:
        return cast(x, dtype)
    return lax.select(mask, lax.full_like(mask, 1, dtype), lax.full_like(mask, 0, dtype))


def _same(dtype: DType) -> DType:
    return dtype


def _promoted(
    *tensors: Any,
    scalars: Sequence[Any] = (),
    common: Callable[[DType], DType] = _same,
    compute: Callable[[DType], DType] = opmath,
    result: Callable[[DType], DType] = _same,
) -> tuple[Any, ...]:
    """Return the result dtype, and the arguments in the compute dtype, both functions of their common dtype."""
    dtype = common(result_type(*tensors))
    wide = compute(dtype)
    return (result(dtype), *[x if x is None else _converted(x, wide) for x in (*tensors, *scalars)])


# The kinds of promotion, by torch's names. Sums have INT_TO_LONG.
DEFAULT = partial(_promoted)
NO_OPMATH = partial(_promoted, compute=_same)
INT_TO_FLOAT = partial(_promoted, common=lambda dtype: default_float() if _level(dtype) < 2 else dtype)
ALWAYS_BOOL = partial(_promoted, compute=_same, result=lambda dtype: BOOL)
COMPLEX_TO_FLOAT = partial(_promoted, result=real_dtype)
BOOL_TO_LONG = partial(_promoted, common=lambda dtype: INT64 if dtype == BOOL else dtype)
INT_TO_LONG = partial(_promoted, common=lambda dtype: INT64 if _level(dtype) < 2 else dtype)


def SATURATE(*tensors: Any, scalars: Sequence[Any] = ()) -> tuple[Any, ...]:  # noqa: N802
    """Like NO_OPMATH; from torch 2.15 on, numbers beyond the range of an integer dtype become its least or greatest."""
    dtype = result_type(*tensors)
    arguments = (*tensors, *scalars)
    if dtype.kind in "iu" and SINCE_2_15:
        arguments = tuple(_limited(x, dtype) if isinstance(x, Number) else x for x in arguments)
    return (dtype, *[x if x is None else _converted(x, dtype) for x in arguments])


def _limited(x: Number, dtype: DType) -> Array:
    """A number within the range of an integer dtype, as int64 or float64."""
    wide, most = (FLOAT64, 2**63 - 1024) if _level(x.dtype) == 2 else (INT64, 2**63 - 1)
    limits = np.iinfo(dtype)
    return jnp.clip(cast(x, wide), wide.type(limits.min), wide.type(min(limits.max, most)))


def root(x: Array) -> Array:
    """The square root of a norm or a deviation. Its derivative at 0 is 0, as in torch; that of `lax.sqrt` gives NaN."""
    zero = x == 0
    return jnp.where(zero, lax.stop_gradient(x), lax.sqrt(jnp.where(zero, jnp.ones_like(x), x)))


def place(index: int) -> np.integer:
    """A static index as int32, or as int64 if it does not fit.

    With 64-bit types off, JAX (0.10) fails to lower a batched slice at an int64 index.
    """
    return np.int32(index) if index < 1 << 31 else np.int64(index)


def axis(x: Array, dim: int) -> int:
    """One non-negative axis; as in torch, a 0-d array has an axis 0.

    Raises:
        IndexError: there is no such axis.
    """
    rank = max(x.ndim, 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def window_operand(x: Array) -> Array:
    """`x` as the operand of a reduction over windows that pads, behind a barrier.

    XLA merges a preceding `pad` into such a reduction, and gives wrong sums if that pads an axis of one element by
    equal amounts on both sides: compiled, `jnp.cumsum(lax.pad(jnp.ones((1, 2)), 0.0, [(1, 1, 0), (0, 0, 0)]), 0)` has
    ones in its first row.
    """
    return lax.optimization_barrier(x)


def axes(x: Array, dims: int | Sequence[int] | None) -> tuple[int, ...]:
    """Non-negative axes; `None` or an empty list means all of them, and a 0-d array has none.

    Raises:
        IndexError: there is no such axis.
    """
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        return tuple(range(x.ndim))
    found = tuple(axis(x, d) for d in ((dims,) if isinstance(dims, int) else dims))
    return found if x.ndim else ()


def truth(x: Array) -> Array:
    """Elementwise `x != 0` as bool; NaN is true."""
    return x if x.dtype == BOOL else x != cast(0, x.dtype)


def numel(x: Array, dims: int | Sequence[int] | None = None) -> int:
    """The number of elements over the given axes."""
    return math.prod(x.shape[d] for d in axes(x, dims))


def reduce_over(
    reduction: Callable[..., Array], x: Array, dims: int | Sequence[int] | None = None, keepdim: bool = False
) -> Array:
    """A reduction of `lax`, such as `lax.reduce_max`, over `dims` (see `axes`); `keepdim` keeps them with length 1.

    The reductions of `jnp` take one and a half times as long to trace.
    """
    over = axes(x, dims)
    value = reduction(x, over)
    return lax.expand_dims(value, over) if keepdim and over else value


def reduce_sum(x: Array, dims: int | Sequence[int] | None = None, keepdim: bool = False) -> Array:
    """The sum over the given axes in the dtype of `x`; bools are combined by `or`, as in torch."""
    return reduce_over(lax.reduce_or if x.dtype == BOOL else lax.reduce_sum, x, dims, keepdim)


def reduce_prod(x: Array, dims: int | Sequence[int] | None = None, keepdim: bool = False) -> Array:
    """The product over the given axes in the dtype of `x`; bools are combined by `and`, as in torch."""
    return reduce_over(lax.reduce_and if x.dtype == BOOL else lax.reduce_prod, x, dims, keepdim)


NONE, MEAN, SUM = 0, 1, 2  # `at::Reduction::Reduction`, which the schemas of losses call `reduction`


def reduced(losses: Array, reduction: int, weight: Array | None = None) -> Array:
    """Reduce losses, first multiplied by `weight` if given: unreduced, their mean (NaN if empty) or their sum."""
    losses = losses if weight is None else losses * weight
    if reduction == NONE:
        return losses
    total = lax.reduce_sum(losses, axes(losses, None))
    return total / losses.size if reduction == MEAN else total


def reduced_backward(grad_output: Array, slope: Array, reduction: int, weight: Array | None = None) -> Array:
    """The gradient of `reduced`, given the derivative `slope` of the losses."""
    slope = slope if weight is None else slope * weight
    return grad_output * slope / slope.size if reduction == MEAN and slope.size else grad_output * slope


FEW_ROWS = 32  # maximum rows for which CPUs get a product with an (out, in) matrix rewritten (product_rewrite.py)


def contract(
    a: Array, b: Array, left: Sequence[int], right: Sequence[int], batch: int = 0, dtype: DType | None = None
) -> Array:
    """Contract the axes `left` of `a` with the axes `right` of `b`; the first `batch` axes of both are batch axes.

    Float16 and bfloat16 accumulate in float32; integers wrap. With `dtype` the sum is in that dtype, unrounded.

    Raises:
        RuntimeError: the dtypes differ, which Meta kernels do not check.
        NotImplementedError: the dtype is bool.
    """
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}")
    if a.dtype == BOOL:
        raise NotImplementedError('"addmm_impl" not implemented for bool; expected a number dtype')
    along = tuple(range(batch))
    return lax.dot_general(a, b, ((left, right), (along, along)), preferred_element_type=dtype)


def term_dtype(dtype: DType) -> DType | None:
    """The dtype in which `contract` returns a product that is scaled or added to, which torch rounds once.

    XLA's CPU backend rounds float16 products, and on JAX 0.12 those of bfloat16. Elsewhere the compiler chooses,
    because an unrounded product takes twice the memory where it is not merged with the sum.
    """
    wide = opmath(dtype)
    return wide if wide != dtype and platform() == "cpu" else None


def axpby(alpha: Any, x: Array, beta: Any, y: Array, dtype: DType | None = None) -> Array:
    """`alpha * x + beta * y` of a product `x`, in the dtype of `y` or in `dtype`; 0 and 1 are Python numbers.

    `y` is broadcast to x's shape; with `beta` 0 it is ignored, NaNs included. Uses `lax` functions because array
    operators first promote dtypes, and take several times as long to trace.
    """
    x = cast(x, opmath(x.dtype))
    add, mul = (jnp.logical_or, jnp.logical_and) if x.dtype == BOOL else (lax.add, lax.mul)
    x = x if alpha == 1 else mul(x, cast(alpha, x.dtype))
    if beta == 0:
        return cast(jnp.broadcast_to(x, jnp.broadcast_shapes(y.shape, x.shape)), dtype or y.dtype)
    if x.ndim > 1 and x.shape[-2] == 1:
        # XLA's CPU backend (jaxlib 0.10) would fuse the sum into a matrix-vector product, and for that would copy a
        # transposed matrix.
        x = lax.optimization_barrier(x)
    result = dtype or y.dtype
    y = cast(y, x.dtype)
    y = y if beta == 1 else mul(y, cast(beta, x.dtype))
    return cast(add(x, lax.expand_dims(y, range(x.ndim - y.ndim)) if y.ndim else y), result)


class UnknownSizeError(jax.errors.ConcretizationTypeError):
    """The size of a result depends on data and is unknown while tracing."""

    def __init__(self, count: jax.core.Tracer, instead: str) -> None:
        super().__init__(count, f"The result's shape depends on data. Within jit, {instead}.")
        self.instead = instead


def extent(count: Any, instead: str) -> int:
    """Convert a count to a Python int, to be used as the size of a result.

    Raises:
        UnknownSizeError: the count is traced. The message recommends `instead`.
    """
    if isinstance(count, jax.core.Tracer):
        raise UnknownSizeError(count, instead)
    return int(count)


# The conditions that lowerings assume in the current trace, with their errors. The program returns the conditions as
# extra results, and a false one raises its error.
promises: ContextVar[list[tuple[Array, str]] | None] = ContextVar("promises", default=None)


def may_assume(holds: Any, error: str) -> bool:
    """Whether a lowering may assume a condition: it holds, or the traced program will check it when it runs."""
    if not isinstance(holds, jax.core.Tracer):
        return bool(holds)
    assumptions = promises.get()
    if assumptions is None:
        return False
    assumptions.append((holds, error))
    return True


def double(x: Any) -> Any:
    """On CPUs, convert float32 to float64, for special functions whose float32 formulas lose digits near zeros.

    Other platforms keep float32: TPUs emulate float64 with hundreds of operations a function, and GPUs are slow in it.
    """
    return cast(x, FLOAT64) if getattr(x, "dtype", None) == FLOAT32 and platform() == "cpu" else x


def as_long(x: Any) -> Array:
    """Convert to int64, torch's index dtype."""
    return cast(x, INT64)


def within(index: Any, start: int, end: int) -> Any:
    """Whether all of the integers satisfy start <= index < end, as a 0-d bool array.

    If the range is empty and there are integers, the result is the Python value False: the shapes alone decide that
    the call is an error, which is raised while tracing.
    """
    return False if index.size and start >= end else jnp.all((index >= start) & (index < end))


def all_within(indices: Sequence[Array | None], shape: Sequence[int]) -> Any:
    """Whether `indices` are in bounds for an array of `shape`; see `within`.

    For an empty result any indices are in bounds, except non-empty indices into an axis of length 0."""
    places = [(i, n) for i, n in zip(indices, shape, strict=False) if i is not None]
    if 0 in jnp.broadcast_shapes(*(i.shape for i, _ in places)):
        return True
    if any(n == 0 for _, n in places):
        return False
    return 0 in shape or jnp.all(jnp.stack([within(i, -n, n) for i, n in places]))


Gradients = dict[str, Callable[[], Any]]


def with_derivative(value: Callable[..., Any], gradients: Callable[..., Gradients], **arrays: Any) -> Any:
    """`value(**arrays)`, with a derivative of its own, in either mode and of any order.

    `gradients(grad, result, **arrays)` returns by name functions that compute gradients, linear in `grad`, as torch
    defines them: for complex numbers, the conjugates of JAX's. `"self, other"` names two, whose function returns both.
    They are summed over axes that were broadcast. `grad` has the structure of `result`, with None in place of integers.
    Arrays without a gradient keep JAX's derivative.
    """
    # What is known, such as None or a Python number, stays so.
    known = {n: a for n, a in arrays.items() if not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(a))}
    traced = {n: a for n, a in arrays.items() if n not in known}
    if not any(map(_is_smooth, jax.tree.leaves(traced))):
        return value(**arrays)
    function = jax.custom_jvp(lambda traced: value(**traced, **known))
    floats, precision = default_float(), product_precision()

    def jvp(primals: Any, tangents: Any) -> Any:
        with jax.enable_x64(True), default_float_is(floats), jax.default_matmul_precision(precision):
            return rule(primals, tangents)

    def rule(primals: Any, tangents: Any) -> Any:
        held, result = {**primals[0], **known}, function(*primals)
        moving = {n: t for n, t in tangents[0].items() if not all(map(_is_zero, jax.tree.leaves(t)))}
        moving = {n: jax.tree.map(_instantiated, t) for n, t in moving.items()}
        leaves, tree = jax.tree.flatten(result)
        smooth = [leaf for leaf in leaves if _is_smooth(leaf)]
        named: list[str] = []

        def pull(cotangents: Sequence[Array]) -> dict[str, Any]:
            rest = iter(cotangents)
            grad = jax.tree.unflatten(tree, [_conj(next(rest)) if _is_smooth(x) else None for x in leaves])
            found: dict[str, Any] = {}
            for key, compute in gradients(grad, result, **held).items():
                names = key.split(", ")
                if not moving.keys().isdisjoint(names):
                    found |= zip(names, compute() if len(names) > 1 else [compute()], strict=True)
            named[:] = [n for n in found if n in moving]
            return {n: jax.tree.map(_gradient, held[n], found[n]) for n in named}

        transposed = jax.linear_transpose(pull, smooth)
        (changes,) = transposed({n: moving.pop(n) for n in named})
        if moving:
            here = {n: held[n] for n in moving}
            others = jax.jvp(lambda some: value(**{**held, **some}), (here,), (moving,))[1]
            others = [t for t in jax.tree.leaves(others) if t.dtype != jax.dtypes.float0]
            changes = jax.tree.map(lax.add, changes, others)
        each = iter(changes)
        tangent = [next(each) if _is_smooth(x) else np.zeros(x.shape, jax.dtypes.float0) for x in leaves]
        return result, jax.tree.unflatten(tree, tangent)

    function.defjvp(jvp, symbolic_zeros=True)
    return function(traced)


def _is_smooth(x: Any) -> bool:
    return is_float(x) or is_complex(x)


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, SymbolicZero)


def _instantiated(tangent: Any) -> Any:
    return jnp.zeros(tangent.shape, tangent.dtype) if _is_zero(tangent) else tangent


def _conj(x: Array) -> Array:
    return lax.conj(x) if is_complex(x) else x


def _gradient(x: Array, grad: Any) -> Array:
    """A gradient of torch as one of JAX, of the shape and dtype of `x`."""
    grad = _conj(cast(grad, x.dtype))
    added = max(grad.ndim - x.ndim, 0)
    grad = lax.reduce_sum(grad, range(added))
    axes = [i for i in range(grad.ndim) if grad.shape[i] != 1 == x.shape[i - grad.ndim]]
    grad = lax.expand_dims(lax.reduce_sum(grad, axes), axes)
    return jnp.broadcast_to(grad, x.shape)


def not_implemented(name: str) -> Any:
    """Stands for a derivative that torch does not implement, and raises its error."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented")
