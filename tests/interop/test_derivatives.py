"""JAX's derivative of torch functions, where JAX has no rule for what computes them, or another than torch's."""

from collections.abc import Callable

import jax
import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from tenax.interop import t2j
from tests.helpers.agreement import close
from tests.helpers.arrays import X
from tests.helpers.tolerances import FACTORED, SERIES

pytestmark = pytest.mark.gpu

AT_ZERO: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "norm": lambda x: (x * 0).norm(),
    "vector norms": lambda x: torch.linalg.vector_norm(x * torch.tensor([[0.0], [1.0]], device=x.device), dim=1),
    "normalize": lambda x: torch.nn.functional.normalize(x * 0),
    "std": lambda x: (x * 0).std(),
    "relu": lambda x: (x * 0).relu(),
    "cdist": lambda x: torch.cdist(x, x),
    "softmax of equals": lambda x: (x * 0).softmax(0),
    "i0": lambda x: torch.special.i0(x * 0),
    "norm of another order": lambda x: (x * 0).norm(3),
    "abs": lambda x: (x * 0).abs(),
    "logsigmoid": lambda x: F.logsigmoid(x * 0),
    "soft margins": lambda x: F.multilabel_soft_margin_loss(x * 0, torch.ones_like(x)),
    "xlogy": lambda x: torch.xlogy(x, x.detach() * 0).sum(1) * torch.tensor([0.0, 1.0], device=x.device).exp(),
    "clamp at its bound": lambda x: x.clamp(x.detach(), x.detach() + 1) + (x * 0).clamp_max(0.0),
    "ties": lambda x: (x * 0).max(1)[0] + (x * 0).cummax(1)[0].sum(1) + (x * 0).median(),
    "sums of exponentials": lambda x: torch.logaddexp(x * 0, x.detach() + torch.inf) + torch.logaddexp(x, x * 0),
    "atan2": lambda x: torch.atan2(x * 0, x * 0) + torch.copysign(x * 0, x),
    "powers of zero": lambda x: (x * 0) ** (x * 0),
    "rounded quotients": lambda x: torch.div(x, x.detach() * 0, rounding_mode="floor").isinf() * 1.0 + x,
    "saturated": lambda x: F.binary_cross_entropy((x * 0 + 30).sigmoid(), torch.ones_like(x)) + F.silu(x * 0 - 1e4),
}
SQUARE = np.array([[2.0, 0.5, 0.1], [0.4, 1.5, 0.3], [0.2, 0.6, 1.0]], np.float32)  # of which half is read
PLANES = np.random.default_rng(0).normal(size=(1, 2, 7, 7)).astype(np.float32)
LABELS = torch.tensor([[1, 2, 2], [3, 1, 0]])
WITHOUT_RULE: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], np.ndarray]] = {
    "cholesky": (lambda x: torch.linalg.cholesky(x), SQUARE),
    "cholesky, upper": (lambda x: torch.linalg.cholesky(x, upper=True), SQUARE),
    "eigh": (lambda x: torch.linalg.eigh(x)[1].square() + torch.linalg.eigvalsh(x, UPLO="U"), SQUARE),
    "adaptive pooling": (lambda x: F.adaptive_max_pool2d(x, (3, 2)), PLANES),
    "pooling of volumes": (lambda x: F.max_pool3d(x, 3, 2, 1), PLANES),
    "pooling of large windows": (lambda x: F.max_pool2d(x, 5, 1, 2), PLANES),
    "frexp": (lambda x: torch.frexp(x)[0] + torch.frexp(x * 0)[0], X),
    "igamma": (lambda x: torch.igamma(x.detach().exp(), x.exp()) - torch.igammac(torch.ones(()), x.exp()), X),
    "ctc_loss": (lambda x: F.ctc_loss(x.log_softmax(2), LABELS, (7, 5), (3, 2)), np.moveaxis(PLANES[0], 0, 1)),
    "softmax of nothing": (
        lambda x: torch._safe_softmax(torch.where(torch.tensor([[True], [False]]), x, -torch.inf), 1),
        X,
    ),
    "embedding_bag": (lambda x: F.embedding_bag(LABELS % 2, x), X),
    "padding of an embedding": (lambda x: F.embedding(LABELS % 2, x, padding_idx=0), X),
    "an embedding scaled by frequency": (lambda x: F.embedding(LABELS % 2, x, scale_grad_by_freq=True), X),
    "fake quantization": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -10, 12), X),
    "polygamma": (lambda x: torch.polygamma(2, x.exp()) + torch.special.zeta(2.5, x.exp()), X),
    "digamma": (lambda x: torch.digamma(x - 8.2), X),
    "products": (lambda x: x.scatter_reduce(1, LABELS % 3, x * x - 1, "prod", include_self=False), X),
    "written twice": (lambda x: x.scatter(1, LABELS % 2, x.sin()), X),
    "reflections": (lambda x: torch.ormqr(x, x[0], x) + torch.linalg.householder_product(x, x[1]), SQUARE),
    "eigenvectors": (lambda x: torch.linalg.eig(x)[1].abs(), SQUARE),
    "a singular matrix": (lambda x: torch.linalg.pinv(x[:1].T @ x[:1]) + torch.linalg.det(x[:1].T @ x[:1] * 0), SQUARE),
    "complex numbers of double precision": (lambda x: (x.cdouble() * 2j).imag.float() + x.cdouble().abs().float(), X),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [*AT_ZERO, *WITHOUT_RULE])
def test_the_derivative_is_that_of_torch(name: str) -> None:
    function, x = WITHOUT_RULE[name] if name in WITHOUT_RULE else (AT_ZERO[name], X)
    leaf = torch.tensor(x, requires_grad=True)
    value = function(leaf)
    weight = np.arange(value.numel(), dtype=np.float32).reshape(value.shape) + 1
    (gradient,) = torch.autograd.grad(value, leaf, torch.tensor(weight))
    f = t2j(function)
    allowance = {"eigh": FACTORED, "digamma": SERIES}.get(name)
    close(f(x), value.detach(), allowance)
    derivative = jax.grad(lambda x: (f(x) * weight).sum())

    @jax.jit
    def derivatives(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        along = jax.jvp(f, (x,), (jax.numpy.ones_like(x),))[1]
        return derivative(x), jax.vmap(derivative)(x[None])[0], (along * weight).sum()

    backward, mapped, forward = derivatives(x)
    close(backward, gradient, allowance)
    close(mapped, gradient, allowance)
    close(forward, gradient.sum(), allowance)


TWICE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "logsigmoid": lambda x: (F.logsigmoid(x * 0 + x[0]) * x).sum(),
    "a product": lambda x: x.scatter_reduce(0, torch.tensor([0, 0, 1], device=x.device), x * x, "prod").sum(),
    "a determinant": lambda x: torch.linalg.det(torch.outer(x, x) + torch.diag(x)),
    "a pseudoinverse": lambda x: torch.linalg.pinv(torch.outer(x, x)).sum(),
    "smooth functions at 0": lambda x: (F.mish(x - 1.25) + torch.special.i1(x - 1.25)).sum(),  # of which one is 0
    "norms": lambda x: x.norm(3) + x.clamp(0, 1).pow(3).sum() + x.cummax(0)[0].square().sum(),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_are_those_of_torch(name: str) -> None:
    x = np.array([0.5, 1.25, 2.0], np.float32)
    expected = torch.autograd.functional.hessian(TWICE[name], torch.tensor(x))
    for second in (jax.hessian(t2j(TWICE[name])), jax.jacrev(jax.grad(t2j(TWICE[name])))):
        close(jax.jit(second)(x), expected, FACTORED)


def test_sums_of_exponentials_that_differ_by_more_than_the_range_of_floats_have_second_derivatives() -> None:
    for function in (torch.logaddexp, torch.logaddexp2):
        at = np.float32(300), np.float32(0)
        close(np.array(jax.jit(jax.hessian(t2j(function), (0, 1)))(*at)), np.zeros((2, 2)))


def test_ctc_loss_has_no_second_derivative_as_in_torch() -> None:
    loss = t2j(lambda x: F.ctc_loss(x.log_softmax(2), LABELS, (7, 5), (3, 2)))
    with pytest.raises(NotImplementedError, match="the derivative for '_ctc_loss_backward' is not implemented"):
        jax.hessian(loss)(np.moveaxis(PLANES[0], 0, 1))


def test_a_gamma_number_has_the_derivative_of_its_shape_parameter() -> None:
    key = jax.random.key(0)
    shape = np.array([0.5, 2.0, 7.0], np.float32)
    drawn, pull = jax.vjp(lambda a: t2j(torch._standard_gamma)(a, rng=key), shape)
    expected = torch._standard_gamma_grad(torch.tensor(shape), torch.tensor(drawn))  # an approximation
    close(pull(np.ones(3, np.float32))[0], expected, SERIES)
    counts = t2j(lambda x: torch.poisson(x) + torch.binomial(x.new_full((3,), 5), x.sigmoid()))
    close(jax.grad(lambda a: counts(a, rng=key).sum())(shape), np.zeros(3))


def test_the_derivative_in_the_first_argument_of_igamma_is_refused_as_in_torch() -> None:
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not implemented"):
        torch.igamma(torch.ones(1, requires_grad=True), torch.ones(1)).backward()
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not implemented"):
        jax.grad(lambda a: t2j(torch.igamma)(a, np.ones(1, np.float32)).sum())(np.ones(1, np.float32))
