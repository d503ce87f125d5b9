"""The `out=` rule: how tensors that receive results are resized, and which strides they get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._torch.dispatcher import has_kernel_on
from .._torch.modes import DisableTorchFunction
from ..storage.spec import TensorSpec
from .shape_inference import describe_results, to_meta
from .signature import Signature


def resize_outs(
    signature: Signature, values: Sequence[Any], outputs: Sequence[TensorSpec], *, again: bool = False
) -> None:
    """Give `out=` tensors the result's shape and strides, with torch's warning when they were not empty.

    With `again` they have been resized before: RuntimeError, because an input shares their memory and changed as well.
    """
    if again:
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )
    wrong = [(values[i], o) for i, o in zip(signature.outs, outputs, strict=True) if tuple(values[i].shape) != o.size]
    if any(out.numel() for out, _ in wrong):
        from .host_errors import warn_of_resize

        warn_of_resize(signature, values)
    for out, spec in wrong:
        out.resize_(spec.size)
        if not spec.is_contiguous():
            out.as_strided_(spec.size, spec.stride)


def infer_resized(signature: Signature, values: Sequence[Any], outputs: list[TensorSpec]) -> list[TensorSpec]:
    """The results of an `out=` overload that resizes, with the strides of newly created results, as on the CPU.

    They come from the functional Meta kernel, because those of `out=` overloads return contiguous results. So do
    kernels that serve all backends, which copy the result of the functional overload.
    """
    packet = signature.op.overloadpacket
    if has_kernel_on(signature.op.name(), "CompositeExplicitAutograd"):
        return outputs
    given = [i for i in range(len(values)) if i not in signature.outs]
    wanted = [(a.name, str(a.type)) for i, a in enumerate(signature.op._schema.arguments) if i in given]
    for name in packet.overloads():
        op = getattr(packet, name)
        if not op._schema.is_mutable and [(a.name, str(a.type)) for a in op._schema.arguments] == wanted:
            try:
                with DisableTorchFunction():
                    result = op(**{signature.arguments[i].name: to_meta(values[i]) for i in given})
            except Exception:  # a call that only the CPU kernel accepts
                return outputs
            fresh = describe_results(result if isinstance(result, (tuple, list)) else [result])
            return [o.restrided(f.stride) if o.size == f.size else o for o, f in zip(outputs, fresh, strict=True)]
    return outputs
