"""Lowerings of the family `distance`.

Generated from ops_spec/distance.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.generated import reduction as reduction_ops
from tenax.kernels import distance as distance_kernels
from tenax.words import COMPLEX_TO_FLOAT, Array, cast


def dist(self: Array, other: Array, p: ArrayLike = 2) -> Array:
    """dist(Tensor self, Tensor other, Scalar p=2) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    dtype, self, other = COMPLEX_TO_FLOAT(self, other)
    return cast(reduction_ops.linalg_vector_norm(self - other, p), dtype)


def _euclidean_dist(x1: Array, x2: Array) -> Array:
    """_euclidean_dist(Tensor x1, Tensor x2) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    return distance_kernels._euclidean_dist(x1=x1, x2=x2)


def _cdist_forward(x1: Array, x2: Array, p: ArrayLike, compute_mode: int | None) -> Array:
    """_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    return distance_kernels._cdist_forward(x1=x1, x2=x2, p=p, compute_mode=compute_mode)


def _cdist_backward(grad_output: Array, x1: Array, x2: Array, p: ArrayLike, cdist: Array) -> Array:
    """_cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    return distance_kernels._cdist_backward(grad_output=grad_output, x1=x1, x2=x2, p=p, cdist=cdist)


def _pdist_forward(self: Array, p: ArrayLike = 2) -> Array:
    """_pdist_forward(Tensor self, float p=2) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    return distance_kernels._pdist_forward(self=self, p=p)


def _pdist_backward(grad_output: Array, self: Array, p: ArrayLike, pdist: Array) -> Array:
    """_pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    return distance_kernels._pdist_backward(grad_output=grad_output, self=self, p=p, pdist=pdist)
