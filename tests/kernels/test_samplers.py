"""The samplers at extreme parameters and in every dtype, those of torch.distributions, and gradients of samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from scipy import special, stats

from tests.helpers.agreement import close
from tests.helpers.tolerances import QUOTIENT, ROUNDED, SERIES, SIGNIFICANCE

N = 20_000
D = torch.distributions


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(5)


def const(value: float, dtype: torch.dtype = torch.float32, *size: int) -> torch.Tensor:
    return torch.full(size or (N,), value, dtype=dtype, device="jax")


def numbers(x: torch.Tensor) -> np.ndarray:
    return x.detach().cpu().double().numpy()


def agrees(x: np.ndarray, law: Any) -> None:
    """The first two moments, where there are any, and Kolmogorov-Smirnov or chi-squared."""
    mean, variance, kurtosis = (float(m) for m in law.stats(moments="mvk"))
    if all(map(math.isfinite, (mean, variance, kurtosis))) and variance > 0:
        assert abs(x.mean() - mean) < 4.5 * math.sqrt(variance / N)
        # 1.5 for the skewness of a sum of squares
        assert abs(((x - mean) ** 2).mean() - variance) < 1.5 * 4.5 * variance * math.sqrt((kurtosis + 2) / N)
    if hasattr(getattr(law, "dist", law), "pdf"):
        assert stats.kstest(x, law.cdf).pvalue > SIGNIFICANCE
        return
    values, seen = np.unique(x, return_counts=True)
    expected = law.pmf(values) * N
    assert (expected > 0).all(), f"impossible values {values[expected <= 0]}"
    common = expected > 5
    if common.sum() > 1:
        statistic = ((seen - expected) ** 2 / expected)[common].sum()
        assert stats.chi2(common.sum() - 1).sf(statistic) > SIGNIFICANCE


# Parameters at the ends of their ranges.

RATES = [0.1, 9.9, 50.0, 1e4]
TRIALS = [(5, 0.5), (1000, 0.001), (1000, 0.3), (100_000, 0.7), (40, 0.999)]
EXTREMES: dict[str, tuple[Callable[[], torch.Tensor], Any]] = {
    **{f"poisson {r}": (lambda r=r: torch.poisson(const(r)), stats.poisson(r)) for r in RATES},
    **{
        f"binomial {n}, {p}": (lambda n=n, p=p: torch.binomial(const(n), const(p)), stats.binom(n, p))
        for n, p in TRIALS
    },
    **{f"gamma {a}": (lambda a=a: torch._standard_gamma(const(a)), stats.gamma(a)) for a in (0.05, 1.0, 1e4)},
    "gamma 0.02 in float64": (lambda: torch._standard_gamma(const(0.02, torch.float64)), stats.gamma(0.02)),
    "dirichlet": (lambda: torch._sample_dirichlet(const(0.2, torch.float64, N, 3))[:, 0], stats.beta(0.2, 0.4)),
    "large dirichlet": (lambda: torch._sample_dirichlet(const(1e3, torch.float32, N, 2))[:, 0], stats.beta(1e3, 1e3)),
    "rare geometric": (lambda: const(0, torch.int64).geometric_(1e-3), stats.geom(1e-3)),
    "likely geometric": (lambda: const(0).geometric_(0.999), stats.geom(0.999)),
    "narrow uniform": (lambda: const(0, torch.float64).uniform_(1e6, 1e6 + 1), stats.uniform(1e6)),
    "wide normal": (lambda: const(0).normal_(-1e3, 1e3), stats.norm(-1e3, 1e3)),
    "slow exponential": (lambda: const(0).exponential_(1e-3), stats.expon(scale=1e3)),
    "rrelu": (lambda: -F.rrelu(const(-1), 0.1, 0.3, training=True), stats.uniform(0.1, 0.2)),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_a_law_holds_at_extreme_parameters(name: str) -> None:
    sample, law = EXTREMES[name]
    agrees(numbers(sample()), law)


def test_gamma_numbers_of_a_tiny_shape_do_not_reach_zero() -> None:
    for dtype in (torch.float32, torch.float64):
        least = torch.finfo(dtype).tiny
        x = numbers(torch._standard_gamma(const(1e-3, dtype)))
        law = stats.gamma(1e-3)
        share = law.cdf(least)
        assert x.min() == least
        assert stats.binomtest(int((x == least).sum()), N, share).pvalue > SIGNIFICANCE
        assert stats.kstest(x[x > least], lambda t, p=share, f=law.cdf: (f(t) - p) / (1 - p)).pvalue > SIGNIFICANCE


def test_certain_outcomes_are_certain() -> None:
    certain = (
        (torch.poisson(const(0)), 0),
        (torch.bernoulli(const(0)), 0),
        (torch.bernoulli(const(1)), 1),
        (const(3).bernoulli_(0), 0),
        (const(3).bernoulli_(1), 1),
        (torch.binomial(const(7), const(0)), 0),
        (torch.binomial(const(7), const(1)), 7),
        (torch.binomial(const(0), const(0.5)), 0),
        (torch.randint(4, 5, (N,), device="jax"), 4),
        (F.dropout(const(1), 1.0), 0),
        (F.dropout(const(1), 0.0), 1),
        (const(0).normal_(2, 0), 2),
    )
    for x, value in certain:
        assert (x.cpu() == value).all()


@pytest.mark.parametrize("replacement", [True, False])
def test_a_category_of_weight_zero_is_never_drawn(replacement: bool) -> None:
    weights = torch.tensor([0, 1, 0, 1e-3, 1e3, 0], device="jax").expand(N // 10, 6)
    x = torch.multinomial(weights, 3, replacement).cpu()
    assert set(x.unique().tolist()) <= {1, 3, 4}
    assert replacement or all(row == [1, 3, 4] for row in x.sort(1).values.tolist())


def test_of_many_categories_each_is_drawn_in_proportion() -> None:
    weights = torch.arange(1.0, 1001.0, dtype=torch.float64)
    x = torch.multinomial(weights.to("jax"), N, replacement=True).cpu()
    seen = np.bincount(x.numpy(), minlength=1000)
    assert stats.chisquare(seen, (weights / weights.sum() * N).numpy()).pvalue > SIGNIFICANCE


# Dtypes.

HALVES = [torch.float16, torch.bfloat16]
IN_HALF: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], Any]] = {
    "uniform_": (lambda x: x.uniform_(), stats.uniform()),
    "normal_": (lambda x: x.normal_(), stats.norm()),
    "exponential_": (lambda x: x.exponential_(), stats.expon()),
    "gamma": (lambda x: torch._standard_gamma(x.fill_(2)), stats.gamma(2)),
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", IN_HALF)
def test_a_half_is_the_law_rounded(name: str, dtype: torch.dtype) -> None:
    sample, law = IN_HALF[name]
    x = sample(torch.empty(N, dtype=dtype, device="jax"))
    assert x.dtype == dtype
    # What is rounded by at most eps lies between two distribution functions.
    x, eps = np.sort(numbers(x)), torch.finfo(dtype).eps
    steps = np.arange(N + 1) / N
    slack = eps * np.abs(x) + eps / 2
    above = (steps[1:] - law.cdf(x + slack)).max()
    below = (law.cdf(x - slack) - steps[:-1]).max()
    assert stats.kstwo(N).sf(max(above, below, 0)) > SIGNIFICANCE


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_integers_fill_the_range_of_their_dtype(dtype: torch.dtype) -> None:
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    whole = torch.empty(N, dtype=dtype, device="jax").random_(low, None)
    part = torch.empty(N, dtype=dtype, device="jax").random_()
    for x, start in ((whole, low), (part, 0)):
        # Each integer is spread over a cell of its own; in float64, which holds 53 of the bits.
        cell = (numbers(x) - start + np.random.default_rng(0).random(N)) / (float(high) - start + 1)
        assert stats.kstest(cell, "uniform").pvalue > SIGNIFICANCE


def test_integers_reach_both_ends_of_int64() -> None:
    low, high = -(2**63), 2**63 - 1
    assert set(torch.randint(high - 2, high, (200,), device="jax").tolist()) == {high - 2, high - 1}
    assert set(torch.randint(low, low + 2, (200,), device="jax").tolist()) == {low, low + 1}
    x = torch.empty(200, dtype=torch.int64, device="jax").random_(high - 1, None)
    assert set(x.tolist()) == {high - 1, high}


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
@pytest.mark.parametrize(
    "name", ["uniform_", "normal_", "exponential_", "log_normal_", "cauchy_", "geometric_", "bernoulli_", "random_"]
)
def test_a_dtype_is_refused_where_the_cpu_refuses_it(name: str, dtype: torch.dtype) -> None:
    args = (0.3,) if name == "geometric_" else ()
    outcomes = []
    for device in ("jax", "cpu"):
        try:
            outcomes.append(getattr(torch.empty(3, dtype=dtype, device=device), name)(*args).dtype)
        except (RuntimeError, TypeError) as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]


# Dropout.

DROPOUTS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], int]] = {
    "dropout": (lambda x: F.dropout(x, 0.3), 0),
    "native_dropout": (lambda x: torch.native_dropout(x, 0.3, True)[0], 0),
    "dropout1d": (lambda x: F.dropout1d(x, 0.3), 1),
    "dropout2d": (lambda x: F.dropout2d(x[..., None], 0.3)[..., 0], 1),
    "dropout3d": (lambda x: F.dropout3d(x[..., None, None], 0.3)[..., 0, 0], 1),
    "alpha_dropout": (lambda x: F.alpha_dropout(x, 0.3, training=True), 0),
    "feature_alpha_dropout": (lambda x: F.feature_alpha_dropout(x, 0.3, training=True), 1),
}


@pytest.mark.parametrize("name", DROPOUTS)
def test_dropout_drops_elements_or_features_and_keeps_the_moments(name: str) -> None:
    drop, features = DROPOUTS[name]
    x = numbers(drop(const(1, torch.float32, 100, 50, 4)))
    values = np.unique(x)
    assert len(values) == 2
    dropped = x == values[0]
    trials = dropped[..., 0] if features else dropped
    assert stats.binomtest(int(trials.sum()), trials.size, 0.3).pvalue > SIGNIFICANCE
    assert not features or (dropped.all(-1) == dropped.any(-1)).all()
    if "alpha" not in name:
        close(values, np.array([0, 1 / 0.7], np.float32), ROUNDED)
    else:  # of standard normal numbers, mean 0 and variance 1 are kept (Klambauer et al. 2017)
        y = numbers(drop(torch.randn(100, 50, 20, device="jax")))
        assert abs(y.mean()) < 0.05
        assert abs(y.var() - 1) < 0.05


# torch.distributions.


def one(value: float) -> torch.Tensor:
    return torch.tensor(value, device="jax")


COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]
LAWS: dict[str, tuple[Callable[[], Any], Any]] = {
    "Beta": (lambda: D.Beta(one(0.5), one(0.5)), stats.beta(0.5, 0.5)),
    "Cauchy": (lambda: D.Cauchy(one(1.0), one(2.0)), stats.cauchy(1, 2)),
    "Chi2": (lambda: D.Chi2(one(3.0)), stats.chi2(3)),
    "Exponential": (lambda: D.Exponential(one(2.0)), stats.expon(scale=0.5)),
    "FisherSnedecor": (lambda: D.FisherSnedecor(one(4.0), one(12.0)), stats.f(4, 12)),
    "Gamma": (lambda: D.Gamma(one(2.0), one(3.0)), stats.gamma(2, scale=1 / 3)),
    "Gumbel": (lambda: D.Gumbel(one(1.0), one(2.0)), stats.gumbel_r(1, 2)),
    "HalfCauchy": (lambda: D.HalfCauchy(one(2.0)), stats.halfcauchy(scale=2)),
    "HalfNormal": (lambda: D.HalfNormal(one(2.0)), stats.halfnorm(scale=2)),
    "InverseGamma": (lambda: D.InverseGamma(one(5.0), one(2.0)), stats.invgamma(5, scale=2)),
    "Laplace": (lambda: D.Laplace(one(1.0), one(2.0)), stats.laplace(1, 2)),
    "LogNormal": (lambda: D.LogNormal(one(0.0), one(0.5)), stats.lognorm(0.5)),
    "Normal": (lambda: D.Normal(one(1.0), one(2.0)), stats.norm(1, 2)),
    "Pareto": (lambda: D.Pareto(one(1.0), one(5.0)), stats.pareto(5)),
    "StudentT": (lambda: D.StudentT(one(6.0)), stats.t(6)),
    "Uniform": (lambda: D.Uniform(one(-1.0), one(2.0)), stats.uniform(-1, 3)),
    "VonMises": (lambda: D.VonMises(one(0.0), one(2.0)), stats.vonmises(2)),
    "Weibull": (lambda: D.Weibull(one(2.0), one(1.5)), stats.weibull_min(1.5, scale=2)),
    "Bernoulli": (lambda: D.Bernoulli(one(0.3)), stats.bernoulli(0.3)),
    "Binomial": (lambda: D.Binomial(20, one(0.3)), stats.binom(20, 0.3)),
    "Geometric": (lambda: D.Geometric(one(0.3)), stats.geom(0.3, loc=-1)),
    "NegativeBinomial": (lambda: D.NegativeBinomial(one(5.0), one(0.4)), stats.nbinom(5, 0.6)),
    "Poisson": (lambda: D.Poisson(one(3.0)), stats.poisson(3)),
    "Categorical": (
        lambda: D.Categorical(torch.tensor([0.2, 0.5, 0.3], device="jax")),
        stats.rv_discrete(values=([0, 1, 2], [0.2, 0.5, 0.3])),
    ),
}
MARGINALS: dict[str, tuple[Callable[[], Any], Callable[[torch.Tensor], torch.Tensor], Any]] = {
    "Dirichlet": (lambda: D.Dirichlet(torch.tensor([1.0, 2, 3], device="jax")), lambda x: x[:, 1], stats.beta(2, 4)),
    "Multinomial": (
        lambda: D.Multinomial(10, torch.tensor([0.2, 0.8], device="jax")),
        lambda x: x[:, 0],
        stats.binom(10, 0.2),
    ),
    "MultivariateNormal": (
        lambda: D.MultivariateNormal(torch.zeros(2, device="jax"), torch.tensor(COVARIANCE, device="jax")),
        lambda x: x.sum(1),
        stats.norm(0, 2),
    ),
    "OneHotCategorical": (
        lambda: D.OneHotCategorical(torch.tensor([0.2, 0.8], device="jax")),
        lambda x: x[:, 0],
        stats.bernoulli(0.2),
    ),
    "Wishart": (
        lambda: D.Wishart(const(4, torch.float64, 1)[0], torch.tensor(COVARIANCE, dtype=torch.float64, device="jax")),
        lambda x: x[:, 0, 0] / 2,
        stats.chi2(4),
    ),
}


@pytest.mark.filterwarnings("ignore:Singular sample detected")  # Wishart.rsample asks for the regular ones (torch 2.13)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [*LAWS, *MARGINALS])
def test_a_distribution_samples_its_law(name: str) -> None:
    if name in LAWS:
        make, law = LAWS[name]
        x = make().sample((N,))
    else:
        make, part, law = MARGINALS[name]
        x = part(make().sample((N,)))
    assert x.device.type == "jax"
    agrees(numbers(x), law)


# Gradients of samples.


def test_the_gradient_of_a_gamma_sample_is_that_of_its_quantile() -> None:
    shapes = torch.tensor([0.05, 0.3, 1.0, 2.5, 30.0, 1e3], dtype=torch.float64)[:, None]
    x = torch.from_numpy(stats.gamma(shapes.numpy()).ppf([0.1, 0.5, 0.9]))
    found = torch._standard_gamma_grad(shapes.expand_as(x).to("jax"), x.to("jax")).cpu()
    close(found, torch._standard_gamma_grad(shapes.expand_as(x), x), SERIES)
    a, value = shapes.numpy(), x.numpy()
    step = 1e-5 * a
    rise = (special.gammainc(a + step, value) - special.gammainc(a - step, value)) / (2 * step)
    exact = -rise / stats.gamma(a).pdf(value)
    close(found, exact, QUOTIENT)


def test_the_gradient_of_a_dirichlet_sample_is_the_cpus() -> None:
    alpha = torch.tensor([0.3, 1.0, 4.0, 50.0], dtype=torch.float64)[:, None].expand(4, 3).contiguous()
    total = alpha + 2.5
    x = torch.tensor([0.05, 0.5, 0.9], dtype=torch.float64).expand(4, 3).contiguous()
    found = torch._dirichlet_grad(*(t.to("jax") for t in (x, alpha, total))).cpu()
    close(found, torch._dirichlet_grad(x, alpha, total), SERIES)


@pytest.mark.parametrize("name", ["Gamma", "Beta", "Dirichlet", "StudentT"])
def test_a_reparametrised_mean_has_the_gradient_of_the_mean(name: str) -> None:
    a = torch.full((N,), 2.0, device="jax", requires_grad=True)
    if name == "Gamma":
        value, slope, spread = D.Gamma(a, 1.0).rsample(), 1.0, 1.0
    elif name == "Beta":
        value, slope, spread = D.Beta(a, 3.0).rsample(), 3 / 25, 0.2
    elif name == "Dirichlet":
        both = torch.stack([a, torch.full_like(a, 3.0)], -1)
        value, slope, spread = D.Dirichlet(both).rsample()[:, 0], 3 / 25, 0.2
    else:  # E|t| of five degrees, whose slope by the scale is itself
        a = torch.full((N,), 1.0, device="jax", requires_grad=True)
        value, slope, spread = D.StudentT(5.0, 0.0, a).rsample().abs(), stats.t(5).expect(abs), 1.0
    value.sum().backward()
    assert abs(a.grad.mean().item() - slope) < 4.5 * spread / math.sqrt(N)
