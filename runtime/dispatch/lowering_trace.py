"""The function that `jit` traces for one key: it reads views, calls the lowering, stores results in memory order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..dtypes import numpy_dtype, torch_dtype
from ..errors import ResultError
from ..float32_products import float32_products, products_in
from ..kernels.platform import require_supported
from ..storage.access import load, store, to_memory_order
from ..storage.avals import meshes
from ..storage.placement import pinned
from ..storage.spec import Operand, TensorSpec
from ..words import Number, default_float_is, over_devices
from .encode import EncodedCall
from .operands import StaticValue
from .shape_inference import WRONG_DTYPE, raise_matching_host_error, to_meta
from .signature import Signature


def with_torch_dtypes(function: Callable[..., Any], default_float: np.dtype) -> Callable[..., Any]:
    """Wrap a function to be traced with torch's default dtype and precision of products, and with JAX's x64 on, so that
    a Python number combined with a float64 array keeps its precision."""
    precision = float32_products.precision

    @functools.wraps(function)
    def traced(*operands: Any) -> Any:
        with (
            jax.enable_x64(True),
            default_float_is(default_float),
            products_in(precision),
            over_devices(meshes.devices),
        ):
            if meshes.used or not jax.sharding.get_abstract_mesh().empty:
                from ..trace.axes import with_automatic_axes

                return with_automatic_axes(function, operands)
            return function(*operands)

    return traced


def without_inner_jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to be traced with `jit` disabled: nested traces of the functions of `jnp` take far longer."""

    @functools.wraps(function)
    def traced(*operands: Any) -> Any:
        with jax.disable_jit():
            return function(*operands)

    return traced


def trace_functions(signature: Signature, values: list[Any], call: EncodedCall, expected: Any) -> tuple[Any, Any]:
    """The Python functions that `jit` traces: the op, and its checks."""
    # The returned functions must not hold `values` or `call`, which keep tensors alive.
    parts, order, places = call.parts, call.key[3], len(call.starts)
    out_dtype = numpy_dtype(parts[signature.outs[0]].spec.dtype) if signature.outs else None
    stand_ins = [to_meta(v) for v in values] if signature.outs else []
    slots, row = signature.arguments, signature.row
    # Random results get the sharding of their operand: XLA would not shard a result that is not computed from it.
    like = next((p.base for p in parts if row.random and p.__class__ is Operand and p.base.sharding), None)
    float_dtype = numpy_dtype(torch.get_default_dtype())
    number_dtype = {
        bool: np.dtype(bool),
        int: np.dtype(np.int64),
        float: float_dtype,
        complex: np.dtype(f"complex{float_dtype.itemsize * 16}"),
    }

    def arguments(operands: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        first = len(operands) - places
        rest, rest_starts = iter(operands[:first]), iter(operands[first:])
        written: list[WrittenArgument] = []

        def tensor(slot: Any, part: Any) -> Any:
            if part is not None and not isinstance(part, Operand):
                return number(part)
            base, starts = next(rest), None
            if part is None:
                return None
            if part.overwritten:
                base = jnp.zeros(part.base.shape, part.base.dtype)
            elif part.dynamic:
                starts = list(next(rest_starts))
            value = load(base, part, starts)
            if slot.written:
                written.append(WrittenArgument(base, part, starts, slot.keyword, slot.name in row.not_donated, value))
            return value

        def number(part: Any) -> Any:
            passed = next(rest)
            if part is None:
                return None
            if part.__class__ is StaticValue:
                return part.value
            part, negative = part if part.__class__ is tuple else (part, False)
            if part.__class__ is type:
                return Number(passed, number_dtype[part], negative)
            return Number(_from_words(passed, part.dtype), number_dtype[part.kind], negative)

        out: list[Any] = []
        for slot, part in zip(slots, parts, strict=True):
            if slot.kind == "tensor":
                out.append(tensor(slot, part))
            elif slot.kind == "tensors":
                out.append(None if part is None else [tensor(slot, p) for p in part])
            elif slot.kind == "number":
                out.append(number(part))
            elif slot.kind == "numbers":
                out.append(None if part is None else [number(p) for p in part])
            elif slot.kind == "static":
                out.append(numpy_dtype(part) if isinstance(part, torch.dtype) else _thawed(part))
            else:
                out.append(None)
        key = jax.random.wrap_key_data(next(rest)) if row.random else None
        return out, written, key

    creates = isinstance(expected, TensorSpec) and "dtype" in signature.names and "device" in signature.names

    def run(*operands: Any) -> tuple[Any, ...]:
        bound, written, key = arguments(operands)
        keywords = signature.parameters(bound)
        if creates:
            keywords["dtype"] = numpy_dtype(expected.dtype)
        elif signature.outs and signature.takes_dtype:
            keywords["dtype"] = out_dtype
        if key is not None:
            keywords["rng"] = key
        result = signature.lowering(**keywords)
        require_supported(signature.name, (bound, result))
        if signature.fresh:
            results, news = _split(result, len(written))
            if expected == "free":
                return tuple(jax.tree.leaves(results, is_leaf=lambda x: x is None))
            flat = _checked(signature, results, expected)
        else:
            news = jax.tree.leaves(result)
            flat = news if expected == "free" else []
            if len(news) != len(written):
                raise RuntimeError(
                    f"{signature.name}: the lowering returned {len(news)} new values; expected {len(written)}"
                )
            if signature.outs:  # a lowering returns the values for `out` first, wherever the schema has others
                given = sorted(range(len(written)), key=lambda i: (not written[i].out, i))
                news = [news[given.index(i)] for i in range(len(written))]
                dtypes = [numpy_dtype(part.spec.dtype) for _, part, *_ in written]
                if any(new.dtype != dtype for new, dtype in zip(news, dtypes, strict=True)):
                    raise_matching_host_error(signature, stand_ins, WRONG_DTYPE)
        if expected == "free":
            return tuple(flat)
        if like is not None:
            flat = [pinned(x, like.sharding) if x.shape == like.shape else x for x in flat]
        return (*flat, *_stored(written, news, order))

    def check(*operands: Any) -> Any:
        bound, _, key = arguments(operands)
        keywords = signature.parameters(bound)
        return signature.checks(**({"rng": key} if key is not None else {}), **keywords)

    run.__name__ = run.__qualname__ = signature.name
    if row.module:  # a function that tenax does not own may contain loops, which JAX would unroll
        run, check = without_inner_jit(run), without_inner_jit(check)
    run, check = (with_torch_dtypes(f, float_dtype) for f in (run, check))
    return run, check


class WrittenArgument(NamedTuple):
    """A written argument in a trace."""

    base: jax.Array
    operand: Operand
    starts: Any
    out: bool  # whether it is an `out=` argument
    not_donated: bool  # whether None may stand for an unchanged value
    value: jax.Array


def _from_words(words: jax.Array, dtype: np.dtype) -> jax.Array:
    """A 64-bit number, assembled from its 32-bit words."""
    if dtype.kind == "c":
        parts = jax.lax.bitcast_convert_type(words.reshape(2, 2), np.float64)
        return jax.lax.complex(parts[0], parts[1])
    return jax.lax.bitcast_convert_type(words, dtype)


def _thawed(part: Any) -> Any:
    if part.__class__ is StaticValue:
        return part.value
    return list(part) if isinstance(part, tuple) else part


def _split(result: Any, writes: int) -> tuple[Any, list[Any]]:
    """Split off the new values, which a lowering with `writes:` returns after its results."""
    if not writes:
        return result, []
    results = tuple(result[:-writes])
    return results if len(results) != 1 else results[0], list(result[-writes:])


def _stored(written: Sequence[WrittenArgument], news: Sequence[Any], order: tuple[int, ...]) -> list[jax.Array | None]:
    """The new bases, or None for one that may stay unchanged and does; views of one storage are written in order."""
    bases: dict[int, jax.Array | None] = {}
    for i, (w, new) in enumerate(zip(written, news, strict=True)):
        at = order[i] if order else i  # views of one storage share a base
        if new is w.value and w.not_donated and not order:
            bases[at] = None
            continue
        _refuse_cast(np.dtype(new.dtype), w.operand.spec.dtype)
        base = bases.get(at)
        new = new.reshape(w.operand.spec.size) if w.out else new
        stored = store(w.base if base is None else base, w.operand, w.starts, new)
        bases[at] = pinned(stored, w.operand.base.sharding)
    return list(bases.values())


def _refuse_cast(result: np.dtype, wanted: torch.dtype) -> None:
    """Raise torch's error if a written tensor cannot hold the result's dtype; some Meta kernels do not check it."""
    found = torch_dtype(result)
    if not torch.can_cast(found, wanted):
        names = (str(torch.empty((), dtype=d).type()).split(".")[-1].removesuffix("Tensor") for d in (found, wanted))
        raise RuntimeError("result type {} can't be cast to the desired output type {}".format(*names))


def _checked(signature: Signature, results: Any, expected: Any) -> list[jax.Array]:
    """The results in memory order, after comparing them with the shapes and dtypes that torch expects."""
    flat: list[jax.Array] = []

    def visit(result: Any, output: Any) -> None:
        if isinstance(output, TensorSpec):
            if result is None:
                raise ResultError(f"{signature.name}: the lowering gave no result; expected {output}")
            shape, dtype = tuple(result.shape), np.dtype(result.dtype)
            if shape != output.size or dtype != numpy_dtype(output.dtype):
                raise ResultError(
                    f"{signature.name}: the lowering gave {dtype}{list(shape)}; "
                    f"expected {output.dtype}{list(output.size)} as torch's Meta kernel says"
                )
            flat.append(to_memory_order(result, output))
        elif isinstance(output, (list, tuple)):
            for r, o in zip(result, output, strict=True):
                visit(r, o)

    visit(results, expected)
    return flat
