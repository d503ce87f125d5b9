"""A graph of functional aten ops, evaluated on JAX arrays by the lowerings, with no tensor in between.

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
from torch.utils import _pytree as pytree

from ..device.convert import read
from ..dispatch import call
from ..dispatch.lowering import registered
from ..dispatch.program import in_torchs_types
from ..dispatch.register import overload
from ..dtypes import numpy_dtype
from ..errors import no_lowering
from ..kernels.mask import put_where
from ..tracing.pure import Draw
from ..words import FLOAT64, Number
from .aten import FUNCTIONS, SIZES, real
from .control import CONTROL

_INT64 = np.dtype(np.int64)


def evaluate(module: fx.GraphModule, arrays: Sequence[Any], draw: Draw) -> Any:
    """What a graph gives for arrays and numbers, in the structure that it returns.

    Args:
        module: a functional graph of aten ops, with torch's record of each result in `meta["val"]`.
        arrays: its inputs; tracers too.
        draw: gives the key data of each random operation.

    Raises:
        NotImplementedError: an op has no lowering, or the shape of its result depends on data. Names the op.
    """
    run = in_torchs_types(Evaluator(module, draw).run, numpy_dtype(torch.get_default_dtype()))
    return run(*arrays)


class Evaluator(fx.Interpreter):
    """torch's interpreter, on arrays."""

    def __init__(self, module: fx.GraphModule, draw: Draw) -> None:
        super().__init__(module)
        self.draw = draw

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A constant of the graph, or a graph within it."""
        found = super().get_attr(target, args, kwargs)
        return read(found) if isinstance(found, torch.Tensor) else found

    def run_node(self, n: fx.Node) -> Any:
        """One node; its result is compared with what torch says it is."""
        self.node = n
        with _naming(n):
            result = super().run_node(n)
        if n.op == "call_function":
            _check(n, result)
        return result

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """An op, a function of sizes, or a control flow operator."""
        if isinstance(target, torch._ops.OpOverload):
            return self.lowered(target, args, dict(kwargs))
        if target is torch.ops.higher_order.with_effects:  # (token, op, ...): an order that a pure program has anyway
            result = self.call_function(args[1], args[2:], kwargs)
            return (args[0], *result) if isinstance(result, tuple) else (args[0], result)
        if target in CONTROL:
            return CONTROL[target](self, *args, **kwargs)
        if isinstance(target, torch._ops.HigherOrderOperator):
            raise NotImplementedError(
                f"{target}: there is no JAX equivalent yet; expected one of {[str(c) for c in CONTROL]}"
            )
        if any(isinstance(a, jax.Array) and a.dtype != bool for a in args):  # a number made of sizes
            args = tuple(map(real, args))
        return SIZES.get(target, target)(*args, **kwargs)

    def nested(self, module: fx.GraphModule, *args: Any) -> Any:
        """A graph within the graph."""
        return Evaluator(module, self.draw).run(*args)

    def lowered(self, op: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The lowering of an op, called with arrays."""
        name = op.name().removeprefix("aten::")
        if name in FUNCTIONS:
            return FUNCTIONS[name](*args, **kwargs)
        if name == "tenax::call":
            return list(call._functions[args[0]](*args[1]))
        if name == "tenax::key":
            return self.draw(None)
        found = registered(op.name())
        if found is None:
            try:
                found = overload(name)
            except KeyError:
                raise no_lowering(op.name()) from None
        row = found.row
        if row.dynamic:
            raise NotImplementedError(
                f"{name}: the shape of its result depends on data, which a JAX program cannot have"
            )
        values = [_argument(s.kind, v) for s, v in zip(found.slots, found.bind(args, kwargs), strict=True)]
        if name in _INDEXING and any(i is not None and i.dtype in _MASK for i in values[1]):
            return _masked(name, values)
        keywords = found.parameters(values)
        if "dtype" in found.names and "device" in found.names and keywords.get("dtype") is None:
            keywords["dtype"] = numpy_dtype(self.node.meta["val"].dtype)
        if row.random:
            key = jnp.zeros(2, np.uint32) if found.is_idle(values) else self.draw(None)
            keywords["rng"] = jax.random.wrap_key_data(key)
        result = found.lowering(**keywords)
        if not found.returns:
            return None
        return found.packed(list(result) if isinstance(result, (tuple, list)) else [result])


def _argument(kind: str, value: Any) -> Any:
    """An argument as lowerings take it."""
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
    """An indexing op where an index is a mask.

    Raises:
        NotImplementedError: it reads, so that the shape of the result depends on data; or it writes several values.
    """
    if "put" in name:
        return put_where(*values)
    raise NotImplementedError(
        f"{name}: an index is a mask, so the number of places depends on data; expected torch.where in its place"
    )


_UNKNOWN = (
    jax.errors.ConcretizationTypeError,
    jax.errors.InconclusiveDimensionOperation,
    jax.errors.TracerArrayConversionError,
)


@contextmanager
def _naming(node: fx.Node) -> Iterator[None]:
    """Errors about symbolic dimensions name the op.

    Raises:
        NotImplementedError: the op must know what only a run knows.
    """
    try:
        yield
    except _UNKNOWN as error:
        shapes = [tuple(x.shape) for x in pytree.tree_leaves(node.meta.get("val")) if isinstance(x, torch.Tensor)]
        raise NotImplementedError(
            f"{node.target}: its lowering needs sizes or values that are not known when the program is made (result "
            f"{shapes}); expected static sizes there: {str(error).splitlines()[0]}"
        ) from error


def _check(node: fx.Node, result: Any) -> None:
    """Raise where a lowering gives another dtype or rank than torch recorded; of several results, for those in use."""
    expected = node.meta.get("val")
    if not isinstance(expected, torch.Tensor) or result is None:  # a token
        return
    found = (np.dtype(result.dtype), result.ndim)
    if found != (numpy_dtype(expected.dtype), expected.dim()):
        raise RuntimeError(
            f"{node.target}: the lowering gave {found[0]} of {found[1]} axes; expected {expected.dtype} of "
            f"{expected.dim()} as torch says"
        )
