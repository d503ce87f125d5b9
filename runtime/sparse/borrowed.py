"""Kernels of torch's sparse CPU backend that only call other ops, so the device can use them unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._torch.dispatcher import kernel_on, key_of_name
from .result_meta import aten_overload

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


KEYS = {
    "SparseCPU": "SparsePrivateUse1",
    "SparseCsrCPU": "SparseCsrPrivateUse1",
    "CPU": "PrivateUse1",
    "NestedTensorCPU": "NestedTensorPrivateUse1",
}


def borrowed_kernel(name: str, key: str) -> Callable[..., Any]:
    """torch's kernel of an op for a CPU dispatch key, as a Python function."""
    call = kernel_on(aten_overload(name), key_of_name(key))

    def borrowed(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs)

    return borrowed
