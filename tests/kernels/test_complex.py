"""Complex functions at zeros, infinities and NaN give what CPU torch gives, and their gradients are those of JAX."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tenax.interop import t2j
from tenax.kernels import complex as kernels
from tests.helpers.agreement import close
from tests.helpers.tolerances import UNIT

INF, NAN = float("inf"), float("nan")
PARTS = (0.0, -0.0, 0.5, -1.0, 1e30, INF, -INF, NAN)
GRID = torch.tensor([complex(x, y) for x, y in itertools.product(PARTS, PARTS)])


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize(
    "function",
    [
        *(torch.exp, torch.exp2, torch.log, torch.log10, torch.sqrt, torch.abs, torch.sgn),
        *(torch.sin, torch.cos, torch.tan, torch.atan, torch.sinh, torch.cosh, torch.tanh, torch.atanh),
        *(lambda z: z**0.5, lambda z: z**2.5, lambda z: z ** (1 - 0.5j), lambda z: torch.view_as_real(torch.log2(z))),
    ],
)
def test_a_function_of_an_extreme_complex_number_is_the_one_of_the_cpu(
    function: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype
) -> None:
    z = GRID.to(dtype)
    close(function(z.to("jax")), function(z), nan=True)


ON_CUTS = torch.tensor([complex(x, y) for x, y in itertools.product((0.0, -0.0, 0.5, -0.5, 2.0, -2.0), repeat=2)])


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize(
    "function",
    [torch.sqrt, torch.asin, torch.acos, torch.asinh, torch.acosh, torch.atanh, torch.atan, lambda z: z**0.5],
)
def test_the_sign_of_a_zero_chooses_the_side_of_a_branch_cut(
    function: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype
) -> None:
    z = ON_CUTS.to(dtype)
    close(function(z.to("jax")), function(z), UNIT)


@pytest.mark.parametrize("function", [kernels.sqrt, kernels.asin, kernels.asinh, kernels.acosh])
def test_a_derivative_below_a_branch_cut_is_conjugate_to_that_above(function: Callable[[jax.Array], jax.Array]) -> None:
    above, below = (jax.grad(function, holomorphic=True)(jnp.complex64(complex(-2, y))) for y in (0.0, -0.0))
    close(below, above.conj(), UNIT)
    close(above, jax.grad(function, holomorphic=True)(jnp.complex64(-2 + 1e-7j)), UNIT)


@pytest.mark.parametrize(
    "function", [torch.sqrt, torch.asin, torch.acos, torch.asinh, torch.acosh, torch.atanh, torch.atan, torch.log]
)
def test_a_derivative_of_pure_functions_is_that_of_torch_in_every_quadrant(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    z = torch.tensor([complex(x, y) for x, y in itertools.product((0.5, -0.5, 2.0, -2.0), repeat=2)])
    slope = jax.grad(lambda x: t2j(function)(x).real.sum())(jnp.asarray(z.numpy()))
    leaf = z.clone().requires_grad_()
    function(leaf).real.sum().backward()
    close(torch.from_numpy(np.conj(slope)), leaf.grad.resolve_conj(), UNIT)


def test_the_inverse_cosine_has_the_derivative_of_torch_outside_of_its_domain() -> None:
    x = torch.tensor([-2.0, -1.0, 0.5, 3.0])
    leaf = x.clone().requires_grad_()
    leaf.acosh().sum().backward()
    close(jax.grad(lambda x: t2j(torch.acosh)(x).sum())(jnp.asarray(x.numpy())), leaf.grad, UNIT, nan=True)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_a_complex_power_of_extreme_numbers_is_the_one_of_the_cpu(dtype: torch.dtype) -> None:
    z = GRID[GRID.abs() != 1e30].to(dtype)
    base, exponent = z[:, None], z[None]
    close(base.to("jax") ** exponent.to("jax"), base**exponent, nan=True)


@pytest.mark.parametrize("infinite", [-INF, complex(-INF, INF), complex(-INF, 1)])
def test_the_sigmoid_vanishes_at_minus_infinity(infinite: complex) -> None:
    assert torch.sigmoid(torch.tensor([infinite], dtype=torch.complex64, device="jax")).item() == 0


@pytest.mark.parametrize("z", [0, 0.5, 1 + 2j, -3j])
def test_a_complex_power_has_the_gradient_of_jax(z: complex) -> None:
    def slope(power: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array:
        return jax.grad(lambda x: power(x, jnp.complex64(2.5)).real)(jnp.complex64(z))

    close(slope(kernels.power), slope(jax.lax.pow), UNIT)
