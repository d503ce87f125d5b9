"""`torch_xla.experimental.xla_quantized_matmul`: products with int8 weights.

The weights are converted where they are used, which XLA fuses with the product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

Tensor = torch.Tensor


def _check(x: Tensor, w: Tensor, scaler: Tensor, zero_point: Tensor | None, block_size: int) -> None:
    """Raise ValueError if shapes or dtypes do not fit."""
    if w.dtype != torch.int8:
        raise ValueError(f"quantized_matmul: a weight of {w.dtype}; expected torch.int8")
    columns = x.shape[-1]
    if block_size == -1:
        if w.dim() != 2 or w.shape[1] != columns:
            raise ValueError(f"quantized_matmul: a weight of shape {[*w.shape]}; expected [outputs, {columns}]")
        scales = [w.shape[0]]
    else:
        if columns % block_size:
            raise ValueError(f"quantized_matmul: block_size={block_size} does not divide {columns}, the inputs")
        expected = [columns // block_size, block_size]
        if w.dim() != 3 or [*w.shape[:2]] != expected:
            raise ValueError(f"quantized_matmul: a weight of shape {[*w.shape]}; expected {[*expected, 'outputs']}")
        scales = [w.shape[0], w.shape[2]]
    for name, values in ("scaler", scaler), ("zero_point", zero_point):
        if values is not None and [*values.shape] != scales:
            raise ValueError(f"quantized_matmul: {name} of shape {[*values.shape]}; expected {scales}")


def _quantize_tensor(x: Tensor, n_bits: int = 8, dim: int = -1) -> tuple[Tensor, Tensor]:
    """Round a tensor to integers of `n_bits` bits, symmetrically: an int8 tensor, and its scales with `dim` kept."""
    scale = x.abs().amax(dim, keepdim=True) / (2 ** (n_bits - 1) - 1)
    return torch.round(x / scale).to(torch.int8), scale.to(x.dtype)


def quantized_matmul(
    x: Tensor,
    w: Tensor,
    scaler: Tensor,
    zero_point: Tensor | None = None,
    block_size: int = -1,
    int4_weight: bool = False,
    quantize_activation: bool = False,
) -> Tensor:
    """The product of activations and a quantized weight.

    Args:
        x: floating-point activations, (..., inputs).
        w: an int8 weight: (outputs, inputs), or in blocks (inputs / block_size, block_size, outputs).
        scaler: the scales of the weight: (outputs,), or (inputs / block_size, outputs).
        zero_point: what is subtracted, of the shape of `scaler` and in units of the result: the sum of the inputs, of
            each block, times it.
        block_size: the inputs that share a scale; -1 if all of an output do.
        int4_weight: the int8 elements are numbers of four bits, from -8 to 7; the result is the same.
        quantize_activation: round `x` to int8, by the maximum of each row, and multiply integers.

    Returns:
        (..., outputs), with a gradient for `x` unless `quantize_activation` is set.

    Raises:
        ValueError: shapes or dtypes do not fit, or activations are quantized for a weight in blocks.
    """
    _check(x, w, scaler, zero_point, block_size)
    scale: Any = 1
    if block_size == -1:
        if quantize_activation:
            x, scale = _quantize_tensor(x)
            product = torch.ops.aten._int_mm(x.reshape(-1, x.shape[-1]), w.t()).reshape(*x.shape[:-1], w.shape[0])
        else:
            product = nn.functional.linear(x, w.to(x.dtype))
        result = product * scaler
        if zero_point is not None:
            result = result - x.to(scaler.dtype).sum(-1, keepdim=True) * zero_point
        return result * scale
    if quantize_activation:
        raise ValueError("quantized_matmul: quantize_activation=True of a weight in blocks; expected block_size=-1")
    blocks = x.unflatten(-1, (-1, block_size))
    result = torch.einsum("...sc,scn,sn->...n", blocks, w.to(x.dtype), scaler)
    return result if zero_point is None else result - blocks.sum(-1) @ zero_point


class XlaQuantizedLinear(nn.Module):
    """A linear layer without bias whose weight is quantized; see `quantized_matmul`."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        is_symmetric: bool = False,
        block_size: int = -1,
        int4_weight: bool = False,
        quantize_activation: bool = False,
    ) -> None:
        super().__init__()
        self.input_dim, self.output_dim, self.is_symmetric = input_dim, output_dim, is_symmetric
        self.block_size, self.int4_weight, self.quantize_activation = block_size, int4_weight, quantize_activation
        self.register_buffer("weight", torch.zeros(output_dim, input_dim, dtype=torch.int8))
        self.register_buffer("weight_scaler", torch.zeros(output_dim))
        self.register_buffer("zero_point", None if is_symmetric else torch.zeros(output_dim))

    def load_quantized_weight(self, weight: Tensor, weight_scaler: Tensor, zero_point: Tensor | None = None) -> None:
        """Use a weight, its scales, and what is subtracted.

        Raises:
            ValueError: shapes or dtypes do not fit.
        """
        _check(weight_scaler.new_empty(0, self.input_dim), weight, weight_scaler, zero_point, self.block_size)
        if weight_scaler.shape[-1] != self.output_dim:
            raise ValueError(f"XlaQuantizedLinear: scales of {weight_scaler.shape[-1]}; expected {self.output_dim}")
        self.weight, self.weight_scaler, self.zero_point = weight, weight_scaler, zero_point

    def forward(self, x: Tensor) -> Tensor:
        """(..., input_dim) to (..., output_dim)."""
        return quantized_matmul(
            x,
            self.weight,
            self.weight_scaler,
            self.zero_point,
            self.block_size,
            self.int4_weight,
            self.quantize_activation,
        )


_OPERATORS = torch.library.Library("xla", "FRAGMENT")
_OPERATORS.define(
    "quantized_matmul(Tensor x, Tensor w, Tensor scale, Tensor? zero_point=None, int? block_size=-1, "
    "bool? int4_weight=False, bool? quantize_activation=False) -> Tensor"
)
_OPERATORS.impl("quantized_matmul", quantized_matmul, "CompositeImplicitAutograd")
