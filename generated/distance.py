"""Lowerings of the family `distance`.

Generated from ops_spec/distance.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.kernels import distance as distance_kernels
from tenax.kernels.arithmetic import sub
from tenax.words import COMPLEX_TO_FLOAT, Array, cast


def dist(self: Array, other: Array, p: ArrayLike = 2) -> Array:
    """dist(Tensor self, Tensor other, Scalar p=2) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    dtype, self, other = COMPLEX_TO_FLOAT(self, other)
    return cast(distance_kernels.linalg_vector_norm(sub(self, other), p), dtype)
