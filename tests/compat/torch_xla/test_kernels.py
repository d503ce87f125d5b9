"""The kernels of PyTorch/XLA by JAX's: attention, products of groups of rows, and a user's own in Pallas."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import jax
import numpy as np
import pytest
import torch
from jax.experimental import pallas as pl
from torch import nn

import tenax
import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.distributed.spmd as xs
from tenax.compat.torch_xla.experimental.custom_kernel import (
    GMM,
    FlashAttention,
    flash_attention,
    gmm,
    gmm_backward,
    make_kernel_from_pallas,
    tgmm,
)
from tenax.compat.torch_xla.experimental.splash_attention import SplashAttentionConfig, splash_attention
from tests.helpers.agreement import close

device = xm.xla_device()


def masked(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", ["causal", "window", "segments", "mesh"])
def test_splash_attention_is_attention(case: str) -> None:
    q, k, v = (torch.randn(8, 1, 128, 128) / 8 for _ in range(3))
    place = torch.arange(128)
    mask = (place[:, None] >= place).expand(8, 1, 128, 128)
    options: dict[str, Any] = {}
    ids = None
    if case == "window":
        options = {"attentiontype_local_sliding": True, "slide_window_size": 16, "sa_use_fused_bwd_kernel": False}
        mask = mask & ((place[:, None] - place).abs() <= 16)
    if case == "segments":
        ids = (place // 50).expand(8, 128).contiguous()
        mask = mask & (ids[:, None, :, None] == ids[:, None, None])
    if case == "mesh":
        options = {"mesh": str(xs.Mesh(np.arange(8), (4, 2), ("data", "fsdp")))}
    config = SplashAttentionConfig(**options)
    assert SplashAttentionConfig.from_json(config.to_json()) == config
    inputs = [x.to(device).requires_grad_() for x in (q, k, v)]
    expected = [x.requires_grad_() for x in (q, k, v)]
    results = (
        splash_attention(*inputs, config.to_json(), None if ids is None else ids.to(device)),
        masked(*expected, mask),
    )
    for result in results:
        result.square().sum().backward()
    close(results[0].detach().cpu(), results[1].detach())
    close([x.grad.cpu() for x in inputs], [x.grad for x in expected])  # type: ignore[union-attr]


def test_flash_attention_has_segments_a_bias_tiles_and_a_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    q = torch.randn(8, 1, 128, 8) / 3
    ids = (torch.arange(128) // 50).expand(8, 128).contiguous()
    bias = torch.randn(8, 1, 128, 128)
    x = q.to(device)
    mask = torch.where(ids[:, None, :, None] == ids[:, None, None], bias, -torch.inf)
    on_device = {"q_segment_ids": ids.to(device), "kv_segment_ids": ids.to(device)}
    close(flash_attention(x, x, x, ab=bias.to(device), **on_device).cpu(), masked(q, q, q, mask))
    mesh = xs.Mesh(np.arange(8), (8,), ("data",))
    found = flash_attention(x, x, x, partition_spec=("data", None, None, None), mesh=mesh, **on_device)
    close(found.cpu(), masked(q, q, q, torch.where(mask.isinf(), mask, 0)))
    tiles = dict(FlashAttention.DEFAULT_BLOCK_SIZES)
    monkeypatch.setattr(FlashAttention, "DEFAULT_BLOCK_SIZES", tiles | {"block_q": 64, "block_k_major": 512})
    close(flash_attention(x, x, x, ab=bias.to(device), **on_device).cpu(), masked(q, q, q, mask))
    FlashAttention.DEFAULT_BLOCK_SIZES["block_k"] = 96
    with pytest.raises(ValueError, match="block_k=96 should divide block_k_major=128"):
        flash_attention(x, x, x)
    with pytest.raises(ValueError, match="segment ids of one side"):
        flash_attention(x, x, x, q_segment_ids=ids.to(device))


@pytest.mark.parametrize("lazy", [False, True])
def test_a_pallas_kernel_is_interpreted_wherever_it_is_traced(lazy: bool) -> None:
    def body(x: Any, y: Any, out: Any) -> None:
        out[...] = x[...] + y[...]

    @jax.jit
    def add(x: Any, y: Any) -> Any:
        return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)

    x = torch.randn(8, 128).to(device)
    with tenax.lazy() if lazy else nullcontext():
        found = make_kernel_from_pallas(add, lambda x, y: [(x.shape, x.dtype)])(x, x)
    close(found, x + x)


def test_groups_of_rows_are_multiplied_by_a_matrix_each() -> None:
    rows, matrices = torch.randn(10, 3, requires_grad=True), torch.randn(3, 3, 4, requires_grad=True)
    sizes = torch.tensor([2, 0, 7])
    parts = rows[:9].split(sizes.tolist())
    expected = torch.cat([*(part @ m for part, m in zip(parts, matrices, strict=True)), torch.zeros(1, 4)])
    gradients = torch.autograd.grad(expected.square().sum(), (rows, matrices))
    inputs = [t.detach().to(device).requires_grad_() for t in (rows, matrices)]
    found = gmm(*inputs, sizes.to(device))
    close(found.detach(), expected.detach())
    close(torch.autograd.grad(found.square().sum(), inputs), gradients)
    close(torch.autograd.grad(GMM.apply(*inputs, sizes.to(device)).square().sum(), inputs), gradients)
    plain = [t.detach() for t in inputs]
    close(gmm_backward(2 * found.detach(), *plain, sizes.to(device)), gradients)
    others = torch.randn(10, 4)
    products = [part.detach().T @ other for part, other in zip(parts, others[:9].split(sizes.tolist()), strict=True)]
    close(tgmm(inputs[0].detach().T, others.to(device), sizes.to(device)), torch.stack(products))
