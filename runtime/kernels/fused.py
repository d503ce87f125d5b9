"""JAX's own attention kernels, cuDNN on NVIDIA GPUs and Pallas on TPUs, where they support the arguments.

They compute neither dropout nor a second derivative, for which JAX has no rule (nor has torch for its own kernels).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tenax.kernels.flash import AttentionInputs, How, flash
from tenax.platforms import platform
from tenax.words import BFLOAT16, BOOL, FLOAT32, Array, cast

Kernel = Callable[[How, AttentionInputs], Array]


def _cudnn(how: How, x: AttentionInputs) -> Array:
    """Call `jax.nn.dot_product_attention`; fully masked rows, for which it averages the values, are set to 0."""
    batch, heads, groups, length, size = x.query.shape
    query = x.query.reshape(batch, heads * groups, length, size)
    bias = shown = None
    if x.mask is not None:
        together = (-1,) if x.mask.shape[1:3] == (heads, groups) else (1,)
        mask = jnp.broadcast_to(x.mask, (*x.mask.shape[:3], length, x.key.shape[2]))
        mask = mask.reshape(mask.shape[0], *together, *mask.shape[3:])
        shown = mask if mask.dtype == BOOL else mask > -jnp.inf
        bias = None if mask.dtype == BOOL else cast(jnp.where(shown, mask, 0), query.dtype)
    out = jax.nn.dot_product_attention(
        query.swapaxes(1, 2),
        x.key.swapaxes(1, 2),
        x.value.swapaxes(1, 2),
        bias,
        shown,
        scale=how.scale,
        is_causal=how.causal,
        implementation="cudnn",
    ).swapaxes(1, 2)
    if shown is not None:
        out = jnp.where(jnp.any(shown, axis=-1, keepdims=True), out, 0)
    return out.reshape(batch, heads, groups, length, out.shape[-1])


@contextmanager
def _in_pallas(how: How) -> Iterator[None]:
    """Trace a kernel or its derivative: Pallas has 32-bit indices."""
    with jax.enable_x64(False), jax.default_matmul_precision(how.precision):
        yield


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _tpu_flash(how: How, query: Array, key: Array, value: Array) -> Array:
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention

    with _in_pallas(how):
        return flash_attention(query, key, value, causal=how.causal, sm_scale=how.scale)


def _tpu_flash_fwd(how: How, *arrays: Array) -> tuple[Array, Any]:
    with _in_pallas(how):
        return jax.vjp(partial(_tpu_flash.fun, how), *arrays)


def _tpu_flash_bwd(how: How, pull: Any, grad: Array) -> Any:
    with _in_pallas(how):
        return pull(grad)


_tpu_flash.defvjp(_tpu_flash_fwd, _tpu_flash_bwd)


def _pallas(how: How, x: AttentionInputs) -> Array:
    """Call the kernel of `jax.experimental.pallas.ops.tpu`, which needs a key and value head for each query head."""
    if x.mask is not None or x.query.dtype not in (BFLOAT16, FLOAT32) or how.devices > 1:
        raise NotImplementedError("a mask that is not causal, a dtype that TPUs do not multiply, or a mesh")
    batch, heads, groups, length, size = x.query.shape
    query = x.query.reshape(batch, heads * groups, length, size)
    key, value = (jnp.repeat(a, groups, axis=1) for a in (x.key, x.value))
    out = _tpu_flash(how, query, key, value)
    return out.reshape(batch, heads, groups, length, size)


# By JAX's default backend: the platform's name in lowering rules, and the kernel.
_KERNELS: dict[str, tuple[str, Kernel]] = {"gpu": ("cuda", _cudnn), "tpu": ("tpu", _pallas)}


def _takes(kernel: Kernel, how: How, x: AttentionInputs) -> bool:
    """Whether JAX can trace the kernel and its derivative, which raise for unsupported arguments."""
    if x.seed is not None or any(not isinstance(n, int) or n == 0 for a in x[:3] for n in a.shape):
        return False
    try:
        jax.eval_shape(lambda x: jax.vjp(partial(kernel, how), x)[0], x)
    except (NotImplementedError, RuntimeError, ValueError):
        return False
    return True


def attention(how: How, x: AttentionInputs) -> Array:
    """The output (batch, heads, groups, L, Ev), from a fused kernel, whose scale is a constant, or `flash`."""

    def default(x: AttentionInputs) -> Array:
        return flash(how, x)[0]

    found = None if how.scale is None else _KERNELS.get(platform())
    if found is None or not _takes(found[1], how, x):
        return default(x)
    rule, kernel = found
    return lax.platform_dependent(x, default=default, **{rule: partial(kernel, how)})
