"""Sparse tensors of the device: torch's own, on the keys SparsePrivateUse1 and SparseCsrPrivateUse1.

torch makes them of index and value tensors of any device. Most of its sparse CPU kernels only call other ops on those,
and are borrowed as they are; the rest, which read host memory, are written in `coo.py` and `compressed.py`. What is in
neither table raises. Price: a borrowed kernel that reads memory after all would crash, so each was tried, and must be
again on a new torch release (tests/test_sparse.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch._prims_common.wrappers import _maybe_resize_out, _safe_copy_out
from torch.utils._pytree import tree_leaves

from ..errors import mixed_devices

Tensor = torch.Tensor

# Device-agnostic kernels of torch, by the key that they are registered under.
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
}

# The one that does not take a stand-in which repeats one element; its functional form says the same.
_ASKED = {"addmm_": "addmm"}

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

_QUANTIZED = (torch.quint8, torch.qint8, torch.qint32, torch.quint4x2, torch.quint2x4)
_KEYS = {"SparseCPU": "SparsePrivateUse1", "SparseCsrCPU": "SparseCsrPrivateUse1", "CPU": "PrivateUse1"}


def overload(name: str) -> Any:
    packet, _, which = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), which or "default")


def _borrowed(name: str, key: str) -> Callable[..., Any]:
    """torch's kernel of another key."""
    call, found = overload(name)._op_dk, torch._C._dispatch_key_parse(key)

    def borrowed(*args: Any, **kwargs: Any) -> Any:
        return call(found, *args, **kwargs)

    return borrowed


# What torch says of a call


class Given(NamedTuple):
    """Shape and dtype of a result."""

    shape: torch.Size
    dtype: torch.dtype


def _described(value: Any) -> Any:
    """What decides errors and results, hashable."""
    if isinstance(value, (list, tuple)):
        return list, tuple(_described(v) for v in value)
    if not isinstance(value, Tensor):
        return value.__class__, value
    if value.layout is torch.strided:
        return value.layout, value.shape, value.dtype
    blocked = value.layout in (torch.sparse_bsr, torch.sparse_bsc)
    block = tuple(value.values().shape[value.dim() - value.dense_dim() - 1 :][:2]) if blocked else None
    return value.layout, value.shape, value.dtype, value.sparse_dim(), value.dense_dim(), block


def _stand_in(described: Any) -> Any:
    """A host tensor that holds nothing in a tensor's place."""
    kind, *rest = described
    if kind is list:
        return [_stand_in(d) for d in rest[0]]
    if not isinstance(kind, torch.layout):
        return rest[0]
    size, dtype, *dims = rest
    if kind is torch.strided:
        return torch.zeros((), dtype=dtype).expand(size)
    if kind is torch.sparse_coo:
        return torch.sparse_coo_tensor(
            torch.empty((dims[0], 0), dtype=torch.int64),
            torch.empty((0, *size[dims[0] :]), dtype=dtype),
            size,
            is_coalesced=True,
            check_invariants=False,
        )
    return torch.zeros(size, dtype=dtype).to_sparse(layout=kind, blocksize=dims[2], dense_dim=dims[1])


@lru_cache(maxsize=1 << 12)
def _given(name: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> Any:
    found = overload(name)(*(_stand_in(a) for a in args), **{k: _stand_in(v) for k, v in kwargs})
    return (
        Given(found.shape, found.dtype) if isinstance(found, Tensor) else tuple(Given(f.shape, f.dtype) for f in found)
    )


def given(name: str, args: Any, kwargs: Any) -> Any:
    """What CPU torch gives for tensors of these shapes and dtypes that hold nothing. Its errors are raised."""
    return _given(name, tuple(_described(a) for a in args), tuple((k, _described(v)) for k, v in kwargs.items()))


def _kernel(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    asked = _ASKED.get(name, name)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        tensors = [a for a in args if isinstance(a, Tensor)]
        devices = sorted({str(a.device) for a in tensors if a.dim() or a.device.type != "cpu"}, reverse=True)
        if len(devices) > 1:
            raise mixed_devices(name, devices[1], devices[0])
        found = given(asked, args, kwargs)
        return compute(*args, **kwargs, given=found)

    return kernel


def _out(compute: Callable[..., Any]) -> Callable[..., Any]:
    """The one rule of `out=`."""

    def kernel(*args: Any, out: Tensor, **kwargs: Any) -> Tensor:
        result = compute(*args, **kwargs)
        if result.layout is not out.layout:
            raise RuntimeError(f"Expected out tensor to have layout {result.layout}, but got {out.layout} instead")
        if out.layout is torch.strided:
            return _safe_copy_out(copy_from=result, copy_to=_maybe_resize_out(out, result.shape))
        return out.resize_as_sparse_(result).copy_(result)

    return kernel


def unsupported(op: Any, args: Any, kwargs: Any) -> NotImplementedError:
    """The error for an op without a kernel of a layout."""
    name = op.name().removeprefix("aten::")
    tensors = [leaf for leaf in tree_leaves([args, kwargs]) if isinstance(leaf, Tensor)]
    if kwargs.get("dtype") in _QUANTIZED or any(t.is_quantized for t in tensors):
        return NotImplementedError(f"{name}: quantized tensors are not supported on device 'jax'; use fake_quantize_*")
    layout = next((t.layout for t in tensors if t.layout is not torch.strided), kwargs.get("layout"))
    if layout in (None, torch.strided):
        what = "strided nested tensors are not supported on device 'jax'; use layout=torch.jagged"
    else:
        what = f"not supported for layout {layout} on device 'jax'; convert with .to_dense()"
    return NotImplementedError(f"{name}: {what}")


def install(library: Any) -> None:
    """Register every kernel of the sparse layouts that this release of torch has an op for."""
    from . import compressed, coo

    held, has_kernel = torch._C._dispatch_has_kernel, torch._C._dispatch_has_kernel_for_dispatch_key

    def register(name: str, kernel: Callable[..., Any], key: str) -> None:
        if held(f"aten::{name}"):
            library.impl(name, kernel, key)

    for key, names in BORROWED.items():
        for name in names.split():
            # Without the kernel, `_op_dk` would end the process.
            if held(f"aten::{name}") and has_kernel(f"aten::{name}", key):
                register(name, _borrowed(name, key), _KEYS[key])
    for key, kernels in (("SparseCPU", coo.KERNELS | compressed.FROM_COO), ("SparseCsrCPU", compressed.KERNELS)):
        own = {name: _kernel(name, compute) for name, compute in kernels.items()}
        for name, kernel in own.items():
            register(name, kernel, _KEYS[key])
        for name, functional in OUT.items():
            if functional in own:
                register(name, _out(own[functional]), _KEYS[key])
    for key, plain in (("SparsePrivateUse1", coo.PLAIN), ("PrivateUse1", compressed.PLAIN)):
        for name, kernel in plain.items():
            register(name, kernel, key)
