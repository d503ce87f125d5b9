"""What torch asks of values in its own Python: functions that do are compiled, and are functions of JAX."""

from collections.abc import Callable

import jax
import numpy as np
import pytest
import torch
from torch import nn

import tenax
from tenax.interop import functional, t2j
from tests.helpers.agreement import close

D = torch.distributions
COVARIANCE = torch.tensor([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.5]])


def _densities(x: torch.Tensor) -> torch.Tensor:
    zeros = x.new_zeros(3)
    return (
        D.Normal(x[0], x[1].exp(), validate_args=True).log_prob(zeros).sum()
        + D.Gamma(x[0].exp(), x[1].exp(), validate_args=True).log_prob(zeros + 1).sum()
        + D.Categorical(logits=x[0], validate_args=True).log_prob(zeros.long()[0])
    )


ASKING: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "densities": _densities,
    "covariance": lambda x: D.MultivariateNormal(x[0], x @ x.mT, validate_args=True).log_prob(x[1]),
    "precision": lambda x: D.MultivariateNormal(x[0], precision_matrix=x @ x.mT, validate_args=True).log_prob(x[1]),
    "cholesky": lambda x: torch.linalg.cholesky(x @ x.mT)[1].sum(),
    "inverse": lambda x: x.inverse().sum() + torch.linalg.inv(x).square().sum(),
    "solve": lambda x: torch.linalg.solve(x, x[0]).sum(),
    "variances": lambda x: nn.functional.gaussian_nll_loss(x[0], x[1], x[2].exp(), full=True),
    "weighted classes": lambda x: nn.functional.cross_entropy(
        x, x.argsort(1)[0], weight=x.detach()[0], ignore_index=1, label_smoothing=0.1
    ),
    "lu": lambda x: torch.linalg.lu_factor(x)[0].square().sum(),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ASKING)
def test_a_function_that_checks_its_arguments_is_traced(name: str) -> None:
    f = ASKING[name]
    x = COVARIANCE.clone().requires_grad_()
    expected = f(x).detach()
    (gradient,) = torch.autograd.grad(f(x), x)
    value, found = jax.jit(jax.value_and_grad(t2j(f)))(COVARIANCE.numpy())
    close(value, expected)
    close(found, gradient)
    close(jax.vmap(jax.grad(t2j(f)))(np.stack([COVARIANCE.numpy()] * 2))[1], gradient)

    @tenax.jit
    def step(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        value = f(x)
        return value.detach(), torch.autograd.grad(value, x)[0]

    value, found = step(COVARIANCE.to("jax").requires_grad_())
    torch.jax.synchronize()
    close(value, expected)
    close(found, gradient)


@pytest.mark.parametrize("name", ["cholesky", "inverse", "solve", "lu"])
def test_torch_compile_takes_the_check_of_a_factorisation(name: str) -> None:
    f = ASKING[name]
    x = COVARIANCE.clone().requires_grad_()
    y = COVARIANCE.to("jax").requires_grad_()
    compiled = torch.compile(f, backend="tenax", fullgraph=True)
    with torch.no_grad():
        close(compiled(y), f(x).detach())
    f(x).backward()
    compiled(y).backward()
    close(y.grad, x.grad)


def test_a_singular_matrix_is_found_with_the_results() -> None:
    singular = torch.ones(2, 2)
    with pytest.raises(torch.linalg.LinAlgError) as expected:
        torch.linalg.inv(singular)
    with pytest.raises(torch.linalg.LinAlgError) as found:
        torch.linalg.inv(singular.to("jax"))
    assert str(found.value) == str(expected.value)
    tenax.jit(torch.linalg.inv)(singular.to("jax"))
    with pytest.raises(torch.linalg.LinAlgError, match=r"singular.*test_data_checks"):
        torch.jax.synchronize()


@pytest.mark.parametrize("name", ["cholesky_ex", "inv_ex", "lu_factor_ex", "solve_ex"])
def test_a_factorisation_that_is_to_check_itself_does(name: str) -> None:
    function = getattr(torch.linalg, name)

    def call(device: str, matrix: torch.Tensor) -> object:
        matrix = matrix.to(device)
        return function(*[matrix] * (1 + (name == "solve_ex")), check_errors=True)

    failures = []
    for device in ("cpu", "jax"):
        assert not call(device, COVARIANCE)[-1]
        with pytest.raises(RuntimeError) as failure:
            call(device, -torch.ones(2, 2))
        failures.append((failure.type, str(failure.value)))
    assert failures[0] == failures[1]
    tenax.jit(lambda: call("jax", torch.zeros(2, 2, device="jax")))()
    with pytest.raises(torch.linalg.LinAlgError, match="singular or not positive-definite"):
        torch.jax.synchronize()


def test_a_factorisation_that_fails_by_rounding_says_so() -> None:
    """Elimination, which finds `info`, rounds in another way and may find every pivot of such a matrix positive."""
    points = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
    similar = torch.exp(-torch.cdist(points, points).square() / torch.tensor([1.0, 3.0, 10.0])[:, None, None])
    similar = torch.cat([similar + 1e-6 * torch.eye(200), torch.eye(200)[None]])
    factor, info = torch.linalg.cholesky_ex(similar.to("jax"))
    failed = factor.isnan().flatten(1).any(1)
    assert failed.any() and failed.equal(info != 0) and info[3] == 0 and (info <= 200).all()
    with pytest.raises(torch.linalg.LinAlgError, match="not positive-definite"):
        torch.linalg.cholesky(similar[2].to("jax"))


def test_a_negative_variance_is_found_with_the_results() -> None:
    compiled = tenax.jit(nn.GaussianNLLLoss())
    x = torch.ones(2, device="jax")
    compiled(x, x, x * 2)
    torch.jax.synchronize()
    compiled(x, x, -x)
    with pytest.raises(ValueError, match="var has negative entry"):
        torch.jax.synchronize()


def test_running_statistics_may_average_all_batches() -> None:
    images = torch.randn(3, 4, 2, 5, generator=torch.Generator().manual_seed(0))
    reference = nn.BatchNorm1d(2, momentum=None)
    ours = nn.BatchNorm1d(2, momentum=None).to("jax")
    pure, params, buffers = functional(nn.BatchNorm1d(2, momentum=None))

    @tenax.jit
    def step(image: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = ours(image)
        result.exp().sum().backward()
        return result

    for image in images:
        expected = reference(image)
        expected.exp().sum().backward()
        close(step(image.to("jax")), expected)
        found, buffers = jax.jit(pure)(params, buffers, image.numpy())
        close(found, expected)
    close(ours.bias.grad, reference.bias.grad)
    for name, value in reference.named_buffers():
        close(ours.get_buffer(name), value)
        close(buffers[name], value)


def test_a_pure_function_counts_into_a_known_number_of_bins() -> None:
    values = np.array([3, 0, 1, 3])
    counts = jax.jit(t2j(lambda x: torch.bincount(x, minlength=6)))(values)
    close(counts, torch.bincount(torch.from_numpy(values), minlength=6))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_lengths_of_sequences_are_arguments(reduction: str) -> None:
    torch.manual_seed(0)
    scores, targets = torch.randn(6, 3, 4), torch.randint(1, 4, (3, 3))

    def loss(scores: torch.Tensor, targets: torch.Tensor, spans: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        log_probs = scores.log_softmax(-1)
        return nn.functional.ctc_loss(log_probs, targets, spans, sizes, reduction=reduction, zero_infinity=True)

    def slope(scores: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        scores = scores.detach().requires_grad_()
        return torch.autograd.grad(loss(scores, *rest).sum(), scores)[0]

    value, gradient, pure = tenax.jit(loss), tenax.jit(slope), jax.jit(t2j(loss))
    for lengths in (([6, 5, 1], [3, 2, 2]), ([4, 6, 3], [1, 0, 3])):
        spans, sizes = map(torch.tensor, lengths)
        expected = loss(scores, targets, spans, sizes)
        close(pure(*(x.numpy() for x in (scores, targets, spans, sizes))), expected)
        for device in ("cpu", "jax"):
            given = scores.to("jax"), targets.to("jax"), spans.to(device), sizes.to(device)
            close(value(*given), expected)
            close(gradient(*given), slope(scores, targets, spans, sizes))
    assert len(value.history) == 2  # lengths of the host, and of the device


def test_a_known_argument_out_of_range_is_refused_in_a_pure_function_too() -> None:
    with pytest.raises(ValueError, match="Expected parameter scale"):
        t2j(lambda x: D.Normal(x, -1.0, validate_args=True).log_prob(x))(np.zeros(2, np.float32))


def test_a_mask_need_not_be_known_to_be_the_causal_one() -> None:
    torch.manual_seed(0)
    module = nn.Transformer(4, 2, 1, 1, 8, batch_first=True).eval()
    x = torch.randn(2, 3, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    expected = module(x, x, tgt_mask=mask).detach()
    apply, params, buffers = functional(module)
    close(jax.jit(apply)(params, buffers, x.numpy(), x.numpy(), tgt_mask=mask.numpy())[0], expected)
    module.to("jax")
    x, mask = x.to("jax"), mask.to("jax")
    close(tenax.jit(lambda x: module(x, x, tgt_mask=mask))(x), expected)
