"""torchvision's detection operators on the device, against their definitions written as loops over CPU tensors.

Without a torchvision that loads beside the installed torch, its operators are defined here by the schemas of the spec.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tenax.codegen import spec
from tenax.codegen.tree import PACKAGE, Tree
from tests.helpers.agreement import agree

ENTRIES, FAULTS = spec.load(Tree.at(PACKAGE).specs / "torchvision.yaml")


@pytest.fixture(scope="module", autouse=True)
def library() -> Iterator[None]:
    """The operators; the device is in use before they exist."""
    torch.ones(1, device="jax")
    try:
        import torchvision  # noqa: F401

        yield
    except (ImportError, RuntimeError):  # the latter where its kernels are for another build of torch
        made = torch.library.Library("torchvision", "FRAGMENT")
        for entry in ENTRIES:
            made.define(entry.func.removeprefix("torchvision::"))
        yield
        made._destroy()


def run(name: str, *arguments: Any) -> Any:
    """The operator on the device."""
    moved = [a.detach().to("jax") if isinstance(a, torch.Tensor) else a for a in arguments]
    return getattr(torch.ops.torchvision, name).default(*moved)


# Definitions


def kept(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> torch.Tensor:
    """Greedy suppression."""
    result: list[int] = []
    for i in np.argsort(-scores.numpy(), kind="stable").tolist():
        for j in result:
            a, b = boxes[i], boxes[j]
            sides = (torch.minimum(a[2:], b[2:]) - torch.maximum(a[:2], b[:2])).clamp(min=0)
            common = sides.prod()
            union = (a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - common
            if float(common / union) > threshold:
                break
        else:
            result.append(i)
    return torch.tensor(result, dtype=torch.int64)


def sampled(plane: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A plane between its pixels, zero outside of it; differentiable in all three."""
    height, width = plane.shape[-2:]
    top, left = math.floor(y.detach()), math.floor(x.detach())
    total = plane.new_zeros(plane.shape[:-2])
    for i, down in ((top, 1 - (y - top)), (top + 1, y - top)):
        for j, across in ((left, 1 - (x - left)), (left + 1, x - left)):
            if 0 <= i < height and 0 <= j < width:
                total = total + plane[..., i, j] * down * across
    return total


def aligned_bins(
    image: torch.Tensor, rois: torch.Tensor, scale: float, h: int, w: int, samples: int, shift: float, sized: bool
) -> torch.Tensor:
    """The mean of the samples of each bin, (k, c, h, w)."""
    result = image.new_zeros(len(rois), image.shape[1], h, w)
    height, width = image.shape[2:]
    for k, roi in enumerate(rois):
        x1, y1, x2, y2 = (roi[1:] * scale - shift).tolist()
        across, down = (x2 - x1, y2 - y1) if sized else (max(x2 - x1, 1), max(y2 - y1, 1))
        rows, columns = (samples, samples) if samples > 0 else (math.ceil(down / h), math.ceil(across / w))
        for p in range(h):
            for q in range(w):
                total = image.new_zeros(image.shape[1])
                for i in range(rows):
                    for j in range(columns):
                        y = y1 + (p + (i + 0.5) / rows) * down / h
                        x = x1 + (q + (j + 0.5) / columns) * across / w
                        if -1 <= y <= height and -1 <= x <= width:
                            place = (
                                torch.tensor(min(max(v, 0), n - 1), dtype=image.dtype)
                                for v, n in ((y, height), (x, width))
                            )
                            total = total + sampled(image[int(roi[0])], *place)
                result[k, :, p, q] = total / max(rows * columns, 1)
    return result


def greatest(
    image: torch.Tensor, rois: torch.Tensor, scale: float, h: int, w: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The greatest element of each bin, and where it is."""
    channels, height, width = image.shape[1:]
    result = image.new_zeros(len(rois), channels, h, w)
    at = torch.full(result.shape, -1, dtype=torch.int32)
    for k, roi in enumerate(rois):
        x1, y1, x2, y2 = (math.floor(abs(v) + 0.5) * (1 if v > 0 else -1) for v in (roi[1:] * scale).tolist())
        down, across = max(y2 - y1 + 1, 1) / h, max(x2 - x1 + 1, 1) / w
        for p in range(h):
            for q in range(w):
                rows = range(max(math.floor(p * down) + y1, 0), min(math.ceil((p + 1) * down) + y1, height))
                columns = range(max(math.floor(q * across) + x1, 0), min(math.ceil((q + 1) * across) + x1, width))
                for c in range(channels):
                    places = [(i, j) for i in rows for j in columns]
                    if places:
                        i, j = max(places, key=lambda place: float(image.detach()[int(roi[0]), c, place[0], place[1]]))
                        result[k, c, p, q], at[k, c, p, q] = image[int(roi[0]), c, i, j], i * width + j
    return result, at


def deformed(
    image: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    stride: tuple[int, int],
    pad: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> torch.Tensor:
    """Deformable convolution, tap by tap."""
    (n, channels), (out, _, kh, kw), (down, across) = image.shape[:2], weight.shape, offset.shape[2:]
    result = bias[None, :, None, None].repeat(n, 1, down, across)
    part, outs = channels // offset_groups, out // groups
    for b, y, x in np.ndindex(n, down, across):
        columns = image.new_zeros(channels, kh * kw)
        for g, t in np.ndindex(offset_groups, kh * kw):
            move = offset[b, 2 * (g * kh * kw + t) : 2 * (g * kh * kw + t) + 2, y, x]
            i = y * stride[0] - pad[0] + t // kw * dilation[0] + move[0]
            j = x * stride[1] - pad[1] + t % kw * dilation[1] + move[1]
            read = sampled(image[b, g * part : (g + 1) * part], i, j)
            columns[g * part : (g + 1) * part, t] = read * mask[b, g * kh * kw + t, y, x] if use_mask else read
        for g in range(groups):
            own = columns.reshape(groups, -1)[g]
            result[b, g * outs : (g + 1) * outs, y, x] += weight[g * outs : (g + 1) * outs].reshape(outs, -1) @ own
    return result


# Non-maximum suppression


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nms_keeps_what_greedy_suppression_keeps(threshold: float, dtype: torch.dtype) -> None:
    corner = torch.rand(20, 2, dtype=dtype) * 20
    boxes = torch.cat([corner, corner + torch.rand(20, 2, dtype=dtype) * 20], 1)
    scores = (torch.rand(20, dtype=dtype) * 10).round()  # with ties
    agree(run("nms", boxes, scores, threshold), kept(boxes, scores, threshold))


def test_nms_compares_with_the_threshold_in_double_precision() -> None:
    boxes = torch.tensor([[0.0, 0, 10, 1], [0, 0, 3, 1]])  # overlap by 0.3, in float32 more than the double
    agree(run("nms", boxes, torch.tensor([2.0, 1.0]), 0.3), torch.tensor([0]))


def test_nms_of_no_boxes_keeps_none() -> None:
    agree(run("nms", torch.zeros(0, 4), torch.zeros(0), 0.5), torch.zeros(0, dtype=torch.int64))


@pytest.mark.parametrize(
    ("boxes", "scores", "message"),
    [
        ((4,), (1,), "boxes should be a 2d tensor, got 1D"),
        ((3, 5), (3,), "boxes should have 4 elements in dimension 1, got 5"),
        ((3, 4), (3, 1), "scores should be a 1d tensor, got 2D"),
        ((3, 4), (2,), "same number of elements in dimension 0, got 3 and 2"),
    ],
)
def test_nms_refuses_other_shapes(boxes: tuple[int, ...], scores: tuple[int, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        run("nms", torch.rand(boxes), torch.rand(scores), 0.5)


# Regions


def regions(dtype: torch.dtype = torch.float64, channels: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    image = torch.randn(2, channels, 6, 7, dtype=dtype)
    rois = [[0, 1.2, 0.4, 9.7, 8.1], [1, -3.5, 2.2, 4.1, 30.3], [1, -60, -60, -40, -40], [0, 3.3, 3.3, 3.6, 3.9]]
    return image, torch.tensor(rois, dtype=dtype)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("samples", [2, -1])
def test_roi_align_is_the_mean_of_samples(samples: int, aligned: bool) -> None:
    image, rois = regions()
    image.requires_grad_()
    theirs = aligned_bins(image, rois, 0.5, 2, 3, samples, 0.5 * aligned, aligned)
    agree(run("roi_align", image, rois, 0.5, 2, 3, samples, aligned), theirs.detach())
    g = torch.randn_like(theirs)
    (gradient,) = torch.autograd.grad(theirs, image, g)
    agree(run("_roi_align_backward", g, rois, 0.5, 2, 3, *image.shape, samples, aligned), gradient)


def test_ps_roi_align_reads_a_channel_for_each_bin() -> None:
    image, rois = regions(channels=12)
    image.requires_grad_()
    every = aligned_bins(image, rois, 0.5, 2, 3, 2, 0.5, True)
    channels = torch.arange(12, dtype=torch.int32).reshape(2, 2, 3).expand(len(rois), -1, -1, -1).contiguous()
    theirs = every.gather(1, channels.long())
    ours, mapping = run("ps_roi_align", image, rois, 0.5, 2, 3, 2)
    agree(ours, theirs.detach())
    agree(mapping, channels)
    g = torch.randn_like(theirs)
    (gradient,) = torch.autograd.grad(theirs, image, g)
    agree(run("_ps_roi_align_backward", g, rois, channels, 0.5, 2, 3, 2, *image.shape), gradient)


def test_roi_pool_is_the_greatest_of_each_bin() -> None:
    image, rois = regions(torch.float32)
    image.requires_grad_()
    theirs, at = greatest(image, rois, 0.5, 3, 2)
    ours, argmax = run("roi_pool", image, rois, 0.5, 3, 2)
    agree(ours, theirs.detach())
    agree(argmax, at)
    g = torch.randn_like(theirs)
    (gradient,) = torch.autograd.grad(theirs, image, g)
    agree(run("_roi_pool_backward", g, rois, at, 0.5, 3, 2, *image.shape), gradient)


# Deformable convolution

CONVOLUTIONS = [
    ((1, 1), (0, 0), (1, 1), 1, 1, True),
    ((2, 1), (1, 2), (1, 2), 2, 1, False),
    ((1, 2), (2, 1), (2, 1), 2, 4, True),
]


@pytest.mark.parametrize("options", CONVOLUTIONS)
def test_deform_conv2d_and_its_gradients_are_those_of_the_definition(options: Any) -> None:
    stride, pad, dilation, groups, offset_groups, use_mask = options
    size = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip((4, 4), pad, dilation, (3, 2), stride, strict=True)
    ]
    image = torch.randn(2, 4, 4, 4, dtype=torch.float64)
    weight = torch.randn(2, 4 // groups, 3, 2, dtype=torch.float64)
    offset = torch.randn(2, 2 * offset_groups * 6, *size, dtype=torch.float64) * 2
    mask = torch.rand((2, offset_groups * 6, *size) if use_mask else (2, 1), dtype=torch.float64)
    tensors = [image, weight, offset, mask, torch.randn(2, dtype=torch.float64)]
    for tensor in tensors:
        tensor.requires_grad_()
    theirs = deformed(*tensors, *options)
    flat = (*stride, *pad, *dilation, groups, offset_groups, use_mask)
    agree(run("deform_conv2d", *tensors, *flat), theirs.detach())
    g = torch.randn_like(theirs)
    gradients = torch.autograd.grad(theirs, tensors, g, allow_unused=True, materialize_grads=True)
    for ours, gradient in zip(run("_deform_conv2d_backward", g, *tensors, *flat), gradients, strict=True):
        agree(ours, gradient)


# The library


def test_the_spec_has_no_fault_and_its_schemas_are_those_of_the_library() -> None:
    assert not FAULTS
    for entry in ENTRIES:
        op = getattr(torch.ops.torchvision, entry.name.removeprefix("torchvision::")).default
        assert str(op._schema) == entry.func


def test_an_operator_without_a_lowering_says_how_to_give_one() -> None:
    made = torch.library.Library("torchvision", "FRAGMENT")
    made.define("blurred(Tensor x) -> Tensor")
    with pytest.raises(
        NotImplementedError, match=r"expected tenax.register_lowering\('torchvision::blurred', function"
    ):
        run("blurred", torch.ones(2))
