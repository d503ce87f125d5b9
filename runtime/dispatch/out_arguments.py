"""The `out=` rule: how tensors that receive results are resized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..storage.spec import TensorSpec
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
