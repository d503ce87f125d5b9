"""Evaluate a graph of functional aten ops by calling the lowerings on JAX arrays, without creating tensors.

Sizes may be symbolic dimensions, as in `jax.export`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import torch
from torch import fx

from .._torch import pytree
from .._torch.operators import HigherOrderOperator, OpOverload
from ..aten.custom_ops import registered
from ..aten.overrides import composite_of
from ..aten.registry import signature_of
from ..compile.control_flow import CONTROL
from ..dispatch import jax_call
from ..dispatch.lowering_trace import with_torch_dtypes
from ..dispatch.signature import Signature
from ..dtypes import numpy_dtype
from ..errors import no_lowering
from ..functional.keys import DrawKey
from ..functional.pure import run_pure
from ..kernels.mask import put_where
from ..storage.placement import no_jax_trace
from ..trace.async_errors import condition_error
from ..trace.transfer import read
from ..words import FLOAT64, Number
from .aten import FUNCTIONS, SIZES, real

_INT64 = np.dtype(np.int64)


def evaluate(module: fx.GraphModule, arrays: Sequence[Any], draw: DrawKey) -> Any:
    """Evaluate a graph on arrays and numbers, and return its outputs in their structure.

    Args:
        module: a functional graph of aten ops, with the fake tensor of each result in `meta["val"]`.
        arrays: the inputs, which may be tracers.
        draw: returns the key data for each random operation.

    Raises:
        NotImplementedError: an op has no lowering, or the shape of its result depends on data. The message names the
            op.
    """
    run = with_torch_dtypes(Evaluator(module, draw).run, numpy_dtype(torch.get_default_dtype()))
    return run(*arrays)


class Evaluator(fx.Interpreter):
    """`fx.Interpreter` on JAX arrays."""

    def __init__(self, module: fx.GraphModule, draw: DrawKey) -> None:
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
