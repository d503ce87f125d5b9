"""ATen operators that the runtime implements itself, by the names of their overloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .._torch.dispatcher import META, kernel_on
from .factories import (
    empty,
    empty_like,
    empty_strided,
    fill_scalar,
    full,
    full_like,
    make_dep_token,
    new_empty,
    new_empty_strided,
    new_full,
    new_ones,
    new_zeros,
    ones,
    ones_like,
    scalar_tensor,
    zero,
    zeros,
    zeros_like,
)
from .memory import (
    _complex_view,
    as_strided,
    as_strided_,
    clone,
    copy,
    copy_from,
    local_scalar_dense,
    record_stream,
    to_copy,
    view,
    view_dtype,
)
from .registry import imported

_aten = torch.ops.aten

KERNELS: dict[str, Callable[..., Any]] = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "as_strided": as_strided,
    "as_strided_": as_strided_,
    "as_strided_scatter": imported("storage_operators.as_strided_scatter"),
    "as_strided_scatter.out": imported("storage_operators.as_strided_scatter_out"),
    "copy": imported("storage_operators.copy"),
    "_foreach_copy": imported("storage_operators.foreach_copy"),
    "_scaled_dot_product_flash_attention": imported("flash_attention.forward"),
    "_scaled_dot_product_flash_attention_backward": imported("flash_attention.backward"),
    "view.dtype": view_dtype,
    "view": view,
    "_reshape_alias": kernel_on(_aten._reshape_alias.default, META),
    "unfold": kernel_on(_aten.unfold.default, META),
    "view_as_real": _complex_view(_aten.view_as_real.default),
    "view_as_complex": _complex_view(_aten.view_as_complex.default),
    "clone": clone,
    "copy_": copy,
    "_copy_from": copy_from,
    "_to_copy": to_copy,
    "_copy_from_and_resize": copy_from,
    "_local_scalar_dense": local_scalar_dense,
    "_make_dep_token": make_dep_token,
    "is_set_to": imported("storage_operators.is_set_to"),
    "record_stream": record_stream,
    "full": full,
    "zeros": zeros,
    "ones": ones,
    "scalar_tensor": scalar_tensor,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "full_like": full_like,
    "empty_like": empty_like,
    "new_empty": new_empty,
    "new_empty_strided": new_empty_strided,
    "new_full": new_full,
    "new_ones": new_ones,
    "new_zeros": new_zeros,
    "fill_.Scalar": fill_scalar,
    "zero_": zero,
    "resize_": imported("storage_operators.resize_"),
    "set_.source_Storage_storage_offset": imported("storage_operators.set_storage"),
    "set_.source_Storage": imported("storage_operators.set_storage"),
    "set_.source_Tensor": imported("storage_operators.set_tensor"),
    "set_": imported("storage_operators.set_none"),
}
