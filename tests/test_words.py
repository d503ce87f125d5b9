"""The words that decide dtypes agree with torch: for all dtypes, of tensors, 0-dim tensors and numbers."""

from __future__ import annotations

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tenax import words
from tenax.dispatch import process_settings
from tenax.kernels.fft import fft_norm
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

process_settings.configure()  # JAX honours 64-bit dtypes

DTYPES = {
    torch.bool: np.dtype(bool),
    torch.uint8: np.dtype("uint8"),
    torch.uint16: np.dtype("uint16"),
    torch.uint32: np.dtype("uint32"),
    torch.uint64: np.dtype("uint64"),
    torch.int8: np.dtype("int8"),
    torch.int16: np.dtype("int16"),
    torch.int32: np.dtype("int32"),
    torch.int64: np.dtype("int64"),
    torch.float16: np.dtype("float16"),
    torch.bfloat16: np.dtype(jnp.bfloat16),
    torch.float32: np.dtype("float32"),
    torch.float64: np.dtype("float64"),
    torch.complex64: np.dtype("complex64"),
    torch.complex128: np.dtype("complex128"),
}
UNPROMOTED = "Promotion for uint16, uint32, uint64 types is not supported"


class Shaped:
    """What `result_type` looks at in an array."""

    def __init__(self, dtype: torch.dtype, ndim: int) -> None:
        self.dtype = DTYPES[dtype]
        self.ndim = ndim


REFUSED = getattr(torch, "bcomplex32", None)  # the dtype of torch 2.15 that JAX lacks


def answer(function, *args):
    """The dtype, as numpy's; complex32, which JAX lacks, and a refusal are words."""
    try:
        dtype = function(*args)
    except NotImplementedError:
        return "complex32"
    except RuntimeError as error:
        return str(error).partition(",")[0]
    return "complex32" if dtype is torch.complex32 else DTYPES.get(dtype, dtype)


@pytest.mark.parametrize("first", DTYPES, ids=str)
def test_promote_types_is_torchs(first):
    for second in DTYPES:
        ours = answer(words.promote_types, DTYPES[first], DTYPES[second])
        assert ours == answer(torch.promote_types, first, second), f"{first} with {second}"


@pytest.mark.parametrize("dims", [(1, 1), (1, 0), (0, 1), (0, 0)], ids=str)
def test_result_type_of_two_tensors_is_torchs(dims):
    for dtypes in product(DTYPES, repeat=2):
        theirs = answer(torch.result_type, *(torch.zeros((1,) * n, dtype=d) for d, n in zip(dtypes, dims, strict=True)))
        ours = answer(words.result_type, *(Shaped(d, n) for d, n in zip(dtypes, dims, strict=True)))
        assert theirs in (ours, REFUSED), f"{dtypes[0]} with {dtypes[1]}"


@pytest.mark.parametrize("number", [True, 2, 0.5, 1j], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_result_type_of_a_tensor_and_a_number_is_torchs(number, dim):
    for dtype in DTYPES:
        ours = answer(words.result_type, Shaped(dtype, dim), number)
        theirs = answer(torch.result_type, torch.zeros((1,) * dim, dtype=dtype), number)
        assert theirs in (ours, REFUSED), f"{dtype}"


@pytest.mark.skipif(REFUSED is None, reason="this torch has no complex dtype of bfloat16 parts")
def test_a_complex_dtype_of_bfloat16_parts_is_refused():
    x = torch.ones(2, dtype=torch.bfloat16, device="jax")
    with pytest.raises(NotImplementedError, match=r"JAX has no equivalent of torch\.bcomplex32"):
        x * 1j


def test_a_tensor_with_dimensions_outranks_a_wider_one_without_of_its_kind():
    assert words.result_type(Shaped(torch.float32, 1), Shaped(torch.float64, 0)) == np.dtype("float32")
    assert words.result_type(Shaped(torch.int8, 1), Shaped(torch.int64, 0), 5) == np.dtype("int8")


def test_absent_arguments_do_not_take_part_and_one_must():
    assert words.result_type(None, Shaped(torch.int8, 1), None) == np.dtype("int8")
    with pytest.raises(TypeError, match="no argument has a dtype"):
        words.result_type(None)


def test_unsigned_types_that_torch_does_not_promote_are_refused():
    with pytest.raises(RuntimeError, match=UNPROMOTED):
        words.promote_types(np.dtype("uint16"), np.dtype("int8"))


@pytest.mark.parametrize("number", [0.1, 1e300, 2**53 + 1, 1 / 3 + 0.1j])
def test_a_number_keeps_its_full_precision_when_cast(number):
    dtype = {float: np.float64, int: np.int64, complex: np.complex128}[type(number)]
    assert np.asarray(words.cast(number, dtype)).item() == number


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", [None, (), (1,), (0, -1), 1], ids=str)
def test_a_reduction_over_axes_is_torchs(dims, keepdim):
    x = torch.randn(2, 3, 4)
    every = (0, 1, 2) if dims in (None, ()) else dims
    result = words.reduce_over(jax.lax.reduce_max, jnp.asarray(x.numpy()), dims, keepdim)
    np.testing.assert_array_equal(result, torch.amax(x, every, keepdim).numpy())
    assert words.numel(jnp.asarray(x.numpy()), dims) * result.size == x.numel()


def test_a_number_without_axes_is_its_own_reduction():
    assert words.reduce_over(jax.lax.reduce_sum, jnp.asarray(2.0), [0], True) == 2
    assert words.numel(jnp.asarray(2.0), [0]) == 1


@pytest.mark.parametrize(("reduction", "expected"), [(words.reduce_sum, True), (words.reduce_prod, False)])
def test_bools_are_added_by_or_and_multiplied_by_and(reduction, expected):
    result = reduction(jnp.asarray([True, True, False]))
    assert result.dtype == bool
    assert bool(result) is expected


def test_double_widens_float32_alone():
    third = jnp.asarray(1 / 3, jnp.float32)
    assert words.double(third).dtype == np.float64
    assert float(words.double(third)) == float(third)
    for other in (jnp.ones((), jnp.bfloat16), jnp.ones((), jnp.float64), 2):
        assert words.double(other) is other


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_reduced_losses_and_their_gradient_are_torchs(reduction, weighted):
    kind = {"none": words.NONE, "mean": words.MEAN, "sum": words.SUM}[reduction]
    x = torch.rand(3, 4, requires_grad=True)
    target, weight = torch.rand(3, 4), torch.rand(4) if weighted else None
    expected = torch.nn.functional.binary_cross_entropy(x, target, weight, reduction=reduction)
    grad = torch.rand_like(expected)
    expected.backward(grad)
    p, y, w, g = (None if t is None else jnp.asarray(t.detach().numpy()) for t in (x, target, weight, grad))
    losses, slope = -y * jnp.log(p) - (1 - y) * jnp.log1p(-p), (p - y) / (p * (1 - p))
    close(words.reduced(losses, kind, w), expected.detach(), COMPOSED)
    close(words.reduced_backward(g, slope, kind, w), x.grad, COMPOSED)


def test_the_mean_of_no_losses_is_nan_and_their_gradient_is_empty():
    nothing = jnp.zeros((0, 3))
    assert np.isnan(words.reduced(nothing, words.MEAN))
    assert words.reduced(nothing, words.SUM) == 0
    assert words.reduced_backward(jnp.ones(()), nothing, words.MEAN).shape == (0, 3)


@pytest.mark.parametrize("beta", [0, 1, 2])
@pytest.mark.parametrize("alpha", [1, 3])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int32], ids=str)
def test_axpby_of_a_contraction_is_addmm(alpha, beta, shape, dtype):
    a, b, c = torch.randint(-4, 5, (2, 5)), torch.randint(-4, 5, (5, 3)), torch.randint(-4, 5, shape)
    expected = torch.addmm(c.to(dtype), a.to(dtype), b.to(dtype), alpha=alpha, beta=beta)
    x, y, z = (jnp.asarray(t.numpy()).astype(DTYPES[dtype]) for t in (a, b, c))
    result = words.axpby(alpha, words.contract(x, y, (1,), (0,)), beta, z)
    assert result.dtype == DTYPES[dtype]
    np.testing.assert_array_equal(result.astype(np.float64), expected.double().numpy())


def test_a_nan_that_is_not_added_does_not_count():
    product = jnp.ones((2, 3))
    np.testing.assert_array_equal(words.axpby(2, product, 0, jnp.full((3,), jnp.nan)), 2 * product)


def test_a_contraction_goes_over_batches_in_step_and_gives_the_dtype_that_is_asked_for():
    a, b = torch.randn(2, 4, 5), torch.randn(2, 5, 3)
    x, y = jnp.asarray(a.numpy()), jnp.asarray(b.numpy())
    close(words.contract(x, y, (2,), (1,), batch=1), torch.bmm(a, b), COMPOSED)
    half = words.contract(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), (2,), (1,), batch=1, dtype=words.FLOAT32)
    assert half.dtype == words.FLOAT32
    close(half, torch.bmm(a.bfloat16().float(), b.bfloat16().float()), COMPOSED)


def test_a_contraction_of_two_dtypes_or_of_bools_raises_torchs_error():
    with pytest.raises(RuntimeError, match="same dtype, but got: float32 != float64"):
        words.contract(jnp.ones((2, 2), np.float32), jnp.ones((2, 2), np.float64), (1,), (0,))
    with pytest.raises(NotImplementedError, match="not implemented for bool"):
        words.contract(jnp.ones((2, 2), bool), jnp.ones((2, 2), bool), (1,), (0,))


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("normalization", [0, 1, 2])
def test_the_scale_of_a_transform_is_torchs(normalization, forward):
    x = torch.randn(3, 4, dtype=torch.complex64)
    expected = torch.ops.aten._fft_c2c(x, [0, 1], normalization, forward)
    transform = jnp.fft.fftn if forward else jnp.fft.ifftn
    result = transform(jnp.asarray(x.numpy()), norm=fft_norm(normalization, forward))
    close(result, expected, COMPOSED)
