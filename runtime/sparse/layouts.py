"""Sparse tensors of the device: torch's own, on the dispatch keys SparsePrivateUse1 and SparseCsrPrivateUse1.

torch builds them from index and value tensors of any device. Most of its sparse CPU kernels only call other ops on
those tensors, and are used unchanged (`BORROWED`). The rest, which read host memory, are rewritten in `coo.py` and
`compressed.py`. An op in none of these tables raises. The risk is that a borrowed kernel that does read memory would
crash the process, so tests/sparse/test_layouts.py calls each one and must be run with each new torch release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .._torch.dispatcher import has_kernel_on, has_kernels, kernel_on, key_of_name
from .._torch.operators import maybe_resize_out, overload_named, safe_copy_out
from ..errors import mixed_devices
from . import compressed, coo
from .result_meta import infer_result

Tensor = torch.Tensor

# Device-agnostic kernels of torch, by the dispatch key under which torch registers them.
BORROWED: dict[str, str] = {
    "SparseCPU": (
        "_coalesced_ _dimI _dimV _indices _nnz _sparse_broadcast_to _sparse_coo_tensor_with_dims "
        "_sparse_coo_tensor_with_dims_and_tensors _to_dense _to_sparse _to_sparse.sparse_dim _to_sparse_csc "
        "_to_sparse_csr _values abs abs.out abs_ any asin asin.out asin_ asinh asinh.out asinh_ atan atan.out "
        "atan_ atanh atanh.out atanh_ cat ceil ceil.out ceil_ clone conj_physical.out copy_ "
        "copy_sparse_to_sparse_ deg2rad deg2rad.out deg2rad_ dense_dim div.Tensor div.Tensor_mode div.out "
        "div.out_mode div_.Tensor div_.Tensor_mode empty.memory_format empty_like erf erf.out erf_ erfinv "
        "erfinv.out erfinv_ expm1 expm1.out expm1_ floor floor.out floor_ floor_divide floor_divide.out "
        "floor_divide_.Tensor frac frac.out frac_ indices is_coalesced is_pinned isinf isnan isneginf "
        "isneginf.out isposinf isposinf.out log1p log1p.out log1p_ mv nan_to_num nan_to_num.out nan_to_num_ "
        "narrow_copy native_norm native_norm.ScalarOpt_dim_dtype neg neg.out neg_ norm.ScalarOpt_dim "
        "norm.ScalarOpt_dim_dtype permute pow.Tensor_Scalar pow.Tensor_Scalar_out rad2deg rad2deg.out rad2deg_ "
        "relu relu_ resize_as_sparse_ round round.out round_ sgn sgn.out sgn_ sign sign.out sign_ signbit "
        "signbit.out sin sin.out sin_ sinh sinh.out sinh_ sparse_dim sparse_resize_ sparse_resize_and_clear_ sqrt "
        "sqrt.out sqrt_ sum sum.dim_IntList tan tan.out tan_ tanh tanh.out tanh_ threshold_backward "
        "threshold_backward.grad_input trunc trunc.out trunc_ unsqueeze values view_as_complex view_as_real zero_ "
        "zeros.out "
    ),
    "SparseCsrCPU": (
        "_conj_physical _nnz _to_sparse _to_sparse.sparse_dim abs abs.out abs_ angle angle.out asin asin.out "
        "asin_ asinh asinh.out asinh_ atan atan.out atan_ atanh atanh.out atanh_ ccol_indices ceil ceil.out ceil_ "
        "clone col_indices conj_physical.out conj_physical_ copy_ crow_indices deg2rad deg2rad.out deg2rad_ "
        "dense_dim empty.memory_format empty_like erf erf.out erf_ erfinv erfinv.out erfinv_ expm1 expm1.out "
        "expm1_ fill_.Scalar floor floor.out floor_ frac frac.out frac_ is_pinned isinf isnan isneginf "
        "isneginf.out isposinf isposinf.out log1p log1p.out log1p_ mul.Scalar mul.Tensor mul.out mul_.Scalar "
        "mul_.Tensor neg neg.out neg_ normal_ rad2deg rad2deg.out rad2deg_ relu relu_ resize_ resize_as_sparse_ "
        "round round.out round_ row_indices select.int select_copy.int sgn sgn.out sgn_ sign sign.out sign_ "
        "signbit signbit.out sin sin.out sin_ sinh sinh.out sinh_ sparse_dim sqrt sqrt.out sqrt_ sum "
        "sum.dim_IntList tan tan.out tan_ tanh tanh.out tanh_ threshold_backward threshold_backward.grad_input "
        "trunc trunc.out trunc_ values zero_ "
    ),
    "CPU": (
        "_embedding_bag_backward _to_sparse _to_sparse.sparse_dim _to_sparse_csr _to_sparse_csc _to_sparse_bsr "
        "_to_sparse_bsc "
    ),
    # Autograd calls these on any nested tensor, where an exception would end the process.
    "NestedTensorCPU": "_nested_tensor_size _nested_tensor_storage_offsets _nested_tensor_strides ",
}

# `addmm_` rejects the expanded tensors that `infer_result` makes; the functional form has the same result and errors.
_META_OP = {"addmm_": "addmm"}

OUT: dict[str, str] = {
    "add.out": "add.Tensor",
    "sub.out": "sub.Tensor",
    "mul.out": "mul.Tensor",
    "mm.out": "mm",
    "addmm.out": "addmm",
    "bmm.out": "bmm",
    "hspmm.out": "hspmm",
    "addmv.out": "addmv",
    "sparse_sampled_addmm.out": "sparse_sampled_addmm",
}

# Kernels that infer no result, by their dispatch key. The constructors of compressed tensors call the second one.
PLAIN: dict[str, tuple[str, Callable[..., Any]]] = {
    "_coalesce": ("SparsePrivateUse1", coo.coalesce),
    "_validate_compressed_sparse_indices": ("PrivateUse1", compressed.validate_compressed_sparse_indices),
}


def _kernel(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    reference = _META_OP.get(name, name)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        tensors = [a for a in args if isinstance(a, Tensor)]
        devices = sorted({str(a.device) for a in tensors if a.dim() or a.device.type != "cpu"}, reverse=True)
        if len(devices) > 1:
            raise mixed_devices(name, devices[1], devices[0])
        meta = infer_result(reference, args, kwargs)
        return compute(*args, **kwargs, meta=meta)

    return kernel


def _out(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a kernel to write its result to `out=`; the rule is the same for all sparse ops."""

    def kernel(*args: Any, out: Tensor, **kwargs: Any) -> Tensor:
        result = compute(*args, **kwargs)
        if result.layout is not out.layout:
            raise RuntimeError(f"Expected out tensor to have layout {result.layout}, but got {out.layout} instead")
        if out.layout is torch.strided:
            return safe_copy_out(copy_from=result, copy_to=maybe_resize_out(out, result.shape))
        return out.resize_as_sparse_(result).copy_(result)

    return kernel


def _device_key(key: str) -> str:
    """The device's dispatch key in place of one of the CPU."""
    return key.replace("CPU", "PrivateUse1")


def install(library: Any) -> None:
    """Register the kernels of the sparse layouts for all ops that this release of torch has."""

    def register(name: str, kernel: Callable[..., Any], key: str) -> None:
        if has_kernels(f"aten::{name}"):
            library.impl(name, kernel, key)

    for key, names in BORROWED.items():
        for name in names.split():
            # Calling a missing kernel would crash the process.
            if has_kernels(f"aten::{name}") and has_kernel_on(f"aten::{name}", key):
                register(name, kernel_on(overload_named(name), key_of_name(key)), _device_key(key))
    from_coo = {name: compressed.KERNELS[name] for name in ("_to_sparse_bsr", "_to_sparse_bsc")}
    for key, kernels in (("SparseCPU", coo.KERNELS | from_coo), ("SparseCsrCPU", compressed.KERNELS)):
        own = {name: _kernel(name, compute) for name, compute in kernels.items()}
        for name, kernel in own.items():
            register(name, kernel, _device_key(key))
        for name, functional in OUT.items():
            if functional in own:
                register(name, _out(own[functional]), _device_key(key))
    for name, (key, kernel) in PLAIN.items():
        register(name, kernel, key)
