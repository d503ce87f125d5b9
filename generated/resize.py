"""Lowerings of the family `resize`.

Generated from ops_spec/resize.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax.typing import ArrayLike

from tenax.kernels import grid as grid_kernels
from tenax.kernels import resize as resize_kernels
from tenax.words import Array


def upsample_nearest1d(self: Array, output_size: Sequence[int], scales: ArrayLike | None = None) -> Array:
    """upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest(self=self, output_size=output_size, scales=scales)


def upsample_nearest1d_backward(
    grad_output: Array, output_size: Sequence[int], input_size: Sequence[int], scales: ArrayLike | None = None
) -> Array:
    """upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None)
        -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_backward(
        grad_output=grad_output, output_size=output_size, input_size=input_size, scales=scales
    )


def upsample_nearest2d(
    self: Array, output_size: Sequence[int], scales_h: ArrayLike | None = None, scales_w: ArrayLike | None = None
) -> Array:
    """upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest(self=self, output_size=output_size, scales_h=scales_h, scales_w=scales_w)


def upsample_nearest2d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float?
        scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_backward(
        grad_output=grad_output, output_size=output_size, input_size=input_size, scales_h=scales_h, scales_w=scales_w
    )


def upsample_nearest3d(
    self: Array,
    output_size: Sequence[int],
    scales_d: ArrayLike | None = None,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float?
        scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest(
        self=self, output_size=output_size, scales_d=scales_d, scales_h=scales_h, scales_w=scales_w
    )


def upsample_nearest3d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_d: ArrayLike | None = None,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float?
        scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        scales_d=scales_d,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def _upsample_nearest_exact1d(self: Array, output_size: Sequence[int], scales: ArrayLike | None = None) -> Array:
    """_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_exact(self=self, output_size=output_size, scales=scales)


def _upsample_nearest_exact1d_backward(
    grad_output: Array, output_size: Sequence[int], input_size: Sequence[int], scales: ArrayLike | None = None
) -> Array:
    """_upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float?
        scales=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_exact_backward(
        grad_output=grad_output, output_size=output_size, input_size=input_size, scales=scales
    )


def _upsample_nearest_exact2d(
    self: Array, output_size: Sequence[int], scales_h: ArrayLike | None = None, scales_w: ArrayLike | None = None
) -> Array:
    """_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) ->
        Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_exact(
        self=self, output_size=output_size, scales_h=scales_h, scales_w=scales_w
    )


def _upsample_nearest_exact2d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float?
        scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_exact_backward(
        grad_output=grad_output, output_size=output_size, input_size=input_size, scales_h=scales_h, scales_w=scales_w
    )


def _upsample_nearest_exact3d(
    self: Array,
    output_size: Sequence[int],
    scales_d: ArrayLike | None = None,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float?
        scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_exact(
        self=self, output_size=output_size, scales_d=scales_d, scales_h=scales_h, scales_w=scales_w
    )


def _upsample_nearest_exact3d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    scales_d: ArrayLike | None = None,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float?
        scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_nearest_exact_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        scales_d=scales_d,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def upsample_linear1d(
    self: Array, output_size: Sequence[int], align_corners: bool, scales: ArrayLike | None = None
) -> Array:
    """upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear(
        self=self, output_size=output_size, align_corners=align_corners, scales=scales
    )


def upsample_linear1d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales: ArrayLike | None = None,
) -> Array:
    """upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, bool align_corners,
        float? scales=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        align_corners=align_corners,
        scales=scales,
    )


def upsample_bilinear2d(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
        scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear(
        self=self, output_size=output_size, align_corners=align_corners, scales_h=scales_h, scales_w=scales_w
    )


def upsample_bilinear2d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners,
        float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        align_corners=align_corners,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def upsample_trilinear3d(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_d: ArrayLike | None = None,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float?
        scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear(
        self=self,
        output_size=output_size,
        align_corners=align_corners,
        scales_d=scales_d,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def upsample_trilinear3d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_d: ArrayLike | None = None,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, bool
        align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        align_corners=align_corners,
        scales_d=scales_d,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def upsample_bicubic2d(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
        scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_cubic(
        self=self, output_size=output_size, align_corners=align_corners, scales_h=scales_h, scales_w=scales_w
    )


def upsample_bicubic2d_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners,
        float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_cubic_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        align_corners=align_corners,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def _upsample_bilinear2d_aa(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
        scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear_aa(
        self=self, output_size=output_size, align_corners=align_corners, scales_h=scales_h, scales_w=scales_w
    )


def _upsample_bilinear2d_aa_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_bilinear2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool
        align_corners, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_linear_aa_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        align_corners=align_corners,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def _upsample_bicubic2d_aa(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
        scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_cubic_aa(
        self=self, output_size=output_size, align_corners=align_corners, scales_h=scales_h, scales_w=scales_w
    )


def _upsample_bicubic2d_aa_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_bicubic2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool
        align_corners, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_cubic_aa_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        align_corners=align_corners,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def _upsample_lanczos2d_aa(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
        scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_lanczos_aa(
        self=self, output_size=output_size, align_corners=align_corners, scales_h=scales_h, scales_w=scales_w
    )


def _upsample_lanczos2d_aa_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: ArrayLike | None = None,
    scales_w: ArrayLike | None = None,
) -> Array:
    """_upsample_lanczos2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool
        align_corners, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return resize_kernels.upsample_lanczos_aa_backward(
        grad_output=grad_output,
        output_size=output_size,
        input_size=input_size,
        align_corners=align_corners,
        scales_h=scales_h,
        scales_w=scales_w,
    )


def _grid_sampler_2d_cpu_fallback(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    """_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool
        align_corners) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def _grid_sampler_2d_cpu_fallback_backward(
    grad_output: Array, input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> tuple[Array, Array]:
    """_grid_sampler_2d_cpu_fallback_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int
        padding_mode, bool align_corners) -> (Tensor, Tensor)

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler_backward(
        grad_output, input, grid, interpolation_mode, padding_mode, align_corners, (True, True)
    )
