"""Samplers of the device: their distributions, their streams."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy import stats

from tests.helpers.tolerances import SIGNIFICANCE

N = 20_000
D = torch.distributions


def drawn(fill) -> torch.Tensor:
    return fill(torch.empty(N, device="jax"))


# Sampler, and the distribution function it must have.
CONTINUOUS = {
    "uniform_": (lambda x: x.uniform_(-1, 3), stats.uniform(-1, 4)),
    "rand": (torch.rand_like, stats.uniform()),
    "randn": (torch.randn_like, stats.norm()),
    "normal_": (lambda x: x.normal_(2, 0.5), stats.norm(2, 0.5)),
    "normal of tensors": (lambda x: torch.normal(torch.ones_like(x), 2.0), stats.norm(1, 2)),
    "exponential_": (lambda x: x.exponential_(2.0), stats.expon(scale=0.5)),
    "cauchy_": (lambda x: x.cauchy_(1, 2), stats.cauchy(1, 2)),
    "log_normal_": (lambda x: x.log_normal_(0.1, 0.5), stats.lognorm(0.5, scale=math.exp(0.1))),
    "gamma": (lambda x: D.Gamma(torch.full_like(x, 2.5), 1.0).sample(), stats.gamma(2.5)),
    "gamma below 1": (lambda x: D.Gamma(torch.full_like(x, 0.3), 1.0).sample(), stats.gamma(0.3)),
    "dirichlet": (lambda x: D.Dirichlet(torch.ones(N, 3, device="jax") * 2).sample()[:, 0], stats.beta(2, 4)),
    "beta": (lambda x: D.Beta(torch.full_like(x, 2.0), 3.0).sample(), stats.beta(2, 3)),
    "student": (lambda x: D.StudentT(torch.full_like(x, 5.0)).sample(), stats.t(5)),
    "trunc_normal_": (lambda x: torch.nn.init.trunc_normal_(x, a=-1, b=1), stats.truncnorm(-1, 1)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_samplers_pass_kolmogorov_smirnov(name, dtype):
    sample, distribution = CONTINUOUS[name]
    torch.set_default_dtype(dtype)
    try:
        x = sample(torch.empty(N, device="jax")).cpu()
    finally:
        torch.set_default_dtype(torch.float32)
    assert x.dtype == dtype and x.isfinite().all()
    assert stats.kstest(x.double().numpy(), distribution.cdf).pvalue > SIGNIFICANCE


DISCRETE = {
    "bernoulli": (lambda x: x.bernoulli_(0.3), stats.bernoulli(0.3)),
    "bernoulli of tensors": (lambda x: torch.bernoulli(torch.full_like(x, 0.7)), stats.bernoulli(0.7)),
    "dropout": (lambda x: torch.nn.functional.dropout(torch.ones_like(x), 0.25).bool().float(), stats.bernoulli(0.75)),
    "randint": (lambda x: torch.randint(3, 9, x.shape, device="jax"), stats.randint(3, 9)),
    "random_": (lambda x: x.long().random_(2, 7), stats.randint(2, 7)),
    "geometric_": (lambda x: x.geometric_(0.4), stats.geom(0.4)),
    "poisson": (lambda x: torch.poisson(torch.full_like(x, 4.0)), stats.poisson(4)),
    "large poisson": (lambda x: torch.poisson(torch.full_like(x, 40.0)), stats.poisson(40)),
    "binomial": (lambda x: torch.binomial(torch.full_like(x, 20.0), torch.full_like(x, 0.3)), stats.binom(20, 0.3)),
    "multinomial": (
        lambda x: torch.multinomial(torch.tensor([1.0, 1, 2], device="jax"), N, replacement=True).double(),
        stats.rv_discrete(values=([0, 1, 2], [0.25, 0.25, 0.5])),
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_samplers_pass_chi_squared(name):
    sample, distribution = DISCRETE[name]
    x = sample(torch.empty(N, device="jax")).cpu().double().numpy()
    values, seen = np.unique(x, return_counts=True)
    expected = distribution.pmf(values) * N
    assert (expected > 0).all(), f"impossible values {values[expected <= 0]}"
    common = expected > 5
    seen, expected = seen[common], expected[common]
    statistic = ((seen - expected) ** 2 / expected).sum()
    assert stats.chi2(len(seen)).sf(statistic) > SIGNIFICANCE


def test_multinomial_without_replacement_gives_each_once_and_in_proportion():
    weights = torch.tensor([[0.0, 1, 1, 2]] * 4000, device="jax")
    x = torch.multinomial(weights, 3).cpu()
    assert all(row == [1, 2, 3] for row in x.sort(1).values.tolist())
    assert abs((x[:, 0] == 3).double().mean() - 0.5) < 0.04


def test_permutations_are_uniform():
    seen = {tuple(torch.randperm(3, device="jax").tolist()) for _ in range(60)}
    assert len(seen) == 6
    assert sorted(torch.randperm(1000, device="jax").tolist()) == list(range(1000))


def test_draws_of_a_stream_are_independent():
    a, b = drawn(torch.randn_like).cpu(), drawn(torch.randn_like).cpu()
    assert abs((a * b).mean()) < 0.04 and abs((a[1:] * a[:-1]).mean()) < 0.04


def test_a_state_is_restored():
    state = torch.jax.get_rng_state()
    a = torch.rand(3, device="jax")
    torch.jax.set_rng_state(state)
    assert torch.equal(torch.rand(3, device="jax"), a)
    with torch.random.fork_rng(devices=[0], device_type="jax"):
        torch.rand(3, device="jax")
    b = torch.rand(3, device="jax")
    torch.jax.set_rng_state(state)
    torch.rand(3, device="jax")
    assert torch.equal(torch.rand(3, device="jax"), b)


def test_generators_have_streams_of_their_own():
    one, two = (torch.Generator().manual_seed(7) for _ in range(2))
    torch.manual_seed(0)
    a = torch.rand(4, device="jax", generator=one)
    torch.rand(4, device="jax")
    assert torch.equal(torch.rand(4, device="jax", generator=two), a)
    assert not torch.equal(torch.rand(4, device="jax", generator=two), a)


def test_a_generator_of_the_device():
    generator = torch.Generator(device="jax").manual_seed(3)
    assert generator.device == torch.device("jax:0") and isinstance(generator, torch.Generator)
    assert isinstance(torch.default_generator, torch.Generator) and type(torch.Generator()) is torch._C.Generator
    state = generator.get_state()
    a = torch.randn(3, device="jax", generator=generator)
    generator.set_state(state)
    assert torch.equal(torch.randn(3, device="jax", generator=generator), a)
    assert torch.Generator(device="jax:1").device.index == 1
    with pytest.raises(RuntimeError, match="invalid device ordinal 9"):
        torch.Generator(device="jax:9")


def test_wrong_parameters_raise_as_on_the_cpu():
    for call in (
        lambda x: x.uniform_(2, 1),
        lambda x: x.exponential_(-1),
        lambda x: x.bernoulli_(1.5),
        lambda x: x.geometric_(0),
        lambda x: torch.multinomial(x * 0, 2),
        lambda x: torch.multinomial(x + 1, 9),
        lambda x: torch.normal(x, -1.0),
    ):
        with pytest.raises(Exception) as expected:  # noqa: PT011 (whatever torch raises)
            call(torch.zeros(3))
        with pytest.raises(type(expected.value)) as found:
            call(torch.zeros(3, device="jax"))
        assert str(found.value)[:20] == str(expected.value)[:20]


def test_the_first_tensor_draws_nothing_from_the_random_states_of_the_host():
    """It imports JAX, which draws from numpy's."""
    program = (
        "import random, numpy as np, torch, tenax\n"
        "np.random.seed(0), random.seed(0), torch.manual_seed(0)\n"
        "state = lambda: (repr(np.random.get_state()), random.getstate(), torch.get_rng_state().tolist())\n"
        "before = state()\n"
        "assert (torch.ones(2, device='jax') + 1).sum().item() == 4 and state() == before\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr
