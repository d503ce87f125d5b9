"""The fused observer and fake quantizer, whose statistics start empty and are resized to match the first input."""

from __future__ import annotations

import math
from typing import Any

import torch

from .registry import kernel_of

Tensor = torch.Tensor


def fused_moving_avg_obs_fq_helper(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Any:
    if per_row_fake_quant and ch_axis == 0 and not running_min.numel():
        for statistic, start in ((running_min, math.inf), (running_max, -math.inf), (scale, 1), (zero_point, 0)):
            statistic.resize_(len(self)).fill_(start)
    if not self.numel():
        if observer_on.item():
            raise RuntimeError(
                "dimensions of scale and zero-point are not consistent with input tensor"
                if per_row_fake_quant
                else "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
            )
        return torch.empty_like(self), torch.empty_like(self, dtype=torch.bool)
    return kernel_of("_fused_moving_avg_obs_fq_helper")(
        self,
        observer_on,
        fake_quant_on,
        running_min,
        running_max,
        scale,
        zero_point,
        averaging_const,
        quant_min,
        quant_max,
        ch_axis,
        per_row_fake_quant,
        symmetric_quant,
    )
