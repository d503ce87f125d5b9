"""Operations whose result's shape depends on data: their lowering runs on concrete arrays, outside `jit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import torch

from ..device.cell import cell_of
from ..device.convert import read
from ..dtypes import numpy_dtype, torch_dtype
from ..errors import TraceError, mixed_devices
from ..tracing.deferred import Condition
from ..tracing.trace import at_line, current, refuse, takes_host, traced
from ..words import UnknownSizeError, promises
from .executable import laid_out
from .meta import LOWERING_ERRORS, Output, corrected, raise_of_host
from .taken import refuse_dtypes

if TYPE_CHECKING:
    from .overload import Overload


def run(overload: Overload, values: Sequence[Any]) -> Any:
    """What the lowering gives, as tensors, or written into the `out` tensors.

    Raises:
        TraceError: the shape of the result, or a result that is a number, is not known while a function is traced.
    """
    refuse_dtypes(overload, values)
    index = next((cell_of(v).index for v in values if isinstance(v, torch.Tensor) and v.device.type == "jax"), 0)

    def plain(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if value.device.type != "jax" and value.dim() and not takes_host():
                raise mixed_devices(overload.name, value.device, f"jax:{index}")
            return traced(read(value))
        return numpy_dtype(value) if isinstance(value, torch.dtype) else value

    arguments = overload.parameters([[plain(x) for x in v] if isinstance(v, list) else plain(v) for v in values])
    if overload.row.random:
        generator = next((v for s, v in zip(overload.slots, values, strict=True) if s.kind == "generator"), None)
        arguments["rng"] = overload.key(values, generator)
    trace = current()
    taken = promises.set([] if trace is not None and trace.lifts else None)
    try:
        with jax.enable_x64(True):
            result = overload.lowering(**arguments)
        for holds, error in promises.get() or ():
            trace.conditions.append((holds, Condition("RuntimeError", error, at_line())))  # type: ignore[union-attr]
    except UnknownSizeError as error:
        raise TraceError(
            f"{overload.name}: the result's shape depends on data{at_line()}. Within jit, {error.instead}"
        ) from None
    except LOWERING_ERRORS:
        raise_of_host(overload.op, overload.names, values, overload.positional, blank=True)
        raise
    finally:
        promises.reset(taken)
    if overload.returns[0] in ("bool", "int"):  # as `equal` answers
        return refuse(result, overload.name).item()
    results = list(result) if isinstance(result, tuple) else [result]
    outputs = [Output(tuple(r.shape), None, torch_dtype(r.dtype)) for r in results]
    outputs = corrected(overload.packet, values, outputs)
    tensors = [laid_out(r, o, index) for r, o in zip(results, outputs, strict=True)]
    if overload.outs:
        outs = [values[i] for i in overload.outs]
        shared = _storages(values) < sum(isinstance(v, torch.Tensor) for v in values)
        if shared or any(out.dtype is not o.dtype for out, o in zip(outs, outputs, strict=True)):
            raise_of_host(overload.op, overload.names, values, overload.positional, blank=True)
        overload.resize_outs(values, outputs)
        tensors = [out.copy_(tensor) for out, tensor in zip(outs, tensors, strict=True)]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _storages(values: Sequence[Any]) -> int:
    return len({id(v.untyped_storage()) for v in values if isinstance(v, torch.Tensor)})
