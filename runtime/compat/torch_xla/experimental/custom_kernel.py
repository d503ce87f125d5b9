"""`torch_xla.experimental.custom_kernel`: JAX's Pallas kernels for TPUs, in interpret mode on other platforms."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import torch
from jax.experimental.pallas import tpu as pltpu

from ....interop.calls import call_jax

_KERNELS = "jax.experimental.pallas.ops.tpu"


def _kernel(module: str, name: str) -> Callable[..., Any]:
    return getattr(importlib.import_module(f"{_KERNELS}.{module}"), name)


def _mode() -> Any:
    return nullcontext() if jax.default_backend() == "tpu" else pltpu.force_tpu_interpret_mode()


def make_kernel_from_pallas(kernel: Callable[..., Any], output_shape_dtype_fn: Any = None) -> Callable[..., Any]:
    """A function of tensors from a function of arrays that calls `pallas_call`.

    Args:
        kernel: of JAX, with its gradient where it defines one.
        output_shape_dtype_fn: not needed: JAX says what the kernel returns.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        with _mode():
            return call_jax(kernel, *args, **kwargs)

    return call


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

    On a TPU the lengths are multiples of its blocks, 128. Elsewhere the kernel is interpreted, which is slow:
    `torch.nn.functional.scaled_dot_product_attention` computes the same.

    Raises:
        NotImplementedError: `partition_spec`, `ab` or segments.
    """
    if partition_spec is not None or mesh is not None:
        raise NotImplementedError(
            "flash_attention: partition_spec; expected scaled_dot_product_attention, sharded by XLA"
        )
    if ab is not None or q_segment_ids is not None or kv_segment_ids is not None:
        raise NotImplementedError(
            "flash_attention: ab or segment ids; expected scaled_dot_product_attention with a mask"
        )
    attend = _kernel("flash_attention", "flash_attention")
    return make_kernel_from_pallas(lambda q, k, v: attend(q, k, v, causal=causal, sm_scale=sm_scale))(q, k, v)


def paged_attention(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    lengths: torch.Tensor,
    page_indices: torch.Tensor,
    pages_per_compute_block: int,
    **options: Any,
) -> torch.Tensor:
    """Attention to pages of keys and values, by JAX's kernel for TPUs."""
    attend = _kernel("paged_attention", "paged_attention")
    return make_kernel_from_pallas(
        lambda *arrays: attend(*arrays, pages_per_compute_block=pages_per_compute_block, **options)
    )(q, k_pages, v_pages, lengths, page_indices)


def ragged_paged_attention(*args: torch.Tensor, **options: Any) -> torch.Tensor:
    """Attention of sequences of different lengths to pages, by JAX's kernel for TPUs."""
    attend = _kernel("ragged_paged_attention", "ragged_paged_attention")
    return make_kernel_from_pallas(lambda *arrays: attend(*arrays, **options))(*args)
