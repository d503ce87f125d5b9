"""What `jit` traces for one signature: views are read, the lowering is called, results are stored in memory order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..device.cell import contiguous
from ..dtypes import numpy_dtype, torch_dtype
from ..words import Number, cast, default_float_is
from . import views
from .arguments import Operand, Plain
from .meta import WRONG_DTYPE, Output, refuse, to_meta
from .views import View

if TYPE_CHECKING:
    from .overload import Call, Overload


def bitcast(array: jax.Array, dtype: np.dtype) -> jax.Array:
    """The bytes of an array as another dtype, the last axis growing or shrinking; complex and bool included."""
    if array.dtype == dtype:
        return array
    if array.dtype == np.dtype(bool):
        array = array.astype(np.uint8)
    if jnp.issubdtype(array.dtype, np.complexfloating):
        array = jnp.stack([array.real, array.imag], -1).reshape(*array.shape[:-1], -1)
    if dtype == np.dtype(bool):
        return bitcast(array, np.dtype(np.uint8)) != 0
    if jnp.issubdtype(dtype, np.complexfloating):
        part = np.dtype(f"float{dtype.itemsize * 4}")
        parts = bitcast(array, part).reshape(*array.shape[:-1], -1, 2)
        return jax.lax.complex(parts[..., 0], parts[..., 1])
    if array.dtype == dtype:
        return array
    old, new = array.dtype.itemsize, dtype.itemsize
    if new > old:
        array = array.reshape(*array.shape[:-1], -1, new // old)
    out = jax.lax.bitcast_convert_type(array, dtype)
    return out.reshape(*out.shape[:-2], -1) if new < old else out


def _flip(array: jax.Array, bits: int) -> jax.Array:
    if bits & 1:
        array = jnp.conj(array)
    return -array if bits & 2 else array


def load(base: jax.Array, part: Operand, starts: Any) -> jax.Array:
    """The value of a tensor argument."""
    if part.base_dtype is not None and part.base_dtype != numpy_dtype(part.dtype):
        base = bitcast(base.reshape(-1), numpy_dtype(part.dtype))
        view = part.view or View(part.shape, contiguous(part.shape), 0)
        return _flip(views.read(base, view), part.bits)
    if part.view is not None:
        base = views.read(base, part.view, starts)
    return _flip(base, part.bits) if part.bits else base


def store(base: jax.Array, part: Operand, starts: Any, value: jax.Array) -> jax.Array:
    """The base of a tensor argument with the argument's elements replaced."""
    dtype = numpy_dtype(part.dtype)
    size = part.view.size if part.view is not None else part.shape
    value = _flip(jnp.broadcast_to(cast(value, dtype), size), part.bits)
    if part.base_dtype is not None and part.base_dtype != dtype:
        flat = bitcast(base.reshape(-1), dtype)
        flat = views.write(flat, part.view or View(part.shape, contiguous(part.shape), 0), value)
        return bitcast(flat, part.base_dtype).reshape(base.shape)
    return value if part.view is None else views.write(base, part.view, value, starts)


def in_memory(result: jax.Array, output: Output) -> jax.Array:
    """The storage of a result with strides: the array with permuted axes, or a flat one with gaps."""
    order = physical(output)
    if order is not None:
        return result.transpose(order)
    assert output.stride is not None
    extent = 1 + sum((n - 1) * s for n, s in zip(output.size, output.stride, strict=True)) if result.size else 0
    return views.write(jnp.zeros(extent, result.dtype), View(output.size, output.stride, 0), result)


def physical(output: Output) -> tuple[int, ...] | None:
    """The axes in the order of memory, or None when the strides are not those of a permuted dense array."""
    assert output.stride is not None
    order = sorted(range(len(output.size)), key=lambda d: (-output.stride[d], -output.size[d], d))  # type: ignore[index]
    dense = contiguous([output.size[d] for d in order])
    exact = all(output.size[d] == 1 or output.stride[d] == s for d, s in zip(order, dense, strict=True))
    return tuple(order) if exact else None


def in_torchs_types(function: Callable[..., Any], default_float: np.dtype) -> Callable[..., Any]:
    """`function`, traced with torch's default dtype and with JAX's 64-bit types on: a Python number beside a float64
    array keeps its digits."""

    @functools.wraps(function)
    def traced(*operands: Any) -> Any:
        with jax.enable_x64(True), default_float_is(default_float):
            return function(*operands)

    return traced


def unjitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, traced without the `jit` that most functions of `jnp` have: each would be a trace in the trace, which
    takes several times as long."""

    @functools.wraps(function)
    def traced(*operands: Any) -> Any:
        with jax.disable_jit():
            return function(*operands)

    return traced


def program(overload: Overload, values: list[Any], call: Call, expected: Any) -> tuple[Any, Any, set[int]]:
    """The Python functions that `jit` traces: the op, and its checks. A trace of the op fills the set with the
    positions of written operands that stay as they are (`grads` of a fused optimizer)."""
    kept: set[int] = set()
    # Neither `values` nor `call` may be held by what is returned: they keep tensors alive.
    parts, order, places = call.parts, call.key[3], len(call.starts)
    out_dtype = numpy_dtype(values[overload.outs[0]].dtype) if overload.outs else None
    stand_ins = [to_meta(v) for v in values] if overload.outs else []
    slots, row = overload.slots, overload.row
    float_dtype = numpy_dtype(torch.get_default_dtype())
    number_dtype = {
        bool: np.dtype(bool),
        int: np.dtype(np.int64),
        float: float_dtype,
        complex: np.dtype(f"complex{float_dtype.itemsize * 16}"),
    }

    def arguments(operands: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        first = len(operands) - places
        rest, rest_starts = enumerate(operands[:first]), iter(operands[first:])
        written: list[Written] = []

        def tensor(slot: Any, part: Any) -> Any:
            if part is not None and not isinstance(part, Operand):
                return number(part)
            (position, base), starts = next(rest), None
            if part is None:
                return None
            if part.blind:
                base = jnp.zeros(part.shape, numpy_dtype(part.dtype))
            elif part.view is not None and part.view.dynamic:
                starts = list(next(rest_starts))
            value = load(base, part, starts)
            if slot.written:
                written.append(Written(base, part, starts, slot.keyword, position, value))
            return value

        def number(part: Any) -> Any:
            _, passed = next(rest)
            if part is None:
                return None
            if part.__class__ is type:
                return Number(passed, number_dtype[part])
            if part.__class__ is Plain:
                return part.value
            return Number(_from_words(passed, part.dtype), number_dtype[part.kind])

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
        key = jax.random.wrap_key_data(next(rest)[1]) if row.random else None
        return out, written, key

    creates = isinstance(expected, Output) and "dtype" in overload.names and "device" in overload.names

    def run(*operands: Any) -> tuple[Any, ...]:
        bound, written, key = arguments(operands)
        keywords = overload.parameters(bound)
        if creates:
            keywords["dtype"] = numpy_dtype(expected.dtype)
        elif overload.outs and overload.takes_dtype:
            keywords["dtype"] = out_dtype
        if key is not None:
            keywords["rng"] = key
        result = overload.lowering(**keywords)
        if overload.fresh:
            results, news = _split(result, len(written))
            flat = list(_arrays(results)) if expected == "free" else _checked(overload, results, expected)
        else:
            news = list(_arrays(result))
            flat = list(news) if expected == "free" else []
            if len(news) != len(written):
                raise RuntimeError(
                    f"{overload.name}: the lowering returned {len(news)} new values; expected {len(written)}"
                )
            if overload.outs:  # a lowering gives what goes into `out` first, wherever the schema has other written ones
                given = sorted(range(len(written)), key=lambda i: (not written[i].out, i))
                news = [news[given.index(i)] for i in range(len(written))]
                dtypes = [numpy_dtype(part.dtype) for _, part, *_ in written]
                if any(new.dtype != dtype for new, dtype in zip(news, dtypes, strict=True)):
                    refuse(overload.op, overload.names, stand_ins, overload.positional, WRONG_DTYPE)
        if expected == "free":
            return tuple(flat)
        return (*flat, *_stored(written, news, order, kept))

    def check(*operands: Any) -> Any:
        bound, _, key = arguments(operands)
        keywords = overload.parameters(bound)
        return overload.checks(**({"rng": key} if key is not None else {}), **keywords)

    run.__name__ = run.__qualname__ = overload.name
    if row.module:  # a function from elsewhere may loop, and JAX would unroll it
        run, check = unjitted(run), unjitted(check)
    run, check = (in_torchs_types(f, float_dtype) for f in (run, check))
    return run, check, kept


class Written(NamedTuple):
    """A written argument in a trace."""

    base: jax.Array
    operand: Operand
    starts: Any
    out: bool  # whether it is an `out=` argument
    position: int  # of its base among the operands
    value: jax.Array


def _from_words(words: jax.Array, dtype: np.dtype) -> jax.Array:
    """A 64-bit number of its 32-bit words."""
    if dtype.kind == "c":
        parts = jax.lax.bitcast_convert_type(words.reshape(2, 2), np.float64)
        return jax.lax.complex(parts[0], parts[1])
    return jax.lax.bitcast_convert_type(words, dtype)


def _thawed(part: Any) -> Any:
    if part.__class__ is Plain:
        return part.value
    return list(part) if isinstance(part, tuple) else part


def _arrays(tree: Any) -> Any:
    if isinstance(tree, (list, tuple)):
        for branch in tree:
            yield from _arrays(branch)
    elif tree is not None:
        yield tree


def _split(result: Any, writes: int) -> tuple[Any, list[Any]]:
    """A lowering with `writes:` returns its results and then the new values."""
    if not writes:
        return result, []
    results = tuple(result[:-writes])
    return results if len(results) != 1 else results[0], list(result[-writes:])


def _stored(
    written: Sequence[Written], news: Sequence[Any], order: tuple[int, ...], kept: set[int]
) -> list[jax.Array | None]:
    """The new bases, None for one that stays as it is; several views of one storage are written in turn."""
    bases: dict[int, jax.Array | None] = {}
    for i, (w, new) in enumerate(zip(written, news, strict=True)):
        at = order[i] if order else i  # views of one storage share a place
        if new is w.value and not w.operand.blind and not order:
            bases[at] = None
            kept.add(w.position)
            continue
        _refuse_cast(np.dtype(new.dtype), w.operand.dtype)
        base = bases.get(at)
        bases[at] = store(w.base if base is None else base, w.operand, w.starts, new)
    return list(bases.values())


def _refuse_cast(result: np.dtype, wanted: torch.dtype) -> None:
    """Torch's error for a result that in-place or `out=` cannot hold; some Meta kernels let it pass."""
    found = torch_dtype(result)
    if not torch.can_cast(found, wanted):
        names = (str(torch.empty((), dtype=d).type()).split(".")[-1].removesuffix("Tensor") for d in (found, wanted))
        raise RuntimeError("result type {} can't be cast to the desired output type {}".format(*names))


def _checked(overload: Overload, results: Any, expected: Any) -> list[jax.Array]:
    """The results in memory order, compared with what torch says they are."""
    flat: list[jax.Array] = []

    def visit(result: Any, output: Any) -> None:
        if isinstance(output, Output):
            if result is None:
                raise RuntimeError(f"{overload.name}: the lowering gave no result; expected {output}")
            shape, dtype = tuple(result.shape), np.dtype(result.dtype)
            if shape != output.size or dtype != numpy_dtype(output.dtype):
                raise RuntimeError(
                    f"{overload.name}: the lowering gave {dtype}{list(shape)}; "
                    f"expected {output.dtype}{list(output.size)} as torch's Meta kernel says"
                )
            flat.append(result if output.stride is None else in_memory(result, output))
        elif isinstance(output, (list, tuple)):
            for r, o in zip(result, output, strict=True):
                visit(r, o)

    visit(results, expected)
    return flat
