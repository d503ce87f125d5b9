"""Lowerings of the family `quantize`.

Generated from ops_spec/quantize.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import quantize as quantize_kernels
from tenax.words import Array, Gradients, with_derivative


def fake_quantize_per_tensor_affine_cachemask(
    self: Array, scale: ArrayLike, zero_point: int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    """fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max)
        -> (Tensor output, Tensor mask)

    Spec: ops_spec/quantize.yaml
    """

    def value(self: Array, scale: ArrayLike) -> tuple[Array, Array]:
        return quantize_kernels.fake_quantize_per_tensor_affine_cachemask(
            self=self, scale=scale, zero_point=zero_point, quant_min=quant_min, quant_max=quant_max
        )

    def gradients(grad: Array, result: Array, self: Array, scale: ArrayLike) -> Gradients:
        return {
            "self": lambda: jnp.where(result[1], grad[0], 0),
        }

    return with_derivative(value, gradients, self=self, scale=scale)


def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    self: Array, scale: Array, zero_point: Array, fake_quant_enabled: Array, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    """_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, Tensor
        fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)

    Spec: ops_spec/quantize.yaml
    """

    def value(self: Array, scale: Array, zero_point: Array, fake_quant_enabled: Array) -> tuple[Array, Array]:
        return quantize_kernels._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            self=self,
            scale=scale,
            zero_point=zero_point,
            fake_quant_enabled=fake_quant_enabled,
            quant_min=quant_min,
            quant_max=quant_max,
        )

    def gradients(
        grad: Array, result: Array, self: Array, scale: Array, zero_point: Array, fake_quant_enabled: Array
    ) -> Gradients:
        return {
            "self": lambda: jnp.where(result[1], grad[0], 0),
        }

    return with_derivative(
        value, gradients, self=self, scale=scale, zero_point=zero_point, fake_quant_enabled=fake_quant_enabled
    )


def fake_quantize_per_channel_affine_cachemask(
    self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    """fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min,
        int quant_max) -> (Tensor output, Tensor mask)

    Spec: ops_spec/quantize.yaml
    """

    def value(self: Array, scale: Array, zero_point: Array) -> tuple[Array, Array]:
        return quantize_kernels.fake_quantize_per_channel_affine_cachemask(
            self=self, scale=scale, zero_point=zero_point, axis=axis, quant_min=quant_min, quant_max=quant_max
        )

    def gradients(grad: Array, result: Array, self: Array, scale: Array, zero_point: Array) -> Gradients:
        return {
            "self": lambda: jnp.where(result[1], grad[0], 0),
        }

    return with_derivative(value, gradients, self=self, scale=scale, zero_point=zero_point)


def fake_quantize_per_channel_affine_cachemask__checks(
    self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> tuple[Array, ...]:
    """The conditions of fake_quantize_per_channel_affine_cachemask; its row of the table has their errors."""
    return (jnp.all((zero_point >= quant_min) & (zero_point <= quant_max)) | (zero_point.dtype.kind != "i"),)


def _fake_quantize_learnable_per_tensor_affine(
    self: Array, scale: Array, zero_point: Array, quant_min: int, quant_max: int, grad_factor: ArrayLike = 1.0
) -> Array:
    """_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int
        quant_max, float grad_factor=1.0) -> Tensor

    Spec: ops_spec/quantize.yaml
    """

    def value(self: Array, scale: Array, zero_point: Array, grad_factor: ArrayLike) -> Array:
        return _fake_quantize_learnable_per_channel_affine(self, scale, zero_point, None, quant_min, quant_max)

    def gradients(
        grad: Array, result: Array, self: Array, scale: Array, zero_point: Array, grad_factor: ArrayLike
    ) -> Gradients:
        return {
            "self, scale, zero_point": lambda: _fake_quantize_learnable_per_tensor_affine_backward(
                grad, self, scale, zero_point, quant_min, quant_max, grad_factor
            ),
        }

    return with_derivative(value, gradients, self=self, scale=scale, zero_point=zero_point, grad_factor=grad_factor)


def _fake_quantize_learnable_per_tensor_affine_backward(
    grad: Array,
    self: Array,
    scale: Array,
    zero_point: Array,
    quant_min: int,
    quant_max: int,
    grad_factor: ArrayLike = 1.0,
) -> tuple[Array, Array, Array]:
    """_fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor zero_point,
        int quant_min, int quant_max, float grad_factor=1.0) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/quantize.yaml
    """
    return quantize_kernels._fake_quantize_learnable_per_channel_affine_backward(
        grad, self, scale, zero_point, None, quant_min, quant_max, grad_factor
    )


def _fake_quantize_learnable_per_channel_affine(
    self: Array,
    scale: Array,
    zero_point: Array,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: ArrayLike = 1.0,
) -> Array:
    """_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int
        quant_min, int quant_max, float grad_factor=1.0) -> Tensor

    Spec: ops_spec/quantize.yaml
    """

    def value(self: Array, scale: Array, zero_point: Array, grad_factor: ArrayLike) -> Array:
        return quantize_kernels._fake_quantize_learnable_per_channel_affine(
            self=self,
            scale=scale,
            zero_point=zero_point,
            axis=axis,
            quant_min=quant_min,
            quant_max=quant_max,
            grad_factor=grad_factor,
        )

    def gradients(
        grad: Array, result: Array, self: Array, scale: Array, zero_point: Array, grad_factor: ArrayLike
    ) -> Gradients:
        return {
            "self, scale, zero_point": lambda: quantize_kernels._fake_quantize_learnable_per_channel_affine_backward(
                grad, self, scale, zero_point, axis, quant_min, quant_max, grad_factor
            ),
        }

    return with_derivative(value, gradients, self=self, scale=scale, zero_point=zero_point, grad_factor=grad_factor)


def _fused_moving_avg_obs_fq_helper(
    self: Array,
    observer_on: Array,
    fake_quant_on: Array,
    running_min: Array,
    running_max: Array,
    scale: Array,
    zero_point: Array,
    averaging_const: ArrayLike,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """_fused_moving_avg_obs_fq_helper(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min,
        Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int
        quant_max, int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> (Tensor output, Tensor
        mask)

    Spec: ops_spec/quantize.yaml
    """

    def value(
        self: Array,
        observer_on: Array,
        fake_quant_on: Array,
        running_min: Array,
        running_max: Array,
        scale: Array,
        zero_point: Array,
        averaging_const: ArrayLike,
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        return quantize_kernels._fused_moving_avg_obs_fq_helper(
            self=self,
            observer_on=observer_on,
            fake_quant_on=fake_quant_on,
            running_min=running_min,
            running_max=running_max,
            scale=scale,
            zero_point=zero_point,
            averaging_const=averaging_const,
            quant_min=quant_min,
            quant_max=quant_max,
            ch_axis=ch_axis,
            per_row_fake_quant=per_row_fake_quant,
            symmetric_quant=symmetric_quant,
        )

    def gradients(
        grad: Array,
        result: Array,
        self: Array,
        observer_on: Array,
        fake_quant_on: Array,
        running_min: Array,
        running_max: Array,
        scale: Array,
        zero_point: Array,
        averaging_const: ArrayLike,
    ) -> Gradients:
        return {
            "self": lambda: jnp.where(result[1], grad[0], 0),
        }

    return with_derivative(
        value,
        gradients,
        self=self,
        observer_on=observer_on,
        fake_quant_on=fake_quant_on,
        running_min=running_min,
        running_max=running_max,
        scale=scale,
        zero_point=zero_point,
        averaging_const=averaging_const,
    )
