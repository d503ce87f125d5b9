"""Operations whose result shape depends on data: their lowering runs on concrete arrays, outside `jit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import torch

from ..dtypes import numpy_dtype, torch_dtype
from ..errors import TraceError, mixed_devices
from ..storage.access import to_memory_order
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of
from ..trace.async_errors import add_assertion
from ..trace.core import accepts_host_tensors, alias_array, as_tracer, current_trace, is_unknown, user_line
from ..trace.transfer import checked_read
from ..words import UnknownSizeError, promises
from .dtype_support import check_dtypes
from .encode import draw_key_for
from .executable import NewResult
from .host_errors import raise_host_error
from .out_arguments import resize_outs
from .shape_inference import LOWERING_ERRORS
from .signature import Signature


def run_data_dependent(signature: Signature, values: Sequence[Any]) -> Any:
    """Run the lowering and return its results as tensors, or write them into the `out` tensors.

    Raises:
        TraceError: the shape of the result, or a result that is a number, is unknown during tracing.
    """
    if jax.sharding.get_abstract_mesh().empty:
        return _run(signature, values, checked_read)
    from ..trace.axes import automatic_axes, explicit_mesh

    with automatic_axes(explicit_mesh()):
        return _run(signature, values, lambda tensor: alias_array(checked_read(tensor)))


def _run(signature: Signature, values: Sequence[Any], read: Callable[[torch.Tensor], jax.Array]) -> Any:
    check_dtypes(signature, values)
    index = next((cell_of(v).index for v in values if isinstance(v, torch.Tensor) and v.device.type == NAME), 0)

    host: Callable[..., Any] | None = None
    if signature.row.on_host:
        from .host_arrays import are_on_host, computed, device_tensor, host_array, kernel

        host = kernel(signature.row.on_host) if are_on_host(values) else None

    def plain(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if host is not None:
                return host_array(value)
            if value.device.type != NAME and value.dim() and not accepts_host_tensors():
                raise mixed_devices(signature.name, value, f"{NAME}:{index}")
            return as_tracer(read(value))
        return numpy_dtype(value) if isinstance(value, torch.dtype) else value

    arguments = signature.parameters([[plain(x) for x in v] if isinstance(v, list) else plain(v) for v in values])
    if signature.row.random:
        generator = next((v for s, v in zip(signature.arguments, values, strict=True) if s.kind == "generator"), None)
        arguments["rng"] = draw_key_for(signature, values, generator)
    trace = current_trace()
    taken = promises.set([] if trace is not None and trace.asserts else None)
    try:
        with jax.enable_x64(True):
            result = signature.lowering(**arguments) if host is None else computed(host, **arguments)
        for holds, error in promises.get() or ():
            add_assertion(holds, "RuntimeError", error)
    except UnknownSizeError as error:
        raise TraceError(
            f"{signature.name}: the result's shape depends on data{user_line()}. Within jit, {error.instead}"
        ) from None
    except LOWERING_ERRORS:
        raise_host_error(signature, values, blank=True)
        raise
    finally:
        promises.reset(taken)
    if signature.returns[0] in ("bool", "int"):  # such as `equal`
        if not is_unknown(result):
            return result.item()
        from ..trace.data_checks import answer_unknown  # needed only in traces

        return answer_unknown(result, signature.name)
    results = list(result) if isinstance(result, tuple) else [result]
    outputs = [TensorSpec.contiguous(r.shape, torch_dtype(r.dtype)) for r in results]
    outputs = signature.corrected(values, outputs)
    pairs = zip(results, outputs, strict=True)
    if host is None:
        tensors = [NewResult(o, spread=True).tensor(to_memory_order(r, o), index) for r, o in pairs]
    else:
        tensors = [device_tensor(r, o, index) for r, o in pairs]
    if signature.outs:
        outs = [values[i] for i in signature.outs]
        shared = _storages(values) < sum(isinstance(v, torch.Tensor) for v in values)
        if shared or any(out.dtype is not o.dtype for out, o in zip(outs, outputs, strict=True)):
            raise_host_error(signature, values, blank=True)
        resize_outs(signature, values, outputs)
        tensors = [out.copy_(tensor) for out, tensor in zip(outs, tensors, strict=True)]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _storages(values: Sequence[Any]) -> int:
    return len({id(v.untyped_storage()) for v in values if isinstance(v, torch.Tensor)})
