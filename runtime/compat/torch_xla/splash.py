"""`torch_xla.experimental.splash_attention`: JAX's TPU kernel for attention with a sparse mask.

On other platforms it is interpreted, which is slow; `scaled_dot_product_attention` computes the same.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import jax
import torch
from jax.experimental.pallas.ops.tpu import splash_attention as splash

from ...interop.calls import call_jax
from ...platforms import platform
from .kernels import on_mesh
from .meshes import LogicalMesh


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class SplashAttentionConfig:
    """Block sizes of the kernel, which are limited to the sequence length, and the sharding of the tensors."""

    sa_block_q: int = 2048
    sa_block_kv: int = 2048
    sa_block_kv_compute: int = 2048
    sa_block_q_dkv: int = 2048
    sa_block_kv_dkv: int = 2048
    sa_block_kv_dkv_compute: int = 2048
    sa_block_q_dq: int = 2048
    sa_block_kv_dq: int = 2048
    sa_use_fused_bwd_kernel: bool = True
    sa_q_layout: str = "HEAD_DIM_MINOR"
    sa_k_layout: str = "HEAD_DIM_MINOR"
    sa_v_layout: str = "HEAD_DIM_MINOR"
    mesh: str | None = None  # str(xs.Mesh(...)); None for one device
    qkv_partition_spec: tuple[Any, ...] = (("data", "fsdp"), None, None, None)
    segment_ids_partition_spec: tuple[Any, ...] = (("data", "fsdp"), None)
    attentiontype_local_sliding: bool = False
    slide_window_size: int | None = None

    def to_json(self) -> str:
        """The configuration as `splash_attention` expects it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, data: str) -> SplashAttentionConfig:
        """The configuration from the result of `to_json`."""
        return cls(**{name: _tuples(value) for name, value in json.loads(data).items()})

    def blocks(self, q_length: int, kv_length: int) -> splash.BlockSizes:
        """The block sizes for given lengths."""
        fused = self.sa_use_fused_bwd_kernel
        return splash.BlockSizes(
            block_q=min(self.sa_block_q, q_length),
            block_kv=min(self.sa_block_kv, kv_length),
            block_kv_compute=min(self.sa_block_kv_compute, kv_length),
            block_q_dkv=min(self.sa_block_q_dkv, q_length),
            block_kv_dkv=min(self.sa_block_kv_dkv, kv_length),
            block_kv_dkv_compute=min(self.sa_block_kv_dkv_compute, kv_length),
            block_q_dq=None if fused else min(self.sa_block_q_dq, q_length),
            block_kv_dq=None if fused else min(self.sa_block_kv_dq, kv_length),
            use_fused_bwd_kernel=fused,
            q_layout=splash.QKVLayout[self.sa_q_layout],
            k_layout=splash.QKVLayout[self.sa_k_layout],
            v_layout=splash.QKVLayout[self.sa_v_layout],
        )

    def mask(self, causal: bool, heads: int, shape: tuple[int, int]) -> splash.MultiHeadMask:
        """The attention mask.

        Raises:
            ValueError: sliding attention without a window size.
        """
        mask: splash.Mask = splash.CausalMask(shape) if causal else splash.FullMask(shape)
        if self.attentiontype_local_sliding:
            if self.slide_window_size is None:
                raise ValueError("splash_attention: attentiontype_local_sliding; expected slide_window_size, too")
            mask &= splash.LocalMask(shape, (self.slide_window_size, self.slide_window_size), 0)
        return splash.MultiHeadMask([mask] * heads)


def splash_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    config: str,
    decoder_segment_ids: torch.Tensor | None = None,
    causal: bool = True,
    attn_logits_soft_cap: float | None = None,
) -> torch.Tensor:
    """Differentiable attention of (batch, heads, length, features), without a scale, so scale `q` before.

    Args:
        q: queries.
        k: keys, with as many heads.
        v: values.
        config: `SplashAttentionConfig(...).to_json()`.
        decoder_segment_ids: (batch, length); positions attend only to those with the same id.
        causal: mask later positions.
        attn_logits_soft_cap: replace each score `x` by `cap * tanh(x / cap)`.
    """
    tensors = (q, k, v) if decoder_segment_ids is None else (q, k, v, decoder_segment_ids)
    result: torch.Tensor = call_jax(_attend, tensors, config, causal, attn_logits_soft_cap)
    return result


def _attend(arrays: Any, config: str, causal: bool, soft_cap: float | None) -> Any:
    options = SplashAttentionConfig.from_json(config)

    def attend(q: Any, k: Any, v: Any, ids: Any = None) -> Any:
        heads, q_length, kv_length = q.shape[1], q.shape[2], k.shape[2]
        kernel = splash.make_splash_mha(
            options.mask(causal, heads, (q_length, kv_length)),
            head_shards=1,
            q_seq_shards=1,
            block_sizes=options.blocks(q_length, kv_length),
            attn_logits_soft_cap=soft_cap,
            interpret=platform() != "tpu",
        )
        segments = None if ids is None else splash.SegmentIds(ids, ids)
        return jax.vmap(kernel)(q, k, v, segment_ids=segments)

    if options.mesh is not None:
        if (mesh := LogicalMesh.from_str(options.mesh)) is None:
            raise ValueError(f"splash_attention: mesh {options.mesh!r}; expected str(xs.Mesh(...))")
        qkv = options.qkv_partition_spec
        attend = on_mesh(attend, mesh, (qkv, qkv, qkv, options.segment_ids_partition_spec)[: len(arrays)], qkv)
    return attend(*arrays)
