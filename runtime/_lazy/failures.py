"""What becomes of a tape whose program fails: its operations are run one by one, as eager mode would have run them.

A program gives all its results or none, so without this an operation that fails would take everything else with it, the
updated parameters of a model among them. Where the operations succeed one by one (a program may need more memory than
its parts), their results are kept, and the error of the program is raised all the same.
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
    """What each slot of a tape holds: an array, or why there is none, which later operations hand on.

    Args:
        entries: of the tape.
        words: its numbers.
        inputs: its arrays. The program may have consumed some before it failed.
        error: that of the program.

    Returns:
        The values of the slots, and the outcome of each check (of one that did not run, True).
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
    """The results of an operation, or why it has none."""
    failure: Failure | None = next((x for x in operands if x.__class__ is tuple), None)
    if failure is None:
        try:
            results, checked = op.apply(operands, words)
            jax.block_until_ready(results)  # an error of the device is one of this operation
            return list(results), [bool(flag) for flag in checked]
        except jax.errors.JaxRuntimeError as error:
            failure = as_torch_error(error), f"{op.name}, recorded in lazy mode"
        except Exception as error:
            failure = error, f"{op.name}, recorded in lazy mode"
    return [failure] * len(op.avals), [True] * len(op.checks)


def first_failure(values: Sequence[Any]) -> Exception | None:
    """The error of the operation that failed first."""
    return next((value[0] for value in values if value.__class__ is tuple), None)
