"""ATen operators that the runtime carries out itself, by the names of their overloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .factories import (
    empty,
    empty_strided,
    full,
    full_like,
    make_dep_token,
    ones,
    ones_like,
    scalar_tensor,
    zeros,
    zeros_like,
)
from .fake_quantize import fused_moving_avg_obs_fq_helper
from .fill import fill_scalar, zero
from .memory import (
    _complex_view,
    _meta_view,
    as_strided,
    as_strided_,
    clone,
    copy,
    copy_from,
    local_scalar_dense,
    record_stream,
    to_copy,
    view_dtype,
)

_aten = torch.ops.aten


def _when_called(name: str) -> Callable[..., Any]:
    """A kernel of `resizing`, which most programs never import."""

    def call(*args: Any, **kwargs: Any) -> Any:
        from . import resizing

        return getattr(resizing, name)(*args, **kwargs)

    return call


KERNELS: dict[str, Callable[..., Any]] = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "as_strided": as_strided,
    "as_strided_": as_strided_,
    "view.dtype": view_dtype,
    "view": _meta_view(_aten.view.default),
    "_reshape_alias": _meta_view(_aten._reshape_alias.default),
    "unfold": _meta_view(_aten.unfold.default),
    "view_as_real": _complex_view(_aten.view_as_real.default),
    "view_as_complex": _complex_view(_aten.view_as_complex.default),
    "clone": clone,
    "copy_": copy,
    "_copy_from": copy_from,
    "_to_copy": to_copy,
    "_copy_from_and_resize": copy_from,
    "_local_scalar_dense": local_scalar_dense,
    "_make_dep_token": make_dep_token,
    "is_set_to": _when_called("is_set_to"),
    "record_stream": record_stream,
    "full": full,
    "zeros": zeros,
    "ones": ones,
    "scalar_tensor": scalar_tensor,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "full_like": full_like,
    "fill_.Scalar": fill_scalar,
    "zero_": zero,
    "resize_": _when_called("resize_"),
    "set_.source_Storage_storage_offset": _when_called("set_storage"),
    "set_.source_Storage": _when_called("set_storage_whole"),
    "set_.source_Tensor": _when_called("set_tensor"),
    "set_": _when_called("set_none"),
    "_fused_moving_avg_obs_fq_helper": fused_moving_avg_obs_fq_helper,
}
