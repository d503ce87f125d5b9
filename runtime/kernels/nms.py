"""Non-maximum suppression: of overlapping boxes, the one with the highest score is kept."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tenax.kernels import loops


def nms(dets: Array, scores: Array, iou_threshold: float) -> Array:
    """The indices of the kept boxes, by descending score; equal scores keep their order.

    Args:
        dets: (n, 4), each box as x1, y1, x2, y2.
        scores: (n,).
        iou_threshold: a box is dropped if its intersection with a kept one exceeds this fraction of their union.

    Raises:
        RuntimeError: the shapes or dtypes do not fit.
    """
    refuse_boxes(dets, scores)
    if not len(dets):
        return jnp.zeros(0, np.int64)
    order, kept = _suppress(dets, scores, np.float64(iou_threshold))
    return order[kept]


def refuse_boxes(dets: Any, scores: Any) -> None:
    """Raise torchvision's error unless the shapes and dtypes of boxes and scores fit."""
    if dets.ndim != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {dets.ndim}D")
    if dets.shape[1] != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {dets.shape[1]}")
    if scores.ndim != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.ndim}D")
    if len(dets) != len(scores):
        raise RuntimeError(
            f"boxes and scores should have same number of elements in dimension 0, got {len(dets)} and {len(scores)}"
        )
    if dets.dtype != scores.dtype:
        raise RuntimeError(f"boxes and scores should have one dtype, got {dets.dtype} and {scores.dtype}")


@jax.jit
def _suppress(dets: Array, scores: Array, threshold: Array) -> tuple[Array, Array]:
    """The order of the boxes by descending score, and which of them are kept."""
    order = jnp.argsort(scores, stable=True, descending=True).astype(np.int64)
    boxes = dets[order]
    low, high = boxes[:, :2], boxes[:, 2:]
    area = (high - low).prod(1)
    places = jnp.arange(len(boxes))

    def step(i: Array, kept: Array) -> Array:
        sides = jnp.maximum(jnp.minimum(high, high[i]) - jnp.maximum(low, low[i]), 0)
        common = sides.prod(1)
        overlap = common / (area + area[i] - common)
        # The overlap is compared in float64, as the threshold is a double: float32(0.3) exceeds 0.3.
        return kept & ~(kept[i] & (places > i) & (overlap.astype(np.float64) > threshold))

    return order, loops.fori_loop(0, len(boxes), step, jnp.ones(len(boxes), bool))
