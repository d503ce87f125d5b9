"""torch's convolutions: any rank, stride, dilation and group count, with their transposes and gradients."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax

from tenax.kernels.convolution import primitives
from tenax.kernels.convolution.geometry import Geometry
from tenax.kernels.window import spread
from tenax.words import BOOL, Array, product_precision

# Stride, padding, dilation, whether it is transposed, output padding, groups.
Options = tuple[Sequence[int], Sequence[int], Sequence[int], bool, Sequence[int], int]


def _geometry(input: Array, weight: Array, options: Options) -> Geometry:
    """The geometry of a convolution; a transposed one maps its output to its image."""
    stride, padding, dilation, transposed, output_padding, groups = options
    rank = input.ndim - 2
    stride, padding, dilation, extra = (spread(v, rank) for v in (stride, padding, dilation, output_padding))
    sizes, kernel = tuple(input.shape[2:]), tuple(weight.shape[2:])
    axes = zip(sizes, stride, padding, dilation, kernel, extra, strict=True)
    if transposed:
        image = tuple((n - 1) * s + d * (k - 1) + 1 + e - 2 * p for n, s, p, d, k, e in axes)
        return Geometry(stride, padding, dilation, groups, image, kernel, sizes, product_precision(input.dtype))
    out = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, s, p, d, k, _ in axes)
    return Geometry(stride, padding, dilation, groups, sizes, kernel, out, product_precision(input.dtype))


def _refuse(input: Array, weight: Array, bias: Array | None, options: Options) -> None:
    """Raise the errors of ATen's `convolution` that its Meta kernel does not (ATen/native/Convolution.cpp)."""
    stride, padding, dilation, transposed, output_padding, groups = options
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
    if weight.shape[0] % groups or not weight.shape[0]:
        bound = "divisible by" if weight.shape[0] >= groups else "at least"
        wanted = f"expected weight to be {bound} {groups} at dimension 0"
        raise RuntimeError(f"Given groups={groups}, {wanted}, but got weight of size {size} instead")
    if input.shape[1] != channels:
        given = f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {size}"
        wanted = f"expected input{list(input.shape)} to have {channels} channels"
        raise RuntimeError(f"{given}, {wanted}, but got {input.shape[1]} channels instead")
    out = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and bias.shape != (out,):
        wanted = f"expected bias to be 1-dimensional with {out} elements"
        raise RuntimeError(f"Given weight of size {size}, {wanted}, but got bias of size {list(bias.shape)} instead")
    limits = [max(s, d) for s, d in zip(*(spread(v, input.ndim - 2) for v in (stride, dilation)), strict=True)]
    if transposed and any(p >= limit for p, limit in zip(spread(output_padding, len(limits)), limits, strict=True)):
        raise RuntimeError("output padding must be smaller than either stride or dilation")


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
    """(N, C, *spatial) convolved to (N, out, *spatial'), of float, complex or integer; N may be absent."""
    options = (stride, padding, dilation, transposed, output_padding, groups)
    if input.ndim < weight.ndim:
        return convolution(input[None], weight, bias, *options)[0]
    _refuse(input, weight, bias, options)
    convolve = primitives.image if transposed else primitives.output
    out = convolve(_geometry(input, weight, options), input, weight)
    return out if bias is None else out + lax.expand_dims(bias, range(1, out.ndim - 1))


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
    """Gradients of input, weight and bias, each None unless set in `output_mask`."""
    geometry = _geometry(input, weight, (stride, padding, dilation, transposed, output_padding, groups))
    # JAX's transpose is linear, torch's gradient conjugate-linear.
    cotangent = grad_output.conj()
    grads: list[Array | None] = [None, None, None]
    if output_mask[0]:
        of_input = primitives.output if transposed else primitives.image
        grads[0] = of_input(geometry, cotangent, weight).conj()
    if output_mask[1]:
        pair = (input, cotangent) if transposed else (cotangent, input)
        grads[1] = primitives.weight(geometry, *pair).conj()
    if output_mask[2]:
        grads[2] = jnp.sum(grad_output, axis=(0, *range(2, grad_output.ndim)))  # sums half precision in float32
    return grads[0], grads[1], grads[2]
