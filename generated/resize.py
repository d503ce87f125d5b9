"""Lowerings of the family `resize`.

Generated from ops_spec/resize.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax.typing import ArrayLike

from tenax.kernels import grid as grid_kernels
from tenax.kernels import nearest as nearest_kernels
from tenax.kernels import pad as pad_kernels
from tenax.kernels import resize as resize_kernels
from tenax.kernels import shuffle as shuffle_kernels
from tenax.words import Array


def upsample_nearest1d(self: Array, output_size: Sequence[int], scales: ArrayLike | None = None) -> Array:
    """upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return nearest_kernels.upsample_nearest(self=self, output_size=output_size, scales=scales)


def upsample_nearest1d_backward(
    grad_output: Array, output_size: Sequence[int], input_size: Sequence[int], scales: ArrayLike | None = None
) -> Array:
    """upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None)
        -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return nearest_kernels.upsample_nearest_backward(
        grad_output=grad_output, output_size=output_size, input_size=input_size, scales=scales
    )


def upsample_nearest2d(
    self: Array, output_size: Sequence[int], scales_h: ArrayLike | None = None, scales_w: ArrayLike | None = None
) -> Array:
    """upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return nearest_kernels.upsample_nearest(self=self, output_size=output_size, scales_h=scales_h, scales_w=scales_w)


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
    return nearest_kernels.upsample_nearest_backward(
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
    return nearest_kernels.upsample_nearest(
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
    return nearest_kernels.upsample_nearest_backward(
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
    return nearest_kernels.upsample_nearest_exact(self=self, output_size=output_size, scales=scales)


def _upsample_nearest_exact1d_backward(
    grad_output: Array, output_size: Sequence[int], input_size: Sequence[int], scales: ArrayLike | None = None
) -> Array:
    """_upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float?
        scales=None) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return nearest_kernels.upsample_nearest_exact_backward(
        grad_output=grad_output, output_size=output_size, input_size=input_size, scales=scales
    )


def _upsample_nearest_exact2d(
    self: Array, output_size: Sequence[int], scales_h: ArrayLike | None = None, scales_w: ArrayLike | None = None
) -> Array:
    """_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) ->
        Tensor

    Spec: ops_spec/resize.yaml
    """
    return nearest_kernels.upsample_nearest_exact(
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
    return nearest_kernels.upsample_nearest_exact_backward(
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
    return nearest_kernels.upsample_nearest_exact(
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
    return nearest_kernels.upsample_nearest_exact_backward(
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


def grid_sampler_2d(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    """grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) ->
        Tensor

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler(
        input=input,
        grid=grid,
        interpolation_mode=interpolation_mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
    )


def grid_sampler_2d_backward(
    grad_output: Array,
    input: Array,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None]:
    """grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode,
        bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler_backward(
        grad_output=grad_output,
        input=input,
        grid=grid,
        interpolation_mode=interpolation_mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
        output_mask=output_mask,
    )


def grid_sampler_3d(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    """grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) ->
        Tensor

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler(
        input=input,
        grid=grid,
        interpolation_mode=interpolation_mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
    )


def grid_sampler_3d_backward(
    grad_output: Array,
    input: Array,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None]:
    """grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode,
        bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler_backward(
        grad_output=grad_output,
        input=input,
        grid=grid,
        interpolation_mode=interpolation_mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
        output_mask=output_mask,
    )


def _grid_sampler_2d_cpu_fallback(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    """_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool
        align_corners) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler(
        input=input,
        grid=grid,
        interpolation_mode=interpolation_mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
    )


def _grid_sampler_2d_cpu_fallback_backward(
    grad_output: Array, input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> tuple[Array, Array]:
    """_grid_sampler_2d_cpu_fallback_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int
        padding_mode, bool align_corners) -> (Tensor, Tensor)

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.grid_sampler_2d_fallback_backward(
        grad_output=grad_output,
        input=input,
        grid=grid,
        interpolation_mode=interpolation_mode,
        padding_mode=padding_mode,
        align_corners=align_corners,
    )


def affine_grid_generator(theta: Array, size: Sequence[int], align_corners: bool) -> Array:
    """affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return grid_kernels.affine_grid_generator(theta=theta, size=size, align_corners=align_corners)


def constant_pad_nd(self: Array, pad: Sequence[int], value: ArrayLike = 0) -> Array:
    """constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.constant_pad_nd(self=self, pad=pad, value=value)


def reflection_pad1d(self: Array, padding: Sequence[int]) -> Array:
    """reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.reflection_pad(self=self, padding=padding)


def reflection_pad1d_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.reflection_pad_backward(grad_output=grad_output, self=self, padding=padding)


def reflection_pad2d(self: Array, padding: Sequence[int]) -> Array:
    """reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.reflection_pad(self=self, padding=padding)


def reflection_pad2d_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.reflection_pad_backward(grad_output=grad_output, self=self, padding=padding)


def reflection_pad3d(self: Array, padding: Sequence[int]) -> Array:
    """reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.reflection_pad(self=self, padding=padding)


def reflection_pad3d_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.reflection_pad_backward(grad_output=grad_output, self=self, padding=padding)


def replication_pad1d(self: Array, padding: Sequence[int]) -> Array:
    """replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.replication_pad(self=self, padding=padding)


def replication_pad1d_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.replication_pad_backward(grad_output=grad_output, self=self, padding=padding)


def replication_pad2d(self: Array, padding: Sequence[int]) -> Array:
    """replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.replication_pad(self=self, padding=padding)


def replication_pad2d_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.replication_pad_backward(grad_output=grad_output, self=self, padding=padding)


def replication_pad3d(self: Array, padding: Sequence[int]) -> Array:
    """replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.replication_pad(self=self, padding=padding)


def replication_pad3d_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return pad_kernels.replication_pad_backward(grad_output=grad_output, self=self, padding=padding)


def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """pixel_shuffle(Tensor self, int upscale_factor) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return shuffle_kernels.pixel_shuffle(self=self, upscale_factor=upscale_factor)


def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    """pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return shuffle_kernels.pixel_unshuffle(self=self, downscale_factor=downscale_factor)


def channel_shuffle(self: Array, groups: int) -> Array:
    """channel_shuffle(Tensor self, SymInt groups) -> Tensor

    Spec: ops_spec/resize.yaml
    """
    return shuffle_kernels.channel_shuffle(self=self, groups=groups)
