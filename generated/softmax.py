"""Lowerings of the family `softmax`.

Generated from ops_spec/softmax.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from tenax.kernels import softmax as softmax_kernels
from tenax.words import Array, DType


def _softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    """_softmax(Tensor self, int dim, bool half_to_float) -> Tensor

    Spec: ops_spec/softmax.yaml
    """
    return softmax_kernels._softmax(self=self, dim=dim, half_to_float=half_to_float)


def _softmax_backward_data(grad_output: Array, output: Array, dim: int, input_dtype: DType) -> Array:
    """_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor

    Spec: ops_spec/softmax.yaml
    """
    return softmax_kernels._softmax_backward_data(
        grad_output=grad_output, output=output, dim=dim, input_dtype=input_dtype
    )


def _log_softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    """_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor

    Spec: ops_spec/softmax.yaml
    """
    return softmax_kernels._log_softmax(self=self, dim=dim, half_to_float=half_to_float)


def _log_softmax_backward_data(grad_output: Array, output: Array, dim: int, input_dtype: DType) -> Array:
    """_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor

    Spec: ops_spec/softmax.yaml
    """
    return softmax_kernels._log_softmax_backward_data(
        grad_output=grad_output, output=output, dim=dim, input_dtype=input_dtype
    )


def _safe_softmax(self: Array, dim: int, dtype: DType | None = None) -> Array:
    """_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/softmax.yaml
    """
    return softmax_kernels._safe_softmax(self=self, dim=dim, dtype=dtype)


def _masked_softmax(self: Array, mask: Array, dim: int | None = None, mask_type: int | None = None) -> Array:
    """_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor

    Spec: ops_spec/softmax.yaml
    """
    return softmax_kernels._masked_softmax(self=self, mask=mask, dim=dim, mask_type=mask_type)


def _masked_softmax_backward(grad_output: Array, output: Array, mask: Array, dim: int | None = None) -> Array:
    """_masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? dim=None) -> Tensor

    Spec: ops_spec/softmax.yaml
    """
    return softmax_kernels._masked_softmax_backward(grad_output=grad_output, output=output, mask=mask, dim=dim)
