"""The traces that run on this thread, and whether the value of an array is known to them. See also tracing.py."""

from __future__ import annotations

import sys
import threading
import traceback
from typing import Any

import jax
import torch

from ..errors import TraceError
from ..storage.placement import without_explicit_axes
from ..tracebacks import is_of_library

_local = threading.local()


def alias_array(array: jax.Array) -> jax.Array:
    """A new array object on the same buffers, because a trace identifies its inputs by object identity."""
    if isinstance(array, jax.core.Tracer):
        return array
    shards = [s.data for s in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, without_explicit_axes(array.sharding), shards)


def trace_stack() -> list[Any]:
    """The traces (`tracing.Trace`) on this thread, the innermost last."""
    found = getattr(_local, "stack", None)
    if found is None:
        found = _local.stack = []
    return found


def current_trace() -> Any:
    """The innermost trace (`tracing.Trace`) on this thread, or None."""
    traces = getattr(_local, "stack", None)
    return traces[-1] if traces else None


def accepts_host_tensors() -> bool:
    """Whether CPU tensors may be operands: in a pure function they become constants of the program."""
    trace = current_trace()
    return trace is not None and not trace.lifts


def is_unknown(array: Any) -> bool:
    """Whether a trace must treat the value of an array as unknown."""
    return isinstance(array, jax.core.Tracer) or any(id(array) in t.aliases for t in trace_stack())


def as_tracer(array: Any) -> Any:
    """The array as a tracer if its value is unknown to a trace, so that JAX also refuses to read the value."""
    if current_trace() is None or isinstance(array, jax.core.Tracer) or not is_unknown(array):
        return array
    return jax.lax.optimization_barrier(array)


def require_known(array: Any, wanted: str) -> Any:
    """The array, if its value is known.

    Raises:
        TraceError: the value is unknown to a trace, and the operation `wanted` needs it.
    """
    if is_unknown(array):
        raise TraceError(
            f"{wanted}: the value of a tensor is not known while a function is traced{user_line()}. Keep the choice on "
            "the device (torch.where, or torch._assert_async for a check), return the tensor, or move this out of the "
            "traced function. tenax.lazy and torch.compile(backend='tenax') run such code in parts"
        )
    return array


def user_line(error: BaseException | None = None) -> str:
    """The line of the user's program, now or where an error was raised: the innermost frame outside of libraries."""
    here = traceback.walk_stack(sys._getframe(1))
    for frame, line in here if error is None else reversed([*traceback.walk_tb(error.__traceback__)]):
        if not is_of_library((code := frame.f_code).co_filename):
            return f" ({code.co_filename}:{line}, in {code.co_name})"
    return ""


# The types of symbolic numbers, and the Python types that they represent; symbols.py adds subclasses.
SYMBOLIC_TYPES: dict[type, type] = {torch.SymBool: bool, torch.SymInt: int, torch.SymFloat: float}
