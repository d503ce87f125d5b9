"""Convolutions of any geometry and all their derivatives are those of CPU torch, whichever method computes them."""

from __future__ import annotations

import functools
import random
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax import lax

from tenax.interop import t2j
from tenax.kernels.convolution import eigen, library, methods, pieces, primitives, shifts
from tenax.kernels.convolution.geometry import Geometry
from tenax.planning.products import flops_of_products
from tests.helpers.agreement import agree, close
from tests.helpers.tolerances import COMPOSED, IN_HALVES, SUMMED

Tensor = torch.Tensor


class Options(NamedTuple):
    """The arguments of `aten::convolution` after the bias."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]
    transposed: bool
    output_padding: list[int]
    groups: int


class Drawn(NamedTuple):
    """A convolution with its arrays."""

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    options: Options


def drawn(seed: int, dtype: torch.dtype) -> Drawn:
    """A random convolution: 1 to 3 dimensions, each with its own geometry; the batch is empty now and then."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    rank = rng.choice([1, 2, 2, 2, 3])
    transposed = rng.random() < 0.3
    groups = rng.choice([1, 2, 3, 4, 6])
    out, into = (groups * rng.choice([1, 1, 2, 3]) for _ in range(2))
    stride, dilation, kernel = ([rng.choice(v) for _ in range(rank)] for v in ([1, 1, 2, 3], [1, 1, 2], [1, 2, 3, 4]))
    if rng.random() < 0.2:
        kernel = [1] * rank
    padding = [rng.randrange(d * (k - 1) + 1 if transposed else 4) for d, k in zip(dilation, kernel, strict=True)]
    extra = [rng.randrange(max(s, d)) if transposed else 0 for s, d in zip(stride, dilation, strict=True)]
    sizes = [rng.randrange(d * (k - 1) + 1, d * (k - 1) + 8) for d, k in zip(dilation, kernel, strict=True)]
    batch = 0 if rng.random() < 0.08 else rng.choice([1, 2, 3])
    x = torch.randn(batch, into, *sizes, dtype=dtype)
    w = torch.randn(*((into, out // groups) if transposed else (out, into // groups)), *kernel, dtype=dtype)
    bias = torch.randn(out, dtype=dtype) if rng.random() < 0.5 else None
    return Drawn(x, w, bias, Options(stride, padding, dilation, transposed, extra, groups))


def passes(case: Drawn, device: str, *, twice: bool) -> list[Tensor]:
    """The result, its gradients, and with `twice` the gradients of a function of those."""
    leaves = [x.detach().to(device).requires_grad_() for x in case[:3] if x is not None]
    x, w, *bias = leaves
    y = torch.ops.aten.convolution(x, w, bias[0] if bias else None, *case.options)
    torch.manual_seed(7)
    weights = torch.randn(y.shape, dtype=y.dtype).to(device)
    first = torch.autograd.grad(y, leaves, weights, create_graph=twice)
    if not twice:
        return [y, *first]
    second = torch.autograd.grad(sum(g.square().sum() for g in first[:2]), [x, w], allow_unused=True)
    return [y, *first, *second]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(18))
def test_all_passes_and_double_backward_are_those_of_the_cpu(seed: int) -> None:
    case = drawn(seed, torch.float64)
    agree(passes(case, "jax", twice=True), passes(case, "cpu", twice=True), COMPOSED)


@pytest.mark.parametrize("seed", range(100, 105))
@pytest.mark.parametrize(("dtype", "allowance"), [(torch.float32, SUMMED), (torch.bfloat16, IN_HALVES)])
def test_all_passes_in_single_and_half_precision(seed: int, dtype: torch.dtype, allowance: Any) -> None:
    case = drawn(seed, dtype)
    agree(passes(case, "jax", twice=False), passes(case, "cpu", twice=False), allowance)


@pytest.mark.parametrize("seed", range(200, 212))
def test_integers_are_convolved_and_transposed(seed: int) -> None:
    case = drawn(seed, torch.float64)
    operands = [None if x is None else (x * 3).round().long() for x in case[:3]]
    expected = torch.ops.aten.convolution(*operands, *case.options)
    found = torch.ops.aten.convolution(*(None if x is None else x.to("jax") for x in operands), *case.options)
    assert torch.equal(found.cpu(), expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_integers_are_convolved_without_the_library_on_accelerators(groups: int, rank: int) -> None:
    g = Geometry((2,) * rank, (1,) * rank, (2,) * rank, groups, (7,) * rank, (3,) * rank, (3,) * rank)
    rng = np.random.default_rng(0)
    x, y, w = (
        jax.device_put(rng.integers(-9, 9, shape).astype(np.int32), jax.devices("cpu")[0])
        for shape in ((3, 4, *g.image), (3, 6, *g.out), (6, 4 // groups, *g.kernel))
    )
    for function, first in ((primitives.output, x), (primitives.image, y)):
        traced = jax.jit(functools.partial(function, g)).trace(first, w)
        assert "stablehlo.convolution" not in traced.lower(lowering_platforms=("cuda",)).as_text()
        assert np.array_equal(function.elsewhere(g, first, w), function.by_library(g, first, w))


def test_bfloat16_is_summed_in_float32() -> None:
    x, w = torch.ones(1, 2, 20, 20, dtype=torch.bfloat16), torch.ones(2, 1, 19, 19, dtype=torch.bfloat16)
    for groups, weight in ((2, w), (1, w.expand(2, 2, 19, 19))):
        expected = torch.conv2d(x, weight, groups=groups)
        close(torch.conv2d(x.to("jax"), weight.to("jax"), groups=groups), expected)


# Sizes of a group, channels of output and image, for which the CPU has a method each.
METHODS = {
    "depthwise": (4, 1, 1),
    "multiplied": (3, 2, 2),
    "few groups": (2, 16, 16),
    "many groups": (6, 16, 16),
    "dense": (1, 3, 2),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "rank"), [(name, 2) for name in METHODS] + [("dense", 3), ("multiplied", 3)])
def test_every_method_computes_the_same_function(name: str, rank: int) -> None:
    groups, outputs, inputs = METHODS[name]
    g = Geometry((2,) * rank, (1,) * rank, (2,) * rank, groups, (7,) * rank, (3,) * rank, (3,) * rank)
    generator = np.random.default_rng(0)
    image = generator.normal(size=(2, groups * inputs, *g.image))
    weight = generator.normal(size=(groups * outputs, inputs, *g.kernel))
    output = generator.normal(size=(2, groups * outputs, *g.out))
    by_plane = [pieces.output_by_plane, pieces.image_by_plane, pieces.weight_by_plane]
    products = [functools.partial(f, contract=shifts.product) for f in (shifts.output, shifts.image)]
    functions = (
        [library.output, shifts.output, products[0], pieces.output_by_group],
        [library.image, shifts.image, products[1], pieces.image_by_group],
        [library.weight, shifts.weight, shifts.weight_by_products, pieces.weight_by_group],
    )

    @jax.jit
    def results() -> Any:
        arrays = [jnp.asarray(x, jnp.float64) for x in (image, weight, output)]
        pairs = ((0, 1), (2, 1), (2, 0))
        plane = by_plane if rank == 3 and groups == 1 else [None] * 3
        return [
            [f(g, arrays[i], arrays[j]) for f in (*some, last) if f is not None]
            for some, last, (i, j) in zip(functions, plane, pairs, strict=True)
        ]

    with jax.enable_x64(True):
        for expected, *found in results():
            for result in found:
                close(result, expected, COMPOSED)


def test_the_weights_of_few_groups_are_merged_into_blocks() -> None:
    assert pieces.count(32, 8) == 8
    assert pieces.count(6, 16) == 3
    assert pieces.count(7, 16) == 7
    assert pieces.count(32, 64) == 32


def test_long_sums_are_cut_into_blocks_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    g = Geometry((1, 1), (0, 0), (1, 1), 2, (34, 34), (3, 3), (32, 32))
    generator = np.random.default_rng(0)
    image, output = (generator.random((64, 2, n, n), dtype=np.float32) for n in (34, 32))
    with jax.enable_x64(True):
        exact = jax.jit(functools.partial(shifts.weight, g))(output.astype(float), image.astype(float))
    errors = []
    for chain in (shifts.CHAIN, 64**3):
        monkeypatch.setattr(shifts, "CHAIN", chain)
        found = jax.jit(functools.partial(shifts.weight, g))(output, image)
        errors.append(np.abs(np.asarray(found) - np.asarray(exact)).max())
    assert 3 * errors[0] < errors[1]


@pytest.fixture
def depthwise() -> tuple[Any, Any, Any, Any]:
    """A grouped convolution as a pure function of JAX, the same by JAX itself, and arrays."""
    generator = np.random.default_rng(1)
    x = jnp.asarray(generator.normal(size=(2, 4, 6, 5)), jnp.float64)
    w = jnp.asarray(generator.normal(size=(8, 1, 3, 2)), jnp.float64)
    ours = t2j(lambda x, w: torch.conv2d(x, w, stride=(2, 1), padding=1, groups=4))
    theirs = lambda x, w: lax.conv_general_dilated(x, w, (2, 1), [(1, 1)] * 2, feature_group_count=4)  # noqa: E731
    return ours, theirs, x, w


def test_derivatives_of_any_order_and_mode_are_those_of_jax(depthwise: Any) -> None:
    ours, theirs, x, w = depthwise
    tangents = jnp.cos(x), jnp.sin(w)
    close(jax.jvp(ours, (x, w), tangents), jax.jvp(theirs, (x, w), tangents))

    def twice(f: Any) -> Any:
        loss = lambda x, w: jnp.sum(f(x, w) ** 3)  # noqa: E731
        slope = lambda x, w: sum(jnp.sum(g**2) for g in jax.grad(loss, (0, 1))(x, w))  # noqa: E731
        return jax.jit(jax.grad(slope, (0, 1)))(x, w), jax.jvp(jax.grad(loss, (0, 1)), (x, w), tangents)

    close(twice(ours), twice(theirs), COMPOSED)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 1), (2, 0)])
def test_mapped_convolutions_and_gradients_are_those_of_jax(depthwise: Any, axes: Any) -> None:
    ours, theirs, x, w = depthwise
    batch = [y if axis is None else jnp.stack([y, 2 * y, y - 1], axis) for y, axis in zip((x, w), axes, strict=True)]

    def mapped(f: Any) -> Any:
        loss = lambda x, w: jnp.sum(jnp.sin(f(x, w)))  # noqa: E731
        return jax.vmap(f, axes)(*batch), jax.vmap(jax.grad(loss, (0, 1)), axes)(*batch)

    close(mapped(ours), mapped(theirs))


def test_gradients_of_samples_use_no_convolution_of_the_library(depthwise: Any) -> None:
    ours, _, x, w = depthwise
    loss = lambda w, x: jnp.sum(jnp.sin(ours(x[None], w)))  # noqa: E731
    text = jax.jit(jax.vmap(jax.grad(loss), (None, 0))).lower(w, x).as_text()
    assert "stablehlo.convolution" not in text


def test_other_platforms_get_the_convolution_of_their_library(depthwise: Any) -> None:
    ours, _, x, w = depthwise
    programs = {
        platform: jax.export.export(jax.jit(ours), platforms=[platform])(x, w).mlir_module()
        for platform in ("cpu", "cuda", "tpu")
    }
    assert {p: "stablehlo.convolution" in text for p, text in programs.items()} == {
        "cpu": False,
        "cuda": True,
        "tpu": True,
    }


@pytest.mark.parametrize(
    ("outputs", "inputs", "groups", "kernel", "expected"),
    [
        (1, 1, 96, (3, 3), (shifts.output, shifts.image, shifts.weight)),
        (4, 4, 32, (3, 3), (shifts.output, shifts.image, shifts.weight)),
        (32, 32, 8, (3, 3), (pieces.output_by_group, pieces.image_by_group, pieces.weight_by_group)),
        (64, 64, 1, (3, 3), (eigen.output, eigen.image, eigen.weight)),
        (64, 64, 1, (3, 3, 3), (pieces.output_by_plane, pieces.image_by_plane, pieces.weight_by_plane)),
    ],
)
def test_the_method_follows_the_geometry(outputs: int, inputs: int, groups: int, kernel: Any, expected: Any) -> None:
    rank = len(kernel)
    g = Geometry((1,) * rank, (1,) * rank, (1,) * rank, groups, (8,) * rank, kernel, (8,) * rank)
    chosen = tuple(choose(g, outputs, inputs) for choose in (methods.output, methods.image, methods.weight))
    assert chosen == expected


def test_a_primitive_runs_on_arrays_without_a_trace() -> None:
    g = Geometry((1,), (1,), (1,), 3, (5,), (3,), (5,))
    x, w = jnp.arange(15.0).reshape(1, 3, 5), jnp.ones((3, 1, 3))
    expected = library.output(g, x, w)
    with jax.disable_jit():
        close(primitives.output(g, x, w), expected)


def test_the_plan_counts_the_multiplications_of_every_pass() -> None:
    x, w = jnp.ones((2, 6, 9, 8)), jnp.ones((12, 2, 3, 3))
    conv = t2j(lambda x, w: torch.conv2d(x, w, padding=1, groups=3))
    forward = 2 * (2 * 12 * 9 * 8) * (2 * 3 * 3)
    assert flops_of_products(jax.make_jaxpr(conv)(x, w).jaxpr) == forward
    gradients = jax.make_jaxpr(lambda x, w, t: jax.vjp(conv, x, w)[1](t))(x, w, jnp.ones((2, 12, 9, 8)))
    assert flops_of_products(gradients.jaxpr) in (2 * forward, 3 * forward)  # with forward, whose result is unused


# Convolutions with more pixels in the kernel than in the image or the output: sizes of the image, kernel, options.
SMALL = {
    "1-d": ([5], [9], Options([1], [4], [1], False, [0], 1)),
    "one output": ([4, 4], [3, 3], Options([2, 2], [1, 1], [2, 2], False, [0, 0], 1)),
    "padded": ([2, 3], [3, 3], Options([1, 1], [1, 2], [1, 1], False, [0, 0], 1)),
    "patches": ([13, 12], [5, 5], Options([6, 5], [1, 0], [1, 1], False, [0, 0], 1)),
    "dilated patches": ([14, 12], [3, 3], Options([6, 5], [1, 0], [2, 2], False, [0, 0], 1)),
    "more output": ([2, 2], [1, 1], Options([1, 1], [2, 1], [1, 1], False, [0, 0], 1)),
    "transposed": ([2, 2], [5, 4], Options([3, 1], [1, 0], [1, 2], True, [2, 0], 1)),
    "transposed patches": ([2, 3], [3, 4], Options([3, 4], [1, 0], [1, 1], True, [2, 0], 1)),
    "blocks of groups": ([2, 2], [3, 3], Options([1, 1], [1, 1], [1, 1], False, [0, 0], 2)),
    "3-d": ([2, 2, 3], [3, 3, 3], Options([1, 2, 1], [1, 2, 1], [1, 1, 2], False, [0] * 3, 1)),
    "3-d patches": ([4, 6, 6], [2, 3, 3], Options([2, 3, 3], [0] * 3, [1] * 3, False, [0] * 3, 1)),
}


@pytest.mark.parametrize("name", SMALL)
def test_kernels_larger_than_their_image_have_the_passes_of_the_cpu(name: str) -> None:
    sizes, kernel, options = SMALL[name]
    torch.manual_seed(3)
    channels = 16 * options.groups
    x = torch.randn(2, channels, *sizes, dtype=torch.float64)
    w = torch.randn(channels, 16, *kernel, dtype=torch.float64)
    case = Drawn(x, w, torch.randn(channels, dtype=torch.float64), options)
    agree(passes(case, "jax", twice=True), passes(case, "cpu", twice=True), COMPOSED)


@pytest.mark.parametrize("name", SMALL)
def test_xla_reverses_no_window_of_a_kernel_larger_than_its_image(name: str) -> None:
    """XLA's CPU backend computes reversed windows with a plain loop."""
    sizes, kernel, options = SMALL[name]
    channels = 16 * options.groups
    x, w = jnp.ones((2, channels, *sizes), jnp.float32), jnp.ones((channels, 16, *kernel), jnp.float32)
    convolve = t2j(lambda x, w: torch.ops.aten.convolution(x, w, None, *options))
    y = jnp.ones(jax.eval_shape(convolve, x, w).shape, jnp.float32)
    for function in (convolve, jax.grad(lambda x, w: jnp.vdot(convolve(x, w), y), (0, 1))):
        assert "rhs_reversal" not in jax.jit(function).lower(x, w).compile().as_text()
