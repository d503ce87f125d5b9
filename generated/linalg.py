"""Lowerings of the family `linalg`.

Generated from ops_spec/linalg.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import cholesky as cholesky_kernels
from tenax.kernels import ldl as ldl_kernels
from tenax.kernels import lu as lu_kernels
from tenax.kernels import qr as qr_kernels
from tenax.kernels import spectral as spectral_kernels
from tenax.kernels import triangular as triangular_kernels
from tenax.words import DEFAULT, Array, cast


def _linalg_check_errors(info: Array, api_name: str, *, is_matrix: bool) -> None:
    """_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()

    Spec: ops_spec/linalg.yaml
    """
    return None


def _linalg_check_errors__checks(info: Array, api_name: str, *, is_matrix: bool) -> tuple[Array, ...]:
    """What must hold for _linalg_check_errors; see its row of the table."""
    return (jnp.all(info == 0),)


def linalg_solve_triangular(
    self: Array, B: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    """linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return triangular_kernels.linalg_solve_triangular(
        self=self, B=B, upper=upper, left=left, unitriangular=unitriangular
    )


def triangular_solve(
    self: Array, A: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Array, Array]:
    """triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) ->
        (Tensor solution, Tensor cloned_coefficient)

    Spec: ops_spec/linalg.yaml
    """
    return triangular_kernels.triangular_solve(
        self=self, A=A, upper=upper, transpose=transpose, unitriangular=unitriangular
    )


def linalg_cholesky_ex(self: Array, *, upper: bool = False, check_errors: bool = False) -> tuple[Array, Array]:
    """linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)

    a factor that does not exist is NaN, where LAPACK leaves it half done.

    Spec: ops_spec/linalg.yaml
    """
    return cholesky_kernels.linalg_cholesky_ex(self=self, upper=upper, check_errors=check_errors)


def cholesky(self: Array, upper: bool = False) -> Array:
    """cholesky(Tensor self, bool upper=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return cholesky_kernels.cholesky(self=self, upper=upper)


def cholesky__checks(self: Array, upper: bool = False) -> tuple[Array, ...]:
    """What must hold for cholesky; see its row of the table."""
    return (jnp.all(linalg_cholesky_ex(self, upper=upper)[1] == 0),)


def cholesky_solve(self: Array, input2: Array, upper: bool = False) -> Array:
    """cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return cholesky_kernels.cholesky_solve(self=self, input2=input2, upper=upper)


def _cholesky_solve_helper(self: Array, A: Array, upper: bool) -> Array:
    """_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return cholesky_solve(self, A, upper)


def cholesky_inverse(self: Array, upper: bool = False) -> Array:
    """cholesky_inverse(Tensor self, bool upper=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return cholesky_kernels.cholesky_inverse(self=self, upper=upper)


def cholesky_inverse__checks(self: Array, upper: bool = False) -> tuple[Array, ...]:
    """What must hold for cholesky_inverse; see its row of the table."""
    return (jnp.all(jnp.diagonal(self, axis1=-2, axis2=-1) != 0),)


def linalg_lu_factor_ex(A: Array, *, pivot: bool = True, check_errors: bool = False) -> tuple[Array, Array, Array]:
    """linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor
        info)

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels.linalg_lu_factor_ex(A=A, pivot=pivot, check_errors=check_errors)


def linalg_lu(A: Array, *, pivot: bool = True) -> tuple[Array, Array, Array]:
    """linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels.linalg_lu(A=A, pivot=pivot)


def lu_unpack(
    LU_data: Array, LU_pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:
    """lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor
        L, Tensor U)

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels.lu_unpack(
        LU_data=LU_data, LU_pivots=LU_pivots, unpack_data=unpack_data, unpack_pivots=unpack_pivots
    )


def linalg_lu_solve(LU: Array, pivots: Array, B: Array, *, left: bool = True, adjoint: bool = False) -> Array:
    """linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels.linalg_lu_solve(LU=LU, pivots=pivots, B=B, left=left, adjoint=adjoint)


def linalg_inv_ex(A: Array, *, check_errors: bool = False) -> tuple[Array, Array]:
    """linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels.linalg_inv_ex(A=A, check_errors=check_errors)


def _linalg_det(A: Array) -> tuple[Array, Array, Array]:
    """_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels._linalg_det(A=A)


def _linalg_slogdet(A: Array) -> tuple[Array, Array, Array, Array]:
    """_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels._linalg_slogdet(A=A)


def _linalg_solve_ex(
    A: Array, B: Array, *, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array, Array]:
    """_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU,
        Tensor pivots, Tensor info)

    Spec: ops_spec/linalg.yaml
    """
    return lu_kernels._linalg_solve_ex(A=A, B=B, left=left, check_errors=check_errors)


def linalg_ldl_factor_ex(
    self: Array, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    """linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots,
        Tensor info)

    Spec: ops_spec/linalg.yaml
    """
    return ldl_kernels.linalg_ldl_factor_ex(self=self, hermitian=hermitian, check_errors=check_errors)


def linalg_ldl_solve(LD: Array, pivots: Array, B: Array, *, hermitian: bool = False) -> Array:
    """linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return ldl_kernels.linalg_ldl_solve(LD=LD, pivots=pivots, B=B, hermitian=hermitian)


def linalg_qr(A: Array, mode: str = "reduced") -> tuple[Array, Array]:
    """linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)

    Spec: ops_spec/linalg.yaml
    """
    return qr_kernels.linalg_qr(A=A, mode=mode)


def geqrf(self: Array) -> tuple[Array, Array]:
    """geqrf(Tensor self) -> (Tensor a, Tensor tau)

    Spec: ops_spec/linalg.yaml
    """
    return qr_kernels.geqrf(self=self)


def linalg_householder_product(input: Array, tau: Array) -> Array:
    """linalg_householder_product(Tensor input, Tensor tau) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return qr_kernels.linalg_householder_product(input=input, tau=tau)


def ormqr(self: Array, input2: Array, input3: Array, left: bool = True, transpose: bool = False) -> Array:
    """ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return qr_kernels.ormqr(self=self, input2=input2, input3=input3, left=left, transpose=transpose)


def linalg_lstsq(
    self: Array, b: Array, rcond: ArrayLike | None = None, *, driver: str | None = None
) -> tuple[Array, Array, Array, Array]:
    """linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor
        residuals, Tensor rank, Tensor singular_values)

    the residuals of gelss and gelsd are given for matrices of less than full rank too.

    Spec: ops_spec/linalg.yaml
    """
    return qr_kernels.linalg_lstsq(self=self, b=b, rcond=rcond, driver=driver)


def linalg_eig(self: Array) -> tuple[Array, Array]:
    """linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)

    JAX has it on the CPU, and on a GPU from CUDA 12.8 on.

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels.linalg_eig(self=self)


def linalg_eig__checks(self: Array) -> tuple[Array, ...]:
    """What must hold for linalg_eig; see its row of the table."""
    return (jnp.all(jnp.isfinite(self)),)


def _linalg_eigvals(self: Array) -> Array:
    """_linalg_eigvals(Tensor self) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels._linalg_eigvals(self=self)


def linalg_eigvals__out(self: Array) -> Array:
    """linalg_eigvals.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels._linalg_eigvals(self=self)


def _linalg_eigh(A: Array, UPLO: str = "L", compute_v: bool = True) -> tuple[Array, Array]:
    """_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels._linalg_eigh(A=A, UPLO=UPLO, compute_v=compute_v)


def _linalg_eigh__checks(A: Array, UPLO: str = "L", compute_v: bool = True) -> tuple[Array, ...]:
    """What must hold for _linalg_eigh; see its row of the table."""
    return ((A.shape[-1] < 3) | jnp.all(jnp.isfinite(jnp.tril(A) if UPLO.upper() == "L" else jnp.triu(A))),)


def _linalg_svd(
    A: Array, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Array, Array, Array]:
    """_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor
        S, Tensor Vh)

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels._linalg_svd(A=A, full_matrices=full_matrices, compute_uv=compute_uv, driver=driver)


def _linalg_svd__checks(
    A: Array, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Array, ...]:
    """What must hold for _linalg_svd; see its row of the table."""
    return (jnp.all(jnp.isfinite(A)),)


def linalg_polar(A: Array) -> tuple[Array, Array]:
    """linalg_polar(Tensor A) -> (Tensor U, Tensor H)

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels.linalg_polar(A=A)


def linalg_matrix_sqrth(self: Array) -> Array:
    """linalg_matrix_sqrth(Tensor self) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels.linalg_matrix_sqrth(self=self)


def linalg_matrix_exp(self: Array) -> Array:
    """linalg_matrix_exp(Tensor self) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    return spectral_kernels.linalg_matrix_exp(self=self)


def linalg_cross(self: Array, other: Array, *, dim: int = -1) -> Array:
    """linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor

    Spec: ops_spec/linalg.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(spectral_kernels.linalg_cross(self=self, other=other, dim=dim), dtype)
