"""The results of a call, inferred before it is traced, and the errors that torch raises for its arguments."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import jax
import torch

from ..dtypes import torch_dtype
from ..storage.spec import TensorSpec, map_specs
from .dtype_support import check_dtypes, mixes_dtypes
from .encode import EncodedCall
from .lowering_trace import trace_functions
from .overlap import writes_expanded
from .shape_inference import (
    LOWERING_ERRORS,
    NO_SUCH_DIM,
    SHARED,
    WRONG_DTYPE,
    describe_results,
    infer_results,
    raise_matching_host_error,
)
from .signature import Signature


def infer(signature: Signature, values: list[Any], call: EncodedCall) -> tuple[Any, list[TensorSpec]]:
    """The tree of results, and the specs to which `out=` tensors are resized, if any; raises torch's errors."""
    if call.written and len(call.key) > 4:
        raise_matching_host_error(signature, values, SHARED)
    first = values[0] if values else None
    if "dim" in signature.names and isinstance(first, torch.Tensor) and (0 in first.shape or not first.dim()):
        raise_matching_host_error(signature, values, NO_SUCH_DIM)  # many Meta kernels do not check it
    if mixes_dtypes(signature, values):
        raise_matching_host_error(signature, values, WRONG_DTYPE)
    check_dtypes(signature, values)
    expected: Any = None
    resize: list[TensorSpec] = []
    known = signature.has_meta
    if known:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # resizing warns at every call, in out_arguments.resize_outs
                result = infer_results(signature, values)
        except NotImplementedError as error:
            if "no fake impl or Meta kernel" not in str(error):
                raise
            known = False
    if known:
        if signature.fresh:
            expected = describe_results(result)
            if isinstance(result, tuple):
                expected = tuple(signature.corrected(values, expected))
            elif isinstance(expected, TensorSpec):
                expected = signature.corrected(values, [expected])[0]
        elif signature.outs:
            resize = describe_results(result if isinstance(result, (tuple, list)) else [result])
            if not signature.host_values and _any_resized(signature, values, resize):
                from .out_arguments import infer_resized

                resize = infer_resized(signature, values, resize)
    if not known and (signature.fresh or signature.outs):
        lowering = trace_functions(signature, values, call, "free")[0]
        try:
            with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
                shapes = jax.eval_shape(lowering, *call.operands, *call.starts)
        except LOWERING_ERRORS:
            raise_matching_host_error(signature, values)
            raise
        if signature.outs:
            resize = [TensorSpec.contiguous(s.shape, torch_dtype(s.dtype)) for s in shapes[: len(signature.outs)]]
        else:
            specs = [None if s is None else TensorSpec.contiguous(s.shape, torch_dtype(s.dtype)) for s in shapes]
            expected = signature.packed(signature.corrected(values, specs))
    if signature.outs:
        resize = [_without_overlap(o) for o in signature.corrected(values, resize)]
        if _any_resized(signature, values, resize):
            read = any(out is x for out in map(values.__getitem__, signature.outs) for x in _inputs(signature, values))
            if read or writes_expanded(signature, call.written):
                raise_matching_host_error(signature, values)  # the CPU kernel does not resize an `out=` that it reads
            return None, resize
    return map_specs(_without_overlap, expected), []


def _inputs(signature: Signature, values: Sequence[Any]) -> list[Any]:
    return [value for i, value in enumerate(values) if i not in signature.outs]


def _any_resized(signature: Signature, values: Sequence[Any], outputs: Sequence[TensorSpec]) -> bool:
    return any(tuple(values[i].shape) != o.size for i, o in zip(signature.outs, outputs, strict=True))


def _without_overlap(spec: TensorSpec) -> TensorSpec:
    """Make a spec contiguous if its strides put several elements in one place (an expanded result)."""
    return spec.resized(spec.size) if 0 in spec.stride else spec
