"""Sparse tensors of the device: torch's own, on the dispatch keys SparsePrivateUse1 and SparseCsrPrivateUse1.

torch builds them from index and value tensors of any device. Most of its sparse CPU kernels only call other ops on
those tensors, and are used unchanged (`borrowed.py`). The rest, which read host memory, are rewritten in `coo.py` and
`compressed.py`. An op in none of these tables raises. The risk is that a borrowed kernel that does read memory would
crash the process, so tests/sparse/test_layouts.py calls each one and must be run with each new torch release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .._torch.dispatcher import has_kernel_on, has_kernels
from .._torch.results import maybe_resize_out, safe_copy_out
from ..errors import mixed_devices
from . import compressed, coo
from .borrowed import BORROWED, KEYS, borrowed_kernel
from .result_meta import infer_result

Tensor = torch.Tensor


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


def install(library: Any) -> None:
    """Register the kernels of the sparse layouts for all ops that this release of torch has."""

    def register(name: str, kernel: Callable[..., Any], key: str) -> None:
        if has_kernels(f"aten::{name}"):
            library.impl(name, kernel, key)

    for key, names in BORROWED.items():
        for name in names.split():
            # Calling a missing kernel would crash the process.
            if has_kernels(f"aten::{name}") and has_kernel_on(f"aten::{name}", key):
                register(name, borrowed_kernel(name, key), KEYS[key])
    for key, kernels in (("SparseCPU", coo.KERNELS | compressed.FROM_COO), ("SparseCsrCPU", compressed.KERNELS)):
        own = {name: _kernel(name, compute) for name, compute in kernels.items()}
        for name, kernel in own.items():
            register(name, kernel, KEYS[key])
        for name, functional in OUT.items():
            if functional in own:
                register(name, _out(own[functional]), KEYS[key])
    for key, plain in (("SparsePrivateUse1", coo.PLAIN), ("PrivateUse1", compressed.PLAIN)):
        for name, kernel in plain.items():
            register(name, kernel, key)
