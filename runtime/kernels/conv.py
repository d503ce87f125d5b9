"""Convolutions as `lax.conv_general_dilated`: every rank, stride, dilation and group count, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from tenax.words import BOOL, Array


def _spread(values: Sequence[int], count: int) -> tuple[int, ...]:
    """One value per spatial dimension; torch lets a list of one stand for all."""
    return tuple(values) * count if len(values) == 1 else tuple(values)


def _forward(
    input: Array,
    weight: Array,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Array:
    """The convolution without its bias. `weight` is (out, in/groups, *k), or (in, out/groups, *k) when transposed."""
    rank = input.ndim - 2
    stride, padding, dilation = (_spread(v, rank) for v in (stride, padding, dilation))
    spatial = tuple(range(2, rank + 2))
    if not transposed:
        numbers = lax.ConvDimensionNumbers((0, 1, *spatial), (0, 1, *spatial), (0, 1, *spatial))
        pads = [(p, p) for p in padding]
        return lax.conv_general_dilated(
            input, weight, stride, pads, None, dilation, numbers, feature_group_count=groups
        )
    # A transposed convolution is a convolution of the input with holes, by the kernel flipped and its channels swapped.
    # `lax.conv_transpose` supports neither groups nor output padding.
    into, out, *kernel = weight.shape
    weight = weight.reshape(groups, into // groups, out, *kernel).swapaxes(1, 2)
    weight = lax.rev(weight.reshape(groups * out, into // groups, *kernel), spatial)
    extra = _spread(output_padding, rank)
    pads = [(d * (k - 1) - p, d * (k - 1) - p + e) for d, k, p, e in zip(dilation, kernel, padding, extra, strict=True)]
    numbers = lax.ConvDimensionNumbers((0, 1, *spatial), (0, 1, *spatial), (0, 1, *spatial))
    return lax.conv_general_dilated(
        input, weight, (1,) * rank, pads, stride, dilation, numbers, feature_group_count=groups
    )


def _refuse(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> None:
    """Raise what ATen's `convolution` does where its Meta kernel is silent (ATen/native/Convolution.cpp)."""
    size, channels = list(weight.shape), weight.shape[0] if transposed else weight.shape[1] * groups
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    if not all(weight.shape[2:]):
        raise RuntimeError(f"kernel size should be greater than zero, but got weight of size {size}")
    if input.dtype == BOOL:
        raise NotImplementedError("\"convolution\" not implemented for 'Bool'")
    if input.dtype != weight.dtype:
        raise RuntimeError(f"Input type ({input.dtype}) and weight type ({weight.dtype}) should be the same")
    if weight.shape[0] % groups:
        wanted = f"expected weight to be divisible by {groups} at dimension 0"
        raise RuntimeError(f"Given groups={groups}, {wanted}, but got weight of size {size} instead")
    if input.shape[1] != channels:
        given = f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {size}"
        wanted = f"expected input{list(input.shape)} to have {channels} channels"
        raise RuntimeError(f"{given}, {wanted}, but got {input.shape[1]} channels instead")
    out = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and bias.shape != (out,):
        wanted = f"expected bias to be 1-dimensional with {out} elements"
        raise RuntimeError(f"Given weight of size {size}, {wanted}, but got bias of size {list(bias.shape)} instead")
    limits = [max(s, d) for s, d in zip(*(_spread(v, input.ndim - 2) for v in (stride, dilation)), strict=True)]
    if transposed and any(p >= limit for p, limit in zip(_spread(output_padding, len(limits)), limits, strict=True)):
        raise RuntimeError("output padding must be smaller than either stride or dilation")


def _with_bias(out: Array, bias: Array | None) -> Array:
    """Add one number per channel."""
    return out if bias is None else out + lax.expand_dims(bias, range(1, out.ndim - 1))


def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Array:
    """(N, C, *spatial) convolved to (N, out, *spatial'), of float, complex or integer; without N as well."""
    options = (stride, padding, dilation, transposed, output_padding, groups)
    if input.ndim < weight.ndim:
        return convolution(input[None], weight, bias, *options)[0]
    _refuse(input, weight, bias, *options)
    return _with_bias(_forward(input, weight, *options), bias)


def convolution_backward(
    grad_output: Array,
    input: Array,
    weight: Array,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """Gradients of input, weight and bias, each only where `output_mask` asks for it."""
    options = (stride, padding, dilation, transposed, output_padding, groups)
    # JAX's transpose is linear, torch's gradient conjugate-linear.
    cotangent = grad_output.conj()

    def of_input(x: Array) -> Array:
        return _forward(x, weight, *options)

    def of_weight(w: Array) -> Array:
        return _forward(input, w, *options)

    grads: list[Array | None] = [None, None, None]
    if output_mask[0]:
        grads[0] = jax.linear_transpose(of_input, input)(cotangent)[0].conj()
    if output_mask[1]:
        grads[1] = jax.linear_transpose(of_weight, weight)(cotangent)[0].conj()
    if output_mask[2]:
        grads[2] = jnp.sum(grad_output, axis=(0, *range(2, grad_output.ndim)))  # half precision by way of float32
    return grads[0], grads[1], grads[2]
