"""Pointwise and special functions are as exact as on the CPU, in units in the last place."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch

from tenax.coverage import numerics, points, ulp
from tenax.coverage.digits import EXACT
from tenax.kernels import gamma, normal
from tests.helpers.agreement import close
from tests.helpers.tolerances import LAST_DIGITS, ROUNDED, SUMMED

COUNT = 300
DIGITS = 60  # where mpmath takes milliseconds for each value


def test_units_are_spacings_of_the_dtype() -> None:
    got = torch.tensor([1.0, 1.0 + 2**-23, float("inf"), 0.0])
    exact = torch.tensor([1.0, 1.0, torch.finfo(torch.float32).max, 2**-149], dtype=torch.float64).numpy()
    assert ulp.units(got, exact).tolist() == [0, 1, 1, 1]


def test_a_nan_where_there_is_a_value_is_an_infinite_error() -> None:
    assert ulp.units(torch.tensor([float("nan")]), torch.ones(1).double().numpy()).tolist() == [float("inf")]


def test_points_lie_in_the_domain_and_are_the_same_at_every_call() -> None:
    (x,) = points.arguments("log", 1, (0, None), torch.float16, COUNT)
    assert (x >= 0).all()
    assert x.isfinite().all()
    assert torch.equal(x, points.arguments("log", 1, (0, None), torch.float16, COUNT)[0])


@pytest.mark.parametrize("name", ulp.functions())
def test_the_error_in_float32_is_at_most_twice_that_of_the_cpu(name: str) -> None:
    function = ulp.functions()[name]
    row = ulp.measure(function, torch.float32, "jax", DIGITS if name in EXACT else COUNT)
    assert row.allowed(ulp.limits(function)), row


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma", "special.bessel_j0", "special.log_ndtr", "special.xlog1py"])
def test_the_error_in_float64_is_at_most_twice_that_of_the_cpu(name: str) -> None:
    function = ulp.functions()[name]
    row = ulp.measure(function, torch.float64, "jax", DIGITS)
    assert row.allowed(ulp.limits(function)), row


@pytest.mark.parametrize(
    ("function", "reference", "low", "high"),
    [
        (normal.erfc, torch.special.erfc, -5, 9),
        (normal.erfinv, torch.special.erfinv, -1, 1),
        (normal.special_ndtri, torch.special.ndtri, 0, 1),
        (normal.special_log_ndtr, torch.special.log_ndtr, -30, 5),
        (normal.special_erfcx, torch.special.erfcx, -5, 9),
        (gamma.lgamma, torch.special.gammaln, -9.9, 50),
        (gamma.digamma, torch.special.digamma, -9.9, 50),
        (lambda x: gamma.polygamma(2, x), lambda x: torch.special.polygamma(2, x), 0.1, 50),
        (lambda x: gamma.mvlgamma(x, 3), lambda x: torch.special.multigammaln(x, 3), 2.1, 50),
        (lambda x: gamma.special_zeta(x, x), lambda x: torch.special.zeta(x, x), 1.1, 20),
    ],
)
def test_other_platforms_compute_special_functions_in_float32(
    function: Any, reference: Any, low: float, high: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TPUs emulate float64. The values are those of the float32 formulas on the CPU."""
    monkeypatch.setattr(jax, "default_backend", lambda: "tpu")
    x = torch.linspace(low, high, 5003)[1:-1]
    with jax.enable_x64(True):
        array = jnp.asarray(x.numpy())
        assert "f64[5001" not in str(jax.make_jaxpr(function)(array))
        found = jax.jit(function)(array)
    close(torch.from_dlpack(found), reference(x.double()).float(), SUMMED)


def test_a_row_worse_than_the_rule_is_marked_and_listed_with_its_source() -> None:
    function = ulp.functions()["exp"]
    bad = ulp.Row("exp", "float32", ulp.Error(5.0, 1.0), ulp.Error(0.5, 0.5))
    assert "| `exp` | 5 (1) / 0.5 † |" in numerics.table({function: [bad]})
    assert numerics.exceptions({function: [bad]}).startswith("- `exp`: 6 ULP in float32")
    assert not numerics.exceptions({function: [ulp.Row("exp", "float32", ulp.Error(0.5, 0.5), ulp.Error(0.5, 0.5))]})


def test_a_note_bounds_the_error_of_its_dtype_only() -> None:
    limits = ulp.limits(ulp.functions()["exp"])
    assert limits == {"float32": 6.0}
    assert not ulp.Row("exp", "float16", ulp.Error(5.0, 1.0), ulp.Error(0.5, 0.5)).allowed(limits)


def test_lgamma_keeps_its_digits_at_its_zeros() -> None:
    x = torch.tensor([1.0, 2.0, 1.0000001, 1.9999999, -2.4570247, 0.0, -1.0, float("inf"), float("nan")])
    expected = torch.lgamma(x.double()).float()
    close(torch.lgamma(x.to("jax")), expected, LAST_DIGITS, nan=True)


def test_silu_and_mish_do_not_vanish_before_their_values_do() -> None:
    x = torch.tensor([-86.0, -88.0])
    for function in (torch.nn.functional.silu, torch.nn.functional.mish):
        expected = function(x.double()).float()
        close(function(x.to("jax")), expected, ROUNDED)
