"""Lowerings of the family `linalg`.

Generated from ops_spec/linalg.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp

from tenax.kernels import factorization as factorization_kernels
from tenax.words import DEFAULT, Array, cast


def _linalg_check_errors(info: Array, api_name: str, *, is_matrix: bool) -> None:
    """_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()

    Spec: ops_spec/linalg.yaml
    """
    return None


def _linalg_check_errors__checks(info: Array, api_name: str, *, is_matrix: bool) -> tuple[Array, ...]:
    """The conditions of _linalg_check_errors; its row of the table has their errors."""
    return (jnp.all(info == 0),)


def cholesky__checks(self: Array, upper: bool = False) -> tuple[Array, ...]:
    """The conditions of cholesky; its row of the table has their errors."""
    return (jnp.all(factorization_kernels.linalg_cholesky_ex(self, upper=upper)[1] == 0),)


def _cholesky_solve_helper(self: Array, A: Array, upper: bool) -> Array:
    """_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return factorization_kernels.cholesky_solve(self, A, upper)


def cholesky_inverse(self: Array, upper: bool = False) -> Array:
    """cholesky_inverse(Tensor self, bool upper=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return factorization_kernels.cholesky_solve(
        jnp.broadcast_to(jnp.eye(self.shape[-1], dtype=self.dtype), self.shape), self, upper
    )


def cholesky_inverse__checks(self: Array, upper: bool = False) -> tuple[Array, ...]:
    """The conditions of cholesky_inverse; its row of the table has their errors."""
    return (jnp.all(jnp.diagonal(self, axis1=-2, axis2=-1) != 0),)


def linalg_lu(A: Array, *, pivot: bool = True) -> tuple[Array, Array, Array]:
    """linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)

    Spec: ops_spec/linalg.yaml
    """
    return factorization_kernels.lu_unpack(*factorization_kernels.linalg_lu_factor_ex(A, pivot=pivot)[:2], True, pivot)


def linalg_eig__checks(self: Array) -> tuple[Array, ...]:
    """The conditions of linalg_eig; its row of the table has their errors."""
    return (jnp.all(jnp.isfinite(self)),)


def _linalg_eigvals(self: Array) -> Array:
    """_linalg_eigvals(Tensor self) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return jnp.linalg.eigvals(self)


def linalg_eigvals__out(self: Array) -> Array:
    """linalg_eigvals.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

    Spec: ops_spec/linalg.yaml
    """
    return jnp.linalg.eigvals(self)


def _linalg_eigh__checks(A: Array, UPLO: str = "L", compute_v: bool = True) -> tuple[Array, ...]:
    """The conditions of _linalg_eigh; its row of the table has their errors."""
    return ((A.shape[-1] < 3) | jnp.all(jnp.isfinite(jnp.tril(A) if UPLO.upper() == "L" else jnp.triu(A))),)


def _linalg_svd__checks(
    A: Array, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Array, ...]:
    """The conditions of _linalg_svd; its row of the table has their errors."""
    return (jnp.all(jnp.isfinite(A)),)


def linalg_cross(self: Array, other: Array, *, dim: int = -1) -> Array:
    """linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor

    jnp.cross computes the same with twice as many equations

    Spec: ops_spec/linalg.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    result = jnp.roll(self, -1, dim) * jnp.roll(other, 1, dim) - jnp.roll(self, 1, dim) * jnp.roll(other, -1, dim)
    return cast(result, dtype)
