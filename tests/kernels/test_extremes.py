"""Infinite, huge, missing, ignored and singular arguments give what CPU torch gives."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from tests.helpers.agreement import close
from tests.helpers.tolerances import CANCELLED

INF, NAN = float("inf"), float("nan")
ROWS = torch.tensor([[1e38, -1e38, 3e38], [-INF, -INF, -INF], [INF, 1, 2], [NAN, 1, 2], [-INF, 0, 1e4], [INF, INF, 0]])
GRID = torch.tensor([[[[-1.0, -1], [1, 1], [NAN, 0], [INF, 0], [1.0001, -3], [0.999, 0.5], [-INF, 2]]]])
LOGITS = torch.tensor([1e4, -1e4, INF, -INF, 0, 90])
LABELS = torch.tensor([1.0, 0, 1, 0, 1, 0.5])

Case = tuple[str, Callable[..., Any], tuple[torch.Tensor, ...]]


def cases() -> Iterator[Case]:
    for name in ("logsumexp", "softmax", "log_softmax"):
        yield name, lambda x, name=name: getattr(torch, name)(x, 1), (ROWS,)
    yield "logcumsumexp", lambda x: torch.logcumsumexp(x, 1), (ROWS,)
    far = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 1e-3 + 1e8
    for correction in (0, 3, 5):
        yield f"var-{correction}", lambda x, c=correction: torch.var_mean(x, 1, correction=c), (far,)
    for order in (0, 0.5, 2, INF, -INF):
        scales = torch.tensor([[1e30, 1e30], [1e-30, 1e-30], [0, 0], [INF, NAN], [3, 4]])
        yield f"norm-{order}", lambda x, p=order: torch.linalg.vector_norm(x, p, 1), (scales,)
    for name in ("binary_cross_entropy_with_logits", "smooth_l1_loss", "soft_margin_loss", "poisson_nll_loss"):
        yield name, lambda x, y, name=name: getattr(F, name)(x, y, reduction="none"), (LOGITS, LABELS)
    certain = torch.tensor([0.0, 1, 0, 1, 0.5]), torch.tensor([0.0, 1, 1, 0, 1])
    yield "binary_cross_entropy", lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), certain
    scores, weight = torch.linspace(-3, 3, 30).reshape(6, 5), torch.tensor([0.1, 0.5, 0.2, 0.9, 0.4])
    target = torch.tensor([0, 1, 2, -100, 4, 3])
    for smoothing, reduction in itertools.product((0.0, 0.2), ("none", "mean", "sum")):
        loss = functools.partial(F.cross_entropy, label_smoothing=smoothing, reduction=reduction)
        yield f"cross_entropy-{smoothing}-{reduction}", lambda x, y, w, f=loss: f(x, y, w), (scores, target, weight)
    yield "cross_entropy-ignored", F.cross_entropy, (scores, torch.full((6,), -100))
    log = torch.linspace(-1, 1, 60).sin().reshape(5, 3, 4).log_softmax(-1)
    labels = torch.tensor([[1, 1, 2, 3], [2, 3, 1, 1], [1, 2, 3, 1]])
    for infinite in (False, True):
        # An empty target, one that fits, and one that is longer than its input.
        options = {"zero_infinity": infinite, "reduction": "none"}
        yield f"ctc_loss-{infinite}", lambda x, y, o=options: F.ctc_loss(x, y, (5, 5, 3), (0, 3, 4), **o), (log, labels)
    for order in (0.0, 0.5, 1.0, 2.0, 3.0, INF):
        pair = torch.tensor([[0.0, 1], [2, 2]]), torch.tensor([[0.0, 1], [2, 3], [5, 2]])
        yield f"cdist-{order}", lambda x, y, p=order: torch.cdist(x, y, p=p), pair
    image = torch.linspace(-2, 2, 70).cos().reshape(1, 2, 5, 7)
    for mode, padding in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")):
        sample = functools.partial(F.grid_sample, mode=mode, padding_mode=padding, align_corners=False)
        # CPU torch's own backward reads out of bounds at such a grid.
        yield f"grid_sample-{mode}-{padding}", lambda x, g, f=sample: f(x.detach(), g), (image, GRID)
    window = torch.tensor([[[[NAN, 1, -INF, -INF], [2, 3, -INF, -INF]]]])
    yield "max_pool2d", lambda x: F.max_pool2d(x, 2, return_indices=True), (window,)
    yield "unique", lambda x: torch.unique(x.detach(), return_counts=True), (torch.tensor([NAN, NAN, 1, -0.0, 0.0]),)
    yield "sort", lambda x: torch.sort(x, stable=True, descending=True), (torch.tensor([1, NAN, 2, 1, -0.0, 0, INF]),)
    product = torch.cat([torch.full((200,), 1.001), torch.tensor([0.0, 2.0])])
    yield "cumprod", lambda x: torch.cumprod(x, 0), (product,)
    yield "nanmean", lambda x: torch.nanmean(x, 1), (torch.full((2, 3), NAN),)
    powers = torch.tensor([130, 200, -100, 1000, -1, 130])
    yield "ldexp", torch.ldexp, (torch.tensor([1e-10, -1e-30, 0.7, 1, 3, INF]), powers)
    yield "ldexp of half", torch.ldexp, (torch.tensor([1e-4, 1, 3]).half(), torch.tensor([17, 20, -15]))
    for number in (INF, NAN, 1e300, -2.5):
        for name in ("nan", "posinf", "neginf"):
            replaced = functools.partial(torch.nan_to_num, **{name: number})
            yield f"nan_to_num-{name}-{number}", lambda x, f=replaced: f(x), (ROWS,)
    yield "nan_to_num of half", lambda x: torch.nan_to_num(x, nan=1e5), (ROWS.half(),)
    yield "product with a mask", lambda x: x * torch.zeros_like(x, dtype=torch.bool), (LOGITS,)
    yield "product with a number that is a mask", lambda x: x * False, (LOGITS,)
    yield "slogdet", torch.linalg.slogdet, (torch.zeros(2, 2),)
    yield "matrix_rank", torch.linalg.matrix_rank, (torch.ones(3, 3),)
    yield "pinv", lambda x: torch.linalg.pinv(x).detach(), (torch.ones(3, 2, dtype=torch.float64),)


CASES = {name: (function, xs) for name, function, xs in cases()}


def results(function: Callable[..., Any], xs: tuple[torch.Tensor, ...], device: str) -> list[torch.Tensor]:
    """The results, then the gradient of their sum in the first argument."""
    first, *rest = (x.clone().to(device) for x in xs)
    first.requires_grad_()
    found = function(first, *rest)
    found = list(found) if isinstance(found, tuple) else [found]
    smooth = [x.sum() for x in found if x.requires_grad]
    grads = torch.autograd.grad(sum(smooth), first, allow_unused=True) if smooth else ()
    return [x.detach().cpu() for x in (*found, *grads) if x is not None]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0:UserWarning")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_an_extreme_argument_gives_what_it_gives_on_the_cpu(name: str) -> None:
    function, xs = CASES[name]
    expected, actual = results(function, xs, "cpu"), results(function, xs, "jax")
    close(actual, expected, CANCELLED if name.startswith("var-") else None, nan=True)


def test_least_squares_of_an_infinite_matrix_end() -> None:
    """LAPACK's singular values of such a matrix would not."""
    x = torch.tensor([[1.0, INF, 2], [3, 4, 5]], device="jax")
    for driver in ("gelsy", "gelsd", "gelss"):
        assert torch.linalg.lstsq(x, x[:, :1], driver=driver).solution.isnan().all()


@pytest.mark.parametrize(
    "function",
    [
        lambda device: torch.linalg.inv(torch.ones(2, 2, device=device)),
        lambda device: torch.linalg.cholesky(-torch.eye(2, device=device)),
        lambda device: torch.linalg.solve(torch.zeros(2, 2, device=device), torch.ones(2, device=device)),
    ],
    ids=["inv", "cholesky", "solve"],
)
def test_a_singular_matrix_is_the_error_that_it_is_on_the_cpu(function: Callable[[str], torch.Tensor]) -> None:
    with pytest.raises(torch.linalg.LinAlgError) as expected:
        function("cpu")
    with pytest.raises(torch.linalg.LinAlgError) as actual:
        function("jax")
    assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize("name", ["eig", "eigh", "eigvalsh"])
def test_eigenvalues_of_what_is_not_finite_are_the_error_that_they_are_on_the_cpu(name: str) -> None:
    matrix = torch.eye(4).index_fill(0, torch.tensor(2), NAN)
    with pytest.raises(RuntimeError) as expected:
        getattr(torch.linalg, name)(matrix)
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value))):
        getattr(torch.linalg, name)(matrix.to("jax"))


@pytest.mark.parametrize("rank", [2, 3])
def test_an_image_has_a_gradient_where_its_sampling_grid_has_none(rank: int) -> None:
    image, grid = torch.randn(1, 2, *[4] * rank), torch.rand(1, *[3] * rank, rank) * 2.4 - 1.2
    grads = []
    for device in ("cpu", "jax"):
        x = image.clone().to(device).requires_grad_()
        F.grid_sample(x, grid.to(device), align_corners=False).sum().backward()
        grads.append(x.grad.cpu())
    close(*grads)


@pytest.mark.parametrize("asked", list(itertools.product((False, True), repeat=3)))
def test_a_batch_norm_has_the_gradients_that_are_asked_for(asked: tuple[bool, bool, bool]) -> None:
    args = torch.randn(3, 4, 5), torch.rand(4), torch.randn(4)
    grads = []
    for device in ("cpu", "jax"):
        x, weight, bias = (a.clone().to(device).requires_grad_(wanted) for a, wanted in zip(args, asked, strict=True))
        if any(asked):
            F.batch_norm(x, None, None, weight, bias, training=True).sin().sum().backward()
        grads.append([None if a.grad is None else a.grad.cpu() for a in (x, weight, bias)])
    for expected, actual in zip(*grads, strict=True):
        assert (actual is None) == (expected is None)
        if expected is not None:
            close(actual, expected)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_an_image_of_bytes_is_resized_to_the_same_bytes(mode: str, antialias: bool) -> None:
    image = torch.randint(0, 256, (1, 3, 10, 20), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    resize = functools.partial(F.interpolate, mode=mode, antialias=antialias, align_corners=True)
    for size in ((8, 20), (3, 31)):
        assert torch.equal(resize(image.to("jax"), size=size).cpu(), resize(image, size=size))


@pytest.mark.parametrize("other", ["mask", "number"])
def test_a_mask_is_not_subtracted_in_place(other: str) -> None:
    for device in ("cpu", "jax"):
        x = torch.ones(2, device=device)
        mask = x > 0
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with "):
            mask.sub_(mask if other == "mask" else 1)
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with a bool tensor"):
            x.sub_(mask)


def test_half_precision_pairs_are_no_complex_numbers() -> None:
    with pytest.raises(NotImplementedError, match=r"JAX has no equivalent of torch\.complex32"):
        torch.view_as_complex(torch.ones(3, 2, dtype=torch.float16, device="jax"))


@pytest.mark.parametrize("operator", [lambda x, z: x + z, lambda x, z: z * x, lambda x, z: x - 1j])
def test_an_operator_whose_result_would_be_complex32_says_so(operator: Callable[..., torch.Tensor]) -> None:
    x, z = torch.ones(3, dtype=torch.float16, device="jax"), torch.tensor(1 + 1j, device="jax")
    with pytest.raises(NotImplementedError, match=r"complex32"):
        operator(x, z)


SMALLEST = torch.tensor([-128, 127, 0, 1, -1, 12, 18, -127], dtype=torch.int8)
# Found by `tenax coverage fuzz`: sizes of zero, arguments out of their range, numbers beyond a dtype's.
FOUND: dict[str, Callable[[str], torch.Tensor]] = {
    "slice_scatter of another size": lambda d: torch.slice_scatter(
        torch.zeros(4, 6, device=d), torch.ones(4, 2, device=d), 1, 5, 0, 2
    ),
    "slice_scatter by steps": lambda d: torch.slice_scatter(
        torch.zeros(4, 6, device=d), torch.ones(4, 2, device=d), 1, 2, 6, 2
    ),
    "adaptive_max_pool1d to nothing": lambda d: F.adaptive_max_pool1d(torch.ones(3, 4, 4, device=d), 0),
    "adaptive_max_pool2d to nothing": lambda d: F.adaptive_max_pool2d(torch.ones(3, 4, 4, device=d), (0, 2)),
    "addmm of bytes, negative factors": lambda d: torch.addmm(
        *(torch.ones(2, 2, dtype=torch.uint8, device=d) for _ in range(3)), beta=-1, alpha=-2
    ),
    "no groups": lambda d: F.conv_transpose1d(torch.ones(3, 4, device=d), torch.ones(3, 3, 4, device=d), groups=0),
    "unfold by a negative padding": lambda d: F.unfold(torch.ones(1, 1, 5, 5, device=d), (2, 2), padding=-1),
    "smooth_l1_loss with a negative beta": lambda d: F.smooth_l1_loss(
        torch.ones(3, device=d), torch.zeros(3, device=d), beta=-5.0
    ),
    "multi_margin_loss of one sample and a list": lambda d: F.multi_margin_loss(
        torch.arange(7.0, device=d), torch.tensor([2], device=d), margin=0.0, reduction="none"
    ),
    "unique across the last axis": lambda d: torch.unique_consecutive(
        torch.tensor([[1.0, 1, 2], [1, 1, 2]], device=d), dim=1
    ),
    "whole numbers downwards": lambda d: torch.linspace(50, 1, 50, dtype=torch.int64, device=d),
    "mvlgamma of order 0": lambda d: torch.mvlgamma(torch.ones(2, device=d) * 4, 0),
    "diagonal_scatter of another size": lambda d: torch.diagonal_scatter(
        torch.zeros(5, 4, 3, device=d), torch.ones(5, 2, device=d), 1, 2, 1
    ),
    "diagonal_scatter": lambda d: torch.diagonal_scatter(
        torch.zeros(5, 4, 3, device=d), torch.ones(5, 3, device=d), 1, 2, 1
    ),
    "unique along a dim of nothing": lambda d: torch.unique(torch.zeros(0, 0, device=d), dim=1),
    "cholesky_inverse of a singular factor": lambda d: torch.cholesky_inverse(torch.eye(3, device=d).tril(-1)),
    "searchsorted by no order": lambda d: torch.searchsorted(
        torch.arange(3, device=d), 1, sorter=torch.tensor([5, 6, 7], device=d)
    ),
    "slope of hardswish at NaN": lambda d: torch.ops.aten.hardswish_backward(
        torch.ones(32, device=d), torch.tensor([NAN, 3, -3, 1], device=d).repeat(8)
    ),
    "a volume far from its grid": lambda d: torch.ops.aten.grid_sampler_3d(
        torch.arange(8.0, device=d).view(1, 1, 2, 2, 2),
        torch.tensor([[[[[INF, 0, 0], [0, NAN, 0]]]]], device=d),
        0,
        0,
        True,
    ),
    "index_reduce of a number": lambda d: torch.tensor(1.0, device=d).index_reduce(
        0, torch.zeros(8, dtype=torch.int64, device=d), torch.tensor(1.0, device=d), "amin"
    ),
    "index_select of a number": lambda d: torch.tensor(1.0, device=d).index_select(0, torch.tensor([0, 0], device=d)),
    "bilinear of nothing": lambda d: F.interpolate(torch.ones(2, 3, 3, 0, device=d), size=(3, 3), mode="bilinear"),
    "logit between limits that cross": lambda d: torch.logit(torch.linspace(0, 1, 7, device=d), 0.6),
    "select_scatter of another place": lambda d: torch.select_scatter(
        torch.zeros(2, 3, device=d), torch.zeros(2, device=d), 1, 3
    ),
    "masked_select of another size": lambda d: torch.zeros(10, 2, 10, device=d).masked_select(
        torch.zeros(10, 10, dtype=torch.bool, device=d)
    ),
    "gcd of the smallest integers": lambda d: torch.gcd(SMALLEST.to(d)[:, None], SMALLEST.to(d)),
    "lcm of the smallest integers": lambda d: torch.lcm(SMALLEST.to(d)[:, None], SMALLEST.to(d)),
    "gradient of a window of nothing": lambda d: torch.ops.aten.unfold_backward(torch.ones(0, device=d), [], 0, 0, 2),
    "gradient of windows that rows share": lambda d: torch.ops.aten.unfold_backward(
        torch.arange(6.0, device=d).view(1, 2, 3), [2, 5], 1, 3, 2
    ),
    "adaptive_avg_pool2d to one size": lambda d: torch.ops.aten._adaptive_avg_pool2d(
        torch.ones(1, 2, 6, 6, device=d), [2]
    ),
    "upsample_trilinear3d to four sizes": lambda d: torch.ops.aten.upsample_trilinear3d(
        torch.ones(1, 2, 3, 3, 3, device=d), [2] * 4, False
    ),
    "new_empty_strided of fewer sizes": lambda d: torch.ones(3, device=d).new_empty_strided((3,), (1, 2)),
    "empty_strided of fewer strides": lambda d: torch.empty_strided((3, 2), (1,), device=d),
    "as_strided_scatter of fewer sizes": lambda d: torch.as_strided_scatter(
        torch.ones(3, 3, device=d), torch.ones(2, 2, device=d), (2,), (1, 2)
    ),
    "logsumexp_backward of no axes": lambda d: torch.ops.aten.logsumexp(torch.ones(5, 5, device=d), [], True),
    "slice_backward to no axes": lambda d: torch.ops.aten.slice_backward(torch.ones(4, device=d), [], 0, 0, 4, 1),
    "slice_backward to more axes": lambda d: torch.ops.aten.slice_backward(torch.ones(4, device=d), [5, 5], 0, 0, 4, 1),
    "select_backward to no axes": lambda d: torch.ops.aten.select_backward(torch.ones((), device=d), [], 0, 0),
    **{
        f"{name} of nothing, NaN times": lambda d, name=name, shapes=shapes: getattr(torch, name)(  # type: ignore[misc]
            *(torch.ones(shape, device=d) for shape in shapes), alpha=NAN
        )
        for name, shapes in {
            "addmm": ((2, 3), (2, 0), (0, 3)),
            "addmv": ((2,), (2, 0), (0,)),
            "addbmm": ((2, 3), (0, 2, 4), (0, 4, 3)),
            "baddbmm": ((2, 2, 3), (2, 2, 0), (2, 0, 3)),
            "_addmm_activation": ((3,), (2, 0), (0, 3)),
        }.items()
    },
    **{
        f"hardtanh from {low} to {high}": lambda d, low=low, high=high: torch.ops.aten.hardtanh(  # type: ignore[misc]
            torch.tensor([-2.0, -0.0, 0.0, 2.0, NAN, INF], device=d), low, high
        )
        for low, high in ((NAN, 1), (-1, NAN), (1, -1), (-1, 1))
    },
    "slope of logit at NaN": lambda d: torch.ops.aten.logit_backward(
        torch.ones(3, device=d), torch.tensor([NAN, 0.5, 0.05], device=d), 0.1
    ),
    "addcdiv of bools": lambda d: torch.addcdiv(*(torch.ones(2, dtype=torch.bool, device=d) for _ in range(3))),
}


@pytest.mark.parametrize(
    "name", ["max", "min", "median", "nanmedian", "mode", "cummax", "cummin", "sort", "argsort", "softmax"]
)
@pytest.mark.parametrize("size", [(), (2, 0, 3), (0,)])
def test_a_dim_that_is_not_there_raises(name: str, size: tuple[int, ...]) -> None:
    for dim in (1, -1, -2):
        try:
            getattr(torch, name)(torch.zeros(size), dim)
        except IndexError as error:
            with pytest.raises(IndexError, match=re.escape(str(error))):
                getattr(torch, name)(torch.zeros(size, device="jax"), dim)


@pytest.mark.parametrize("name", FOUND)
def test_what_a_fuzzer_found(name: str) -> None:
    try:
        want = FOUND[name]("cpu")
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error), match=re.escape(str(error)[:60])):
            FOUND[name]("jax")
        return
    ours = FOUND[name]("jax")
    assert ours.stride() == want.stride() or not want.numel()
    close(ours, want, nan=True)


def test_lists_that_are_too_short_are_refused() -> None:
    """CPU torch reads beyond their ends: its result depends on what stands there, and may take all memory."""
    image = torch.ones(1, 3, 4, 4, device="jax")
    with pytest.raises(RuntimeError, match="output_size must be 3"):
        torch.ops.aten._adaptive_avg_pool3d(image, [])
    with pytest.raises(RuntimeError, match="expected output_padding to be a single integer value or a list of 2"):
        F.conv_transpose2d(image, torch.ones(3, 3, 3, 3, device="jax"), output_padding=())


@pytest.mark.parametrize("size", [0, (0, 2, 1), (1, 2, 0)], ids=str)
def test_a_fractional_pool_without_windows_is_empty(size: int | tuple[int, ...]) -> None:
    def shapes(device: str) -> list[torch.Size]:
        x = torch.ones(2, 3, 4, 4, 4, device=device, requires_grad=True)
        result, places = torch.nn.functional.fractional_max_pool3d(x, 2, output_size=size, return_indices=True)
        result.sum().backward()
        return [result.shape, places.shape, x.grad.shape]

    assert shapes("jax") == shapes("cpu")
