"""`torch_xla.experimental.custom_kernel`: JAX's Pallas kernels for TPUs, in interpret mode on other platforms."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext as jax_env_context  # noqa: F401
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import jax
import torch

from ...interop.calls import call_jax
from ..kernels import interpreted, mode
from .meshes import LogicalMesh, get_global_mesh

_KERNELS = "jax.experimental.pallas.ops.tpu"


def _kernel(module: str, name: str) -> Callable[..., Any]:
    return getattr(importlib.import_module(f"{_KERNELS}.{module}"), name)


def jax_import_guard() -> None:
    """Do nothing: JAX and PyTorch/XLA's names use the same runtime here."""


def requires_jax(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function."""
    return func


def maybe_get_jax(log: bool = True) -> ModuleType:
    """The module `jax`."""
    return jax


def make_kernel_from_pallas(kernel: Callable[..., Any], output_shape_dtype_fn: Any = None) -> Callable[..., Any]:
    """Convert a function of arrays that calls `pallas_call` to a function of tensors.

    Args:
        kernel: a JAX function; its gradient, if it defines one, is used.
        output_shape_dtype_fn: not needed, because JAX infers the results.
    """
    return partial(call_jax, interpreted(kernel))


def flash_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool = False,
    q_segment_ids: torch.Tensor | None = None,
    kv_segment_ids: torch.Tensor | None = None,
    sm_scale: float = 1.0,
    *,
    ab: torch.Tensor | None = None,
    partition_spec: Any = None,
    mesh: Any = None,
) -> torch.Tensor:
    """Attention of (batch, heads, length, features), by JAX's kernel for TPUs.

    On a TPU the lengths must be multiples of the kernel's block size, 128. Elsewhere the kernel is interpreted, which
    is slow; `torch.nn.functional.scaled_dot_product_attention` computes the same.

    Args:
        q: queries.
        k: keys.
        v: values.
        causal: mask later positions.
        q_segment_ids: (batch, length); positions attend only to those with the same id.
        kv_segment_ids: segment ids of the keys, required with those of the queries.
        sm_scale: a factor of the scores.
        ab: a bias added to the scores, (batch, heads, length of q, length of k).
        partition_spec: the sharding of `q`, `k` and `v`. Each device computes its part.
        mesh: by default that of `xs.set_global_mesh`.

    Raises:
        ValueError: only one of the segment ids, or a `partition_spec` without a mesh.
    """
    if (q_segment_ids is None) != (kv_segment_ids is None):
        raise ValueError("flash_attention: segment ids of one side; expected q_segment_ids and kv_segment_ids")
    given: dict[str, Any] = {"q": q, "k": k, "v": v, "ab": ab, "q_ids": q_segment_ids, "kv_ids": kv_segment_ids}
    given = {name: tensor for name, tensor in given.items() if tensor is not None}
    tiles = tuple(FlashAttention.DEFAULT_BLOCK_SIZES.items())
    if partition_spec is None:
        return call_jax(_flash, given, causal, sm_scale, tiles)
    chosen = mesh or get_global_mesh()
    if chosen is None:
        raise ValueError("flash_attention: partition_spec without a mesh; expected xs.set_global_mesh(mesh)")
    return call_jax(_flash, given, causal, sm_scale, tiles, tuple(partition_spec), str(chosen))


class FlashAttention:
    """The tiles of `flash_attention`, which programs choose for their TPU. Smaller tensors have smaller tiles."""

    DEFAULT_BLOCK_SIZES: ClassVar[dict[str, int]] = {"block_b": 1} | dict.fromkeys(
        "block_q block_k_major block_k block_q_major_dkv block_k_major_dkv block_q_dkv block_k_dkv block_q_dq "
        "block_k_dq block_k_major_dq".split(),
        128,
    )


def _flash(
    given: dict[str, Any], causal: bool, sm_scale: float, tiles: Any, spec: Any = None, mesh: str | None = None
) -> Any:
    attend, ids = _kernel("flash_attention", "flash_attention"), _kernel("flash_attention", "SegmentIds")

    def function(*arrays: Any) -> Any:
        found = dict(zip(given, arrays, strict=True))
        q, k, v = (found[name] for name in "qkv")
        sizes = {"b": q.shape[0], "q": q.shape[2], "k": k.shape[2]}
        blocks = {name: min(n, sizes[name.split("_")[1]]) for name, n in tiles}
        return attend(
            *(q, k, v, found.get("ab")),
            ids(*(found[name].astype("int32") for name in ("q_ids", "kv_ids"))) if "q_ids" in found else None,
            causal=causal,
            sm_scale=sm_scale,
            block_sizes=_kernel("flash_attention", "BlockSizes")(**blocks),
        )

    if mesh is not None and (chosen := LogicalMesh.from_str(mesh)) is not None:
        specs = [(spec[0], None) if name in ("q_ids", "kv_ids") else spec for name in given]
        function = on_mesh(function, chosen, specs, spec)
    with mode():
        return function(*given.values())


def on_mesh(function: Callable[..., Any], mesh: LogicalMesh, specs: Sequence[Any], out: Any) -> Callable[..., Any]:
    """Map a function of arrays over a mesh, so that each device calls it with its parts."""
    parts = tuple(map(mesh.partition_spec, specs))
    jax_mesh, result = mesh.get_jax_mesh(), mesh.partition_spec(out)
    return jax.shard_map(function, mesh=jax_mesh, in_specs=parts, out_specs=result, check_vma=False)


def paged_attention(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    lengths: torch.Tensor,
    page_indices: torch.Tensor,
    pages_per_compute_block: int,
    **options: Any,
) -> torch.Tensor:
    """Attention to paged keys and values, by JAX's kernel for TPUs."""
    arrays = q, k_pages, v_pages, lengths, page_indices
    return call_jax(_by_kernel, "paged_attention", arrays, pages_per_compute_block=pages_per_compute_block, **options)


def ragged_paged_attention(*args: torch.Tensor, **options: Any) -> torch.Tensor:
    """Attention of sequences of different lengths to pages, by JAX's kernel for TPUs."""
    return call_jax(_by_kernel, "ragged_paged_attention", args, **options)


def _by_kernel(kernel: str, arrays: Any, **options: Any) -> Any:
    with mode():
        return _kernel(kernel, kernel)(*arrays, **options)


def gmm(
    lhs: torch.Tensor, rhs: torch.Tensor, group_sizes: torch.Tensor, tiling: tuple[int, int, int] = (512, 512, 512)
) -> torch.Tensor:
    """Products of consecutive groups of rows with a matrix each; differentiable. XLA chooses its own tiling.

    Args:
        lhs: (m, k); rows after those of all groups give zeros.
        rhs: (groups, k, n).
        group_sizes: (groups,) int32: the number of rows of each group.
        tiling: not needed.

    Returns:
        (m, n), of the dtype of `lhs`.
    """
    return call_jax(_grouped, lhs, rhs, group_sizes)


def _grouped(lhs: Any, rhs: Any, sizes: Any) -> Any:
    return jax.lax.ragged_dot(lhs, rhs, sizes.astype("int32"), preferred_element_type=lhs.dtype)


def tgmm(
    lhs: torch.Tensor, rhs: torch.Tensor, group_sizes: torch.Tensor, tiling: tuple[int, int, int] = (512, 512, 512)
) -> torch.Tensor:
    """For each group of consecutive columns of `lhs`, its product with the same rows of `rhs`; see `gmm`.

    Args:
        lhs: (k, m).
        rhs: (m, n).
        group_sizes: (groups,) int32: the number of columns of each group.
        tiling: not needed.

    Returns:
        (groups, k, n), of the dtype of `lhs`.
    """
    return call_jax(_transposed_grouped, lhs, rhs, group_sizes)


def _transposed_grouped(lhs: Any, rhs: Any, sizes: Any) -> Any:
    dimensions = jax.lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(((1,), (0,)), ((), ())), lhs_ragged_dimensions=[1], rhs_group_dimensions=[]
    )
    return jax.lax.ragged_dot_general(lhs, rhs, sizes.astype("int32"), dimensions, preferred_element_type=lhs.dtype)


def gmm_backward(
    grad: torch.Tensor,
    lhs: torch.Tensor,
    rhs: torch.Tensor,
    group_sizes: torch.Tensor,
    tiling: tuple[int, int, int] = (512, 512, 512),
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of `lhs` and `rhs` of `gmm`, given that of its result, (m, n)."""
    return gmm(grad, rhs.transpose(-1, -2), group_sizes, tiling), tgmm(lhs.t(), grad, group_sizes, tiling)


class GMM:
    """`gmm`, which is differentiable, by the name of PyTorch/XLA's autograd function."""

    apply = staticmethod(gmm)
