"""Lowerings of the family `quantize`.

Generated from ops_spec/quantize.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp

from tenax.words import Array


def fake_quantize_per_channel_affine_cachemask__checks(
    self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> tuple[Array, ...]:
    """The conditions of fake_quantize_per_channel_affine_cachemask; its row of the table has their errors."""
    return (jnp.all((zero_point >= quant_min) & (zero_point <= quant_max)) | (zero_point.dtype.kind != "i"),)
