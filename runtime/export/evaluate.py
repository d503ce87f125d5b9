"""Evaluate a graph of functional aten ops by calling the lowerings on JAX arrays, without creating tensors.

Sizes may be symbolic dimensions, as in `jax.export`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import torch
from jax import Array
from torch import fx

from .._torch import pytree
from .._torch.operators import HigherOrderOperator, OpOverload
from ..aten.custom_ops import registered
from ..aten.overrides import composite_of
from ..aten.registry import signature_of
from ..dispatch import jax_call
from ..dispatch.signature import Signature
from ..dtypes import numpy_dtype, torch_dtype
from ..errors import no_lowering
from ..functional.control_flow import CONTROL
from ..functional.keys import DrawKey
from ..functional.pure import run_pure
from ..kernels.bitcast import bitcast
from ..kernels.indexing import put_where
from ..storage import views
from ..storage.avals import contiguous_strides
from ..storage.placement import no_jax_trace
from ..storage.spec import TensorSpec
from ..trace.async_errors import condition_error
from ..trace.transfer import read
from ..words import FLOAT64, Number, cast

_INT64 = np.dtype(np.int64)
Size = Sequence[Any]  # ints and symbolic dimensions


class Evaluator(fx.Interpreter):
    """`fx.Interpreter` on JAX arrays; `run` returns the outputs of the graph in their structure.

    Raises:
        NotImplementedError: in `run`, an op has no lowering, or the shape of its result depends on data. The message
            names the op.
    """

    def __init__(self, module: fx.GraphModule, draw: DrawKey) -> None:
        """
        Args:
            module: a functional graph of aten ops, with the fake tensor of each result in `meta["val"]`.
            draw: returns the key data for each random operation.
        """
        super().__init__(module)
        self.draw = draw

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Read a constant or a subgraph of the graph."""
        value = super().get_attr(target, args, kwargs)
        return read(value) if isinstance(value, torch.Tensor) else value

    def run_node(self, n: fx.Node) -> Any:
        """Evaluate one node, and check its result against torch's fake tensor."""
        self.node = n
        with _naming(n):
            result = super().run_node(n)
        if n.op == "call_function":
            _check(n, result)
        return result

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Evaluate an op, a function of sizes, or a control flow operator."""
        if isinstance(target, OpOverload):
            return self.lowered(target, args, dict(kwargs))
        if target is torch.ops.higher_order.with_effects:  # (token, op, ...): a pure program has no effects to order
            result = self.call_function(args[1], args[2:], kwargs)
            return (args[0], *result) if isinstance(result, tuple) else (args[0], result)
        if target in CONTROL:
            return CONTROL[target](self, *args, **kwargs)
        if isinstance(target, HigherOrderOperator):
            raise NotImplementedError(
                f"{target}: there is no JAX equivalent yet; expected one of {[str(c) for c in CONTROL]}"
            )
        if any(isinstance(a, jax.Array) and a.dtype != bool for a in args):  # a number computed from sizes
            args = tuple(map(real, args))
        return SIZES.get(target, target)(*args, **kwargs)

    def nested(self, module: fx.GraphModule, *args: Any) -> Any:
        """Evaluate a subgraph."""
        return Evaluator(module, self.draw).run(*args)

    def lowered(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the lowering of an op with arrays."""
        name = op.name().removeprefix("aten::")
        function = FUNCTIONS.get(name) or FUNCTIONS.get(name.replace("_copy", "", 1))  # every view is a copy here
        if function is not None:
            return function(*args, **kwargs)
        if name == "tenax::call":
            return list(jax_call.function_of_number(args[0])(*args[1]))
        if name == "tenax::key":
            return self.draw(None)
        composite = composite_of(op.name())
        if composite is not None:
            return run_pure(composite, args, kwargs, self.draw)
        signature: Signature | None = registered(op.name())
        if signature is None:
            try:
                signature = signature_of(name)
            except KeyError:
                raise no_lowering(op.name()) from None
        row = signature.row
        if row.dynamic:
            raise NotImplementedError(
                f"{name}: the shape of its result depends on data, which a JAX program does not support"
            )
        values = [_argument(s.kind, v) for s, v in zip(signature.arguments, signature.bind(args, kwargs), strict=True)]
        if name in _INDEXING and any(i is not None and i.dtype in _MASK for i in values[1]):
            return _masked(name, values)
        keywords = signature.parameters(values)
        if "dtype" in signature.names and "device" in signature.names and keywords.get("dtype") is None:
            keywords["dtype"] = numpy_dtype(self.node.meta["val"].dtype)
        if row.random:
            key = jnp.zeros(2, np.uint32) if signature.is_idle(values) else self.draw(None)
            keywords["rng"] = jax.random.wrap_key_data(key)
        if row.checks and no_jax_trace():
            for holds, (kind, message) in zip(signature.checks(**keywords), signature.errors(values), strict=True):
                if not holds:
                    raise condition_error(kind, message)
        result = signature.lowering(**keywords)
        if not signature.returns:
            return None
        return signature.packed(list(result) if isinstance(result, (tuple, list)) else [result])


def _argument(kind: str, value: Any) -> Any:
    """Convert an argument to the form that lowerings expect."""
    if isinstance(value, torch.dtype):
        return numpy_dtype(value)
    if kind in ("number", "tensor") and jax.export.is_symbolic_dim(value):
        return Number(jnp.asarray(value, _INT64), _INT64)
    if kind == "number" and isinstance(value, jax.Array):
        return Number(value, FLOAT64)
    if isinstance(value, (list, tuple)):
        return [_argument("", v) for v in value]
    return value


_INDEXING = {"index.Tensor", "index_put", "_unsafe_index.Tensor", "_unsafe_index_put"}
_MASK = {np.dtype(bool), np.dtype(np.uint8)}


def _masked(name: str, values: list[Any]) -> jax.Array:
    """Evaluate an indexing op with a mask among its indices.

    Raises:
        NotImplementedError: the op reads, so the shape of the result depends on data; or it writes several values.
    """
    if "put" in name:
        return put_where(*values)
    raise NotImplementedError(
        f"{name}: an index is a mask, so the size of the result depends on data; expected torch.where"
    )


_UNKNOWN = (
    jax.errors.ConcretizationTypeError,
    jax.errors.InconclusiveDimensionOperation,
    jax.errors.TracerArrayConversionError,
)


@contextmanager
def _naming(node: fx.Node) -> Iterator[None]:
    """Convert JAX's errors about unknown sizes or values to an error that names the op.

    Raises:
        NotImplementedError: the op needs a size or value that is known only at run time.
    """
    try:
        yield
    except _UNKNOWN as error:
        shapes = [tuple(x.shape) for x in pytree.tree_leaves(node.meta.get("val")) if isinstance(x, torch.Tensor)]
        raise NotImplementedError(
            f"{node.target}: its lowering needs sizes or values that are unknown when the program is exported (result "
            f"{shapes}); expected static sizes: {str(error).splitlines()[0]}"
        ) from error


def _check(node: fx.Node, result: Any) -> None:
    """Raise if the dtype or rank of a result differs from torch's fake tensor.

    Multiple results are checked at the nodes that select them.
    """
    expected = node.meta.get("val")
    if not isinstance(expected, torch.Tensor) or result is None:  # a token
        return
    actual = (np.dtype(result.dtype), result.ndim)
    if actual != (numpy_dtype(expected.dtype), expected.dim()):
        raise RuntimeError(
            f"{node.target}: the lowering returned {actual[0]} with {actual[1]} axes; torch recorded {expected.dtype} "
            f"with {expected.dim()}"
        )


def is_number(size: Any) -> bool:
    """Whether a size is concrete, as opposed to a symbolic dimension."""
    return isinstance(size, int)


def expand(x: Array, size: Size, *, implicit: bool = False) -> Array:
    own = (1,) * (len(size) - x.ndim) + x.shape
    return jnp.broadcast_to(x, [m if is_number(n) and n == -1 else n for n, m in zip(size, own, strict=True)])


def permute(x: Array, dims: Sequence[int]) -> Array:
    return x.transpose([d % x.ndim for d in dims]) if x.ndim else x


def squeeze(x: Array, dims: Sequence[int]) -> Array:
    squeezed = {d % x.ndim for d in dims} if x.ndim else set()
    return x.reshape([n for d, n in enumerate(x.shape) if d not in squeezed or not (is_number(n) and n == 1)])


def select(x: Array, dim: int, index: Any) -> Array:
    dim %= x.ndim
    if is_number(index):
        index = index if index >= 0 else x.shape[dim] + index
    return jax.lax.dynamic_index_in_dim(x, index, dim, keepdims=False)


def _end(n: Any, at: Any) -> Any:
    """Clamp a slice bound to an axis of size `n`."""
    if not is_number(at):
        return at
    if at < 0:
        at = n + at
        return max(at, 0) if is_number(at) else at
    return min(at, n) if is_number(n) else n if at > 1 << 62 else jax.core.min_dim(at, n)


def slice_(x: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    dim %= x.ndim
    n = x.shape[dim]
    first = 0 if start is None else _end(n, start)
    last = n if end is None else _end(n, end)
    if is_number(first) and is_number(last):
        last = max(first, last)
    return jax.lax.slice_in_dim(x, first, last, step, dim)


def split(x: Array, size: int, dim: int = 0) -> list[Array]:
    return [slice_(x, dim, i, i + size) for i in range(0, max(x.shape[dim], 1), size or 1)]


def unfold(x: Array, dimension: int, size: int, step: int) -> Array:
    if not x.ndim:
        return x.reshape(1)[:size]
    dim = dimension % x.ndim
    starts = jnp.arange(0, x.shape[dim] - size + 1, step)
    windows = jnp.take(x, starts[:, None] + jnp.arange(size)[None], axis=dim)
    return jnp.moveaxis(windows, dim + 1, -1)


def as_strided(x: Array, size: Size, stride: Size, storage_offset: int | None = None) -> Array:
    if not all(map(is_number, (*size, *stride, *x.shape))):
        raise NotImplementedError("as_strided of symbolic dimensions: its result depends on the memory layout")
    return views.read(x, TensorSpec(tuple(size), tuple(stride), storage_offset or 0, torch_dtype(x.dtype)))


def to_copy(x: Array, *, dtype: torch.dtype | None = None, **options: Any) -> Array:
    return x if dtype is None else cast(x, numpy_dtype(dtype))


def nothing(*args: Any, **options: Any) -> None:
    """Drop an assertion, which torch already evaluated during export."""


def full(size: Size, value: Any = 0, *, dtype: torch.dtype | None = None, **options: Any) -> Array:
    return jnp.full(tuple(size), value, numpy_dtype(dtype or torch.get_default_dtype()))


# Memory operations (views, creation, copies, sizes), whose lowerings are for tensors.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_assert_scalar": nothing,
    "_assert_tensor_metadata": nothing,
    "_conj": jnp.conj,
    "_neg_view": jnp.negative,
    "_to_copy": to_copy,
    "alias": lambda x: x,
    "as_strided": as_strided,
    "detach": lambda x: x,
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: jnp.diagonal(x, offset, dim1, dim2),
    "empty.memory_format": full,
    "empty_permuted": lambda size, order, **options: full(size, **options),
    "empty_strided": lambda size, stride, **options: full(size, **options),
    "expand": expand,
    "permute": permute,
    "select.int": select,
    "slice.Tensor": slice_,
    "split.Tensor": split,
    "split_with_sizes": lambda x, split_sizes, dim=0: [*jax.lax.split(x, split_sizes, dim % x.ndim)],
    "squeeze.dims": squeeze,
    "sym_constrain_range": nothing,
    "sym_constrain_range_for_size": nothing,
    "sym_size.int": lambda x, dim: x.shape[dim],
    "sym_stride.int": lambda x, dim: contiguous_strides(x.shape)[dim],
    "unfold": unfold,
    "unsqueeze": lambda x, dim: jnp.expand_dims(x, dim),
    "view": lambda x, size: x.reshape(tuple(size)),
    "view.dtype": lambda x, dtype: bitcast(x, numpy_dtype(dtype)),
    "view_as_complex": lambda x: jax.lax.complex(x[..., 0], x[..., 1]),
    "view_as_real": lambda x: jnp.stack([x.real, x.imag], -1),
}


def real(size: Any) -> Any:
    """Convert a size to a float64 number, or to an array if the size is symbolic."""
    return float(size) if isinstance(size, (int, float)) else jnp.asarray(size, np.dtype(np.float64))


def _product(a: Any, b: Any) -> Any:
    """Multiply sizes. An integral float such as `scale_factor=2.0` counts as an integer, so the result is a size."""
    return operator.mul(*(int(x) if isinstance(x, float) and x.is_integer() else x for x in (a, b)))


def _whole(size: Any) -> Any:
    if isinstance(size, jax.Array):
        raise NotImplementedError(
            "a size is a fraction of a symbolic size; expected an integer multiple, or // of sizes"
        )
    return size


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison of sizes that returns an array if the result depends on a symbolic size.

    JAX's own `==` treats two sizes as different if it cannot prove that they are equal.
    """

    def answer(a: Any, b: Any) -> Any:
        if not any(map(jax.export.is_symbolic_dim, (a, b))):
            return compare(a, b)
        try:
            if (a <= b and a >= b) or a < b or a > b:
                return compare(a, b)
        except jax.errors.InconclusiveDimensionOperation:
            pass
        return compare(*(jnp.asarray(x, np.dtype(np.int64)) for x in (a, b)))

    return answer


# torch's functions of sizes and their equivalents for JAX sizes. Functions not listed (operator.add) work for both.
SIZES: dict[Any, Callable[..., Any]] = {
    torch.sym_max: jax.core.max_dim,
    torch.sym_min: jax.core.min_dim,
    torch.sym_sum: sum,
    torch.sym_float: real,
    torch.sym_sqrt: lambda size: real(size) ** 0.5,
    **dict.fromkeys((math.trunc, math.floor, math.ceil, torch.sym_int), _whole),
    operator.mul: _product,
    operator.truediv: lambda a, b: real(a) / real(b),
    operator.pow: lambda a, b: a**b if isinstance(b, int) and b >= 0 else real(a) ** real(b),
    **{f: _compared(f) for f in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)},
    torch.sym_not: lambda answer: ~answer if isinstance(answer, jax.Array) else not answer,
}
