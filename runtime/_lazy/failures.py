"""Handles a tape whose program fails: its operations are run one by one, as in eager mode.

A program returns all of its results or none, so otherwise one failing operation would lose all others, including the
updated parameters of a model. If all operations succeed one by one (a program may need more memory than its parts),
their results are kept, but the error of the program is still raised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..storage.memory_errors import as_torch_error
from .recorded import RecordedOp

Failure = tuple[Exception, str]


def values_one_by_one(
    entries: Sequence[Any], words: Sequence[int], inputs: Sequence[jax.Array], error: Exception
) -> tuple[list[Any], list[Any]]:
    """Compute each slot of a tape: an array, or a failure, which is passed on to dependent operations.

    Args:
        entries: the entries of the tape.
        words: its numbers.
        inputs: its arrays. The program may have consumed some before it failed.
        error: the error of the program.

    Returns:
        The values of the slots, and the outcome of each check (True if it did not run).
    """
    numbers = jnp.asarray(np.array(words or [0], np.uint32))
    values: list[Any] = []
    flags: list[Any] = []
    passed, taken, rest = iter(inputs), 0, iter(entries)
    with jax.enable_x64(True):
        for entry in rest:
            if entry.__class__ is not RecordedOp:
                array = next(passed)
                values.append((error, "a program of lazy mode") if array.is_deleted() else array)
                continue
            operands = [values[slot] for slot in _taken(rest, entry.inputs)]
            results, checked = _outcome(entry, operands, numbers[taken : taken + entry.taken])
            values += results
            flags += checked
            taken += entry.taken
    return values, flags


def _taken(entries: Iterator[Any], count: int) -> Iterator[Any]:
    return (next(entries) for _ in range(count))


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


def first_failure(values: Sequence[Any]) -> Exception | None:
    """The error of the first operation that failed, or None."""
    return next((value[0] for value in values if value.__class__ is tuple), None)
