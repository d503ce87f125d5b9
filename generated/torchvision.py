"""Lowerings of the family `torchvision`.

Generated from ops_spec/torchvision.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.kernels import deform as deform_kernels
from tenax.kernels import nms as nms_kernels
from tenax.kernels import roi as roi_kernels
from tenax.words import Array


def nms(dets: Array, scores: Array, iou_threshold: ArrayLike) -> Array:
    """torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor

    Spec: ops_spec/torchvision.yaml
    """
    return nms_kernels.nms(dets=dets, scores=scores, iou_threshold=iou_threshold)


def roi_align(
    input: Array,
    rois: Array,
    spatial_scale: ArrayLike,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Array:
    """torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width,
        int sampling_ratio, bool aligned) -> Tensor

    Spec: ops_spec/torchvision.yaml
    """
    return roi_kernels.roi_align(
        input=input,
        rois=rois,
        spatial_scale=spatial_scale,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        sampling_ratio=sampling_ratio,
        aligned=aligned,
    )


def _roi_align_backward(
    grad: Array,
    rois: Array,
    spatial_scale: ArrayLike,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Array:
    """torchvision::_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt
        pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned)
        -> Tensor

    Spec: ops_spec/torchvision.yaml
    """
    return roi_kernels._roi_align_backward(
        grad=grad,
        rois=rois,
        spatial_scale=spatial_scale,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        batch_size=batch_size,
        channels=channels,
        height=height,
        width=width,
        sampling_ratio=sampling_ratio,
        aligned=aligned,
    )


def ps_roi_align(
    input: Array, rois: Array, spatial_scale: ArrayLike, pooled_height: int, pooled_width: int, sampling_ratio: int
) -> tuple[Array, Array]:
    """torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt
        pooled_width, int sampling_ratio) -> (Tensor, Tensor)

    Spec: ops_spec/torchvision.yaml
    """
    return roi_kernels.ps_roi_align(
        input=input,
        rois=rois,
        spatial_scale=spatial_scale,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        sampling_ratio=sampling_ratio,
    )


def _ps_roi_align_backward(
    grad: Array,
    rois: Array,
    channel_mapping: Array,
    spatial_scale: ArrayLike,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Array:
    """torchvision::_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt
        pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height,
        SymInt width) -> Tensor

    Spec: ops_spec/torchvision.yaml
    """
    return roi_kernels._ps_roi_align_backward(
        grad=grad,
        rois=rois,
        channel_mapping=channel_mapping,
        spatial_scale=spatial_scale,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        sampling_ratio=sampling_ratio,
        batch_size=batch_size,
        channels=channels,
        height=height,
        width=width,
    )


def roi_pool(
    input: Array, rois: Array, spatial_scale: ArrayLike, pooled_height: int, pooled_width: int
) -> tuple[Array, Array]:
    """torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width)
        -> (Tensor, Tensor)

    Spec: ops_spec/torchvision.yaml
    """
    return roi_kernels.roi_pool(
        input=input, rois=rois, spatial_scale=spatial_scale, pooled_height=pooled_height, pooled_width=pooled_width
    )


def _roi_pool_backward(
    grad: Array,
    rois: Array,
    argmax: Array,
    spatial_scale: ArrayLike,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Array:
    """torchvision::_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt
        pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor

    Spec: ops_spec/torchvision.yaml
    """
    return roi_kernels._roi_pool_backward(
        grad=grad,
        rois=rois,
        argmax=argmax,
        spatial_scale=spatial_scale,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        batch_size=batch_size,
        channels=channels,
        height=height,
        width=width,
    )


def deform_conv2d(
    input: Array,
    weight: Array,
    offset: Array,
    mask: Array,
    bias: Array,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Array:
    """torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h,
        SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt
        offset_groups, bool use_mask) -> Tensor

    Spec: ops_spec/torchvision.yaml
    """
    return deform_kernels.deform_conv2d(
        input=input,
        weight=weight,
        offset=offset,
        mask=mask,
        bias=bias,
        stride_h=stride_h,
        stride_w=stride_w,
        pad_h=pad_h,
        pad_w=pad_w,
        dilation_h=dilation_h,
        dilation_w=dilation_w,
        groups=groups,
        offset_groups=offset_groups,
        use_mask=use_mask,
    )


def _deform_conv2d_backward(
    grad: Array,
    input: Array,
    weight: Array,
    offset: Array,
    mask: Array,
    bias: Array,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> tuple[Array, Array, Array, Array, Array]:
    """torchvision::_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor
        bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt
        groups, SymInt offset_groups, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)

    Spec: ops_spec/torchvision.yaml
    """
    return deform_kernels._deform_conv2d_backward(
        grad=grad,
        input=input,
        weight=weight,
        offset=offset,
        mask=mask,
        bias=bias,
        stride_h=stride_h,
        stride_w=stride_w,
        pad_h=pad_h,
        pad_w=pad_w,
        dilation_h=dilation_h,
        dilation_w=dilation_w,
        groups=groups,
        offset_groups=offset_groups,
        use_mask=use_mask,
    )
