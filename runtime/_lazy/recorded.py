"""Recorded operations: executables of eager mode as parts of a larger program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import islice, repeat
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dispatch.dispatcher import Dispatcher
from ..dispatch.encode import EncodedCall
from ..dispatch.executable import Executable
from ..dispatch.host_errors import raise_host_error
from ..dispatch.shape_inference import LOWERING_ERRORS
from ..storage.avals import Aval, LazyFill, aval_of
from ..storage.cell import Cell
from ..storage.memory_errors import as_torch_error
from ..storage.placement import pinned
from ..trace.async_errors import Assertion
from .words import Words, carrier, words_of_array


class RecordedOp:
    """An operation with the geometry of its operands. Tapes compare operations by identity."""

    __slots__ = ("avals", "check", "checks", "count", "inputs", "layout", "name", "replaces", "run", "taken")

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        layout: Sequence[Words | Aval | None],
        results: Sequence[Aval | None],
        count: int,
        check: Callable[..., Any] | None = None,
        checks: Sequence[tuple[str, str]] = (),
    ) -> None:
        """`layout` says what each operand of `run` is: an array, words, or None. `results` describes what it returns:
        `count` new arrays, and then one for each written cell, or None if that cell keeps its array."""
        self.name, self.run, self.layout, self.count = name, run, tuple(layout), count
        self.inputs = sum(part.__class__ is Aval for part in layout)
        self.taken = sum(part.length for part in layout if part.__class__ is Words)
        self.avals = [r for r in results if r is not None]
        self.replaces = [r is not None for r in results[count:]]
        self.check, self.checks = check, tuple(checks)

    def apply(self, arrays: Sequence[jax.Array], words: jax.Array) -> tuple[list[jax.Array], list[jax.Array]]:
        """Apply the operation to arrays; return its results and the outcomes of its checks."""
        operands: list[Any] = []
        passed, at = iter(arrays), 0
        for part in self.layout:
            if part.__class__ is Words:
                operands.append(part.value(words[at : at + part.length]))
                at += part.length
            else:
                operands.append(None if part is None else next(passed))
        flags = [] if self.check is None else [*self.check(*operands)]
        return [_rounded(r) for r in self.run(*operands) if r is not None], flags

    def assertions(self, where: str) -> list[Assertion]:
        """The assertions of its checks."""
        return [Assertion(kind, message, where, "recorded in lazy mode") for kind, message in self.checks]

    def __str__(self) -> str:
        parts = [_described(part) for part in self.layout if part is not None]
        return f"{self.name}({', '.join(parts)})"


def replayed(
    entries: Iterable[Any], words: jax.Array, inputs: Iterable[Any], apply: Callable[..., tuple[list[Any], list[Any]]]
) -> tuple[list[Any], list[Any]]:
    """Run the operations of a tape in order.

    Args:
        entries: the aval of each input, and each operation with the slots of its operands.
        words: the numbers.
        inputs: the values of inputs.
        apply: `RecordedOp.apply`, or a function like it.

    Returns:
        The values of the slots, and the outcome of each check.
    """
    values: list[Any] = []
    flags: list[Any] = []
    passed, taken, rest = iter(inputs), 0, iter(entries)
    with jax.enable_x64(True):
        for entry in rest:
            if entry.__class__ is not RecordedOp:
                values.append(next(passed))
                continue
            operands = [values[slot] for slot in islice(rest, entry.inputs)]
            results, checked = apply(entry, operands, words[taken : taken + entry.taken])
            values += results
            flags += checked
            taken += entry.taken
    return values, flags


Failure = tuple[Exception, str]


def values_one_by_one(
    entries: Sequence[Any], words: Sequence[int], inputs: Sequence[jax.Array], error: Exception
) -> tuple[list[Any], list[Any]]:
    """Run the operations of a tape whose program failed one by one, as in eager mode.

    A program returns all of its results or none, so otherwise one failing operation would lose all others, including
    the updated parameters of a model. If all operations succeed one by one (a program may need more memory than its
    parts), their results are kept, but the error of the program is still raised.

    Args:
        entries: the entries of the tape.
        words: its numbers.
        inputs: its arrays. The program may have consumed some before it failed.
        error: the error of the program.

    Returns:
        The values of the slots, each an array, or a failure, which is passed on to dependent operations, and the
        outcome of each check (True if it did not run).
    """
    lost = error, "a program of lazy mode"
    given = [lost if array.is_deleted() else array for array in inputs]
    return replayed(entries, jnp.asarray(np.array(words or [0], np.uint32)), given, _outcome)


def _outcome(op: RecordedOp, operands: list[Any], words: jax.Array) -> tuple[list[Any], list[Any]]:
    """The results and checks of an operation; failures if it cannot run."""
    failure: Failure | None = next((x for x in operands if x.__class__ is tuple), None)
    if failure is None:
        try:
            # A function of `call_jax` may have died since it was recorded, so its trace is used, as in the program.
            apply = jax.jit(op.apply) if op.name == "tenax::call" else op.apply
            results, checked = apply(operands, words)
            jax.block_until_ready(results)  # attributes device errors to this operation
            return list(results), [bool(flag) for flag in checked]
        except jax.errors.JaxRuntimeError as error:
            failure = as_torch_error(error), f"{op.name}, recorded in lazy mode"
        except Exception as error:
            failure = error, f"{op.name}, recorded in lazy mode"
    return [failure] * len(op.avals), [True] * len(op.checks)


def _rounded(result: jax.Array) -> jax.Array:
    """Round a bfloat16 result where its operation ends, as in eager mode.

    Otherwise XLA would continue with the operation's float32 intermediates. Within an operation that is intended: a
    linear layer adds its bias before it rounds.
    """
    if result.dtype != jnp.bfloat16:
        return result
    return jax.lax.reduce_precision(result.astype(jnp.float32), exponent_bits=8, mantissa_bits=7).astype(result.dtype)


def _described(part: Words | Aval) -> str:
    name = part.dtype.name
    return f"{name}[{','.join(map(str, part.shape))}]" if part.__class__ is Aval else f"number {name}"


def recorded_op(
    dispatcher: Dispatcher, executable: Executable, call: EncodedCall, values: list[Any], written: Sequence[Cell]
) -> RecordedOp:
    """Make the operation of an executable, which writes the cells in `written`. Its lowering is traced here, so that
    its errors are raised where the operation is called."""
    layout = [_part(operand) for operand in (*call.operands, *call.starts)]
    try:
        with jax.enable_x64(True):  # as in the program, so that the program reuses this trace
            structs = [None if part is None else jax.ShapeDtypeStruct(part.shape, part.dtype) for part in layout]
            results = jax.eval_shape(lambda *operands: executable.run(*operands), *structs)
    except LOWERING_ERRORS:
        raise_host_error(dispatcher.signature, values, blank=True)
        raise
    signature = dispatcher.signature
    checks = signature.errors(values) if executable.check is not None else ()
    # What is written keeps its sharding; those of new arrays are XLA's choice.
    homes = [*repeat(None, executable.count), *(cell.aval.sharding for cell in written)]
    avals = [
        None if r is None else aval_of(tuple(r.shape), np.dtype(r.dtype), home)
        for r, home in zip(results, homes, strict=True)
    ]
    return RecordedOp(signature.name, executable.run, layout, avals, executable.count, executable.check, checks)


def _part(operand: Any) -> Words | Aval | None:
    if operand is None:
        return None
    words = isinstance(operand, (np.ndarray, np.generic))
    return (Words if words else aval_of)(tuple(operand.shape), np.dtype(operand.dtype))


def _fill(aval: Aval, fixed: Any, *passed: jax.Array) -> tuple[jax.Array]:
    value = passed[0].astype(aval.dtype) if passed else np.asarray(fixed, aval.dtype)
    return (jax.lax.full(aval.shape, value, aval.dtype),)


@cache
def _fill_op(aval: Aval, fixed: Any, number: Words | None) -> RecordedOp:
    layout = () if number is None else (number,)
    return RecordedOp("fill", jax.jit(partial(_fill, aval, fixed)), layout, (aval,), 1)


def recorded_fill(fill: LazyFill) -> tuple[RecordedOp, list[int]]:
    """A fill as an operation, and the words of its value. 0 and 1 are constants, so that XLA can simplify them."""
    aval, value = fill.aval, fill.value
    number = np.asarray(value).astype(carrier(aval.dtype))
    if value in (0, 1) and not np.signbit(number.real):
        return _fill_op(aval, int(value.real), None), []
    return _fill_op(aval, None, Words((), number.dtype)), words_of_array(number)


@cache
def recorded_move(old: Aval, new: Aval) -> RecordedOp:
    """A change of the sharding of an array, and perhaps of its shape."""
    run = jax.jit(lambda array: (pinned(array.reshape(new.shape), new.sharding),))
    return RecordedOp("shard", run, (old,), (new,), 1)


@cache
def recorded_words(aval: Aval) -> RecordedOp:
    """A small host array as an operation on the words of its values."""
    return RecordedOp("words", jax.jit(lambda array: (array,)), (Words(aval.shape, aval.dtype),), (aval,), 1)
