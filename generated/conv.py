"""Lowerings of the family `conv`.

Generated from ops_spec/conv.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax import lax

from tenax.kernels import conv as conv_kernels
from tenax.words import Array


def convolution_overrideable(
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
    """convolution_overrideable(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[]
        dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def convolution_backward_overrideable(
    grad_output: Array,
    input: Array,
    weight: Array,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """convolution_backward_overrideable(Tensor grad_output, Tensor input, Tensor weight, SymInt[] stride, SymInt[]
        padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) ->
        (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution_backward(
        grad_output, input, weight, None, stride, padding, dilation, transposed, output_padding, groups, output_mask
    )


def conv_tbc(self: Array, weight: Array, bias: Array, pad: int = 0) -> Array:
    """conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor

    T is time, N the batch, C the channels, I the input channels and O the output channels

    Spec: ops_spec/conv.yaml
    """
    return lax.conv_general_dilated(self, weight, [1], [(pad, pad)], dimension_numbers=("TNC", "TIO", "TNC")) + bias


def _slow_conv2d_forward(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
) -> Array:
    """_slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride, SymInt[2]
        padding) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, [1, 1], False, [0, 0], 1)


def _slow_conv2d_backward__output_mask(
    grad_output: Array,
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """_slow_conv2d_backward.output_mask(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size,
        SymInt[2] stride, SymInt[2] padding, bool[3] output_mask) -> (Tensor grad_input, Tensor grad_weight, Tensor
        grad_bias)

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution_backward(
        grad_output, self, weight, None, stride, padding, [1, 1], False, [0, 0], 1, output_mask
    )


def _slow_conv2d_backward__grad_input(
    grad_output: Array,
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> tuple[Array, Array, Array]:
    """_slow_conv2d_backward.grad_input(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size, SymInt[2]
        stride, SymInt[2] padding, *, Tensor(a!) grad_input, Tensor(b!) grad_weight, Tensor(c!) grad_bias) ->
        (Tensor(a!), Tensor(b!), Tensor(c!))

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution_backward(
        grad_output, self, weight, None, stride, padding, [1, 1], False, [0, 0], 1, [True] * 3
    )


def slow_conv3d_forward(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
) -> Array:
    """slow_conv3d_forward(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, SymInt[3] stride, SymInt[3]
        padding) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, [1, 1, 1], False, [0, 0, 0], 1)


def slow_conv_dilated2d(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None = None,
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
) -> Array:
    """slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1,
        SymInt[2] padding=0, SymInt[2] dilation=1) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, dilation, False, [0, 0], 1)


def slow_conv_dilated3d(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None = None,
    stride: Sequence[int] = (1, 1, 1),
    padding: Sequence[int] = (0, 0, 0),
    dilation: Sequence[int] = (1, 1, 1),
) -> Array:
    """slow_conv_dilated3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0, SymInt[3] dilation=1) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, dilation, False, [0, 0, 0], 1)


def slow_conv_transpose2d(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None = None,
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    output_padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
) -> Array:
    """slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1,
        SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt[2] dilation=1) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, dilation, True, output_padding, 1)


def slow_conv_transpose3d(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None = None,
    stride: Sequence[int] = (1, 1, 1),
    padding: Sequence[int] = (0, 0, 0),
    output_padding: Sequence[int] = (0, 0, 0),
    dilation: Sequence[int] = (1, 1, 1),
) -> Array:
    """slow_conv_transpose3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt[3] dilation=1) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, dilation, True, output_padding, 1)


def _conv_depthwise2d(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Array:
    """_conv_depthwise2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride, SymInt[2]
        padding, SymInt[2] dilation) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, dilation, False, [0, 0], weight.shape[0])


def conv_depthwise3d(
    self: Array,
    weight: Array,
    kernel_size: Sequence[int],
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Array:
    """conv_depthwise3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, SymInt[3] stride, SymInt[3]
        padding, SymInt[3] dilation) -> Tensor

    Spec: ops_spec/conv.yaml
    """
    return conv_kernels.convolution(self, weight, bias, stride, padding, dilation, False, [0, 0, 0], weight.shape[0])
