"""Lowerings of the family `distance`.

Generated from ops_spec/distance.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.kernels import distance as distance_kernels
from tenax.kernels.arithmetic import sub
from tenax.words import COMPLEX_TO_FLOAT, Array, Gradients, cast, with_derivative


def dist(self: Array, other: Array, p: ArrayLike = 2) -> Array:
    """dist(Tensor self, Tensor other, Scalar p=2) -> Tensor

    Spec: ops_spec/distance.yaml
    """
    dtype, self, other = COMPLEX_TO_FLOAT(self, other)
    return cast(distance_kernels.linalg_vector_norm(sub(self, other), p), dtype)


def _cdist_forward(x1: Array, x2: Array, p: ArrayLike, compute_mode: int | None) -> Array:
    """_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor

    Spec: ops_spec/distance.yaml
    """

    def value(x1: Array, x2: Array, p: ArrayLike) -> Array:
        return distance_kernels._cdist_forward(x1=x1, x2=x2, p=p, compute_mode=compute_mode)

    def gradients(grad: Array, result: Array, x1: Array, x2: Array, p: ArrayLike) -> Gradients:
        return {
            "x1": lambda: distance_kernels._cdist_backward(grad, x1, x2, p, result),
            "x2": lambda: distance_kernels._cdist_backward(grad.mT, x2, x1, p, result.mT),
        }

    return with_derivative(value, gradients, x1=x1, x2=x2, p=p)


def _pdist_forward(self: Array, p: ArrayLike = 2) -> Array:
    """_pdist_forward(Tensor self, float p=2) -> Tensor

    Spec: ops_spec/distance.yaml
    """

    def value(self: Array, p: ArrayLike) -> Array:
        return distance_kernels._pdist_forward(self=self, p=p)

    def gradients(grad: Array, result: Array, self: Array, p: ArrayLike) -> Gradients:
        return {
            "self": lambda: distance_kernels._pdist_backward(grad, self, p, result),
        }

    return with_derivative(value, gradients, self=self, p=p)
