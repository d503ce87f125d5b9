"""Results have the strides of CPU torch's where torch's Meta kernels say otherwise, or say nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import tenax

SHAPES = [(), (0,), (1,), (8,), (1, 5), (5, 1), (3, 4), (0, 3), (2, 3, 4)]
OPERATORS: dict[str, Callable[[torch.Tensor], Any]] = {
    "nonzero": torch.nonzero,
    "nonzero as_tuple": lambda x: torch.nonzero(x, as_tuple=True),
    "nonzero out": lambda x: torch.nonzero(x, out=torch.empty(0, dtype=torch.int64, device=x.device)),
    "argwhere": torch.argwhere,
    "where": lambda x: torch.where(x > 0),
    "nonzero_static": lambda x: torch.nonzero_static(x, size=5),
    "nonzero_static out": lambda x: torch.nonzero_static(x, size=5, out=torch.empty(0, dtype=int, device=x.device)),
    "masked_select": lambda x: x[x > 0],
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "unique_consecutive": lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
    "isin": lambda x: torch.isin(x, torch.arange(2.0, device=x.device)),
    "isin of many": lambda x: torch.isin(x, torch.arange(1000.0, device=x.device)),
    "isin of a number": lambda x: torch.isin(x, 1),
}


def _strides(result: Any) -> list[tuple[Any, ...]]:
    tensors = [result] if isinstance(result, torch.Tensor) else result
    return [(tuple(t.shape), t.stride()) for t in tensors]


def _layouts(shape: tuple[int, ...]) -> list[torch.Tensor]:
    x = torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(0)).float()
    return [x, x.mT.contiguous().mT] if len(shape) > 1 else [x]


@pytest.mark.parametrize("name", OPERATORS)
def test_results_have_the_strides_of_the_cpu(name: str) -> None:
    for x in [x for shape in SHAPES for x in _layouts(shape)]:
        expected = _strides(OPERATORS[name](x))
        assert _strides(OPERATORS[name](x.to("jax"))) == expected, (x.shape, x.stride())


@pytest.mark.parametrize("unique", [torch.unique, torch.unique_consecutive])
def test_distinct_slices_are_stored_one_after_another(unique: Callable[..., Any]) -> None:
    for shape in [(8,), (1, 5), (5, 1), (3, 4), (2, 3, 1), (2, 3, 4)]:
        for dim in range(len(shape)):
            for x in _layouts(shape):
                expected = _strides(unique(x, dim=dim, return_inverse=True, return_counts=True))
                found = _strides(unique(x.to("jax"), dim=dim, return_inverse=True, return_counts=True))
                assert found == expected, (shape, dim)


def test_lapack_results_of_one_column_have_the_strides_of_columns() -> None:
    x = torch.arange(5.0).reshape(5, 1)
    for function in (torch.geqrf, lambda x: torch.linalg.lstsq(x, x + 1)[:1]):
        assert _strides(function(x.to("jax"))) == _strides(function(x))


GRADIENTS_OF_IMAGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "batch norm": lambda x: F.batch_norm(x, None, None, training=True),
    "layer norm": lambda x: F.layer_norm(x.permute(0, 2, 3, 1), x.shape[1:2]).permute(0, 3, 1, 2),
    "reflection": lambda x: F.pad(x, (1, 2, 1, 0), mode="reflect"),
    "replication": lambda x: F.pad(x, (1, 2, 1, 0), mode="replicate"),
    "channel shuffle": lambda x: F.channel_shuffle(x, 3),
}


@pytest.mark.parametrize("name", GRADIENTS_OF_IMAGES)
@pytest.mark.parametrize("of_gradient", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("of_image", [torch.contiguous_format, torch.channels_last])
def test_results_of_images_keep_the_memory_format(
    name: str, of_image: torch.memory_format, of_gradient: torch.memory_format
) -> None:
    image = torch.randn(2, 6, 7, 5).to(memory_format=of_image)

    def strides(x: torch.Tensor) -> list[Any]:
        x = x.detach().requires_grad_()
        out = GRADIENTS_OF_IMAGES[name](x)
        gradient = torch.ones(out.shape, device=x.device).to(memory_format=of_gradient)
        return _strides([out, *torch.autograd.grad(out, x, gradient)])

    assert strides(image.to("jax")) == strides(image)


@pytest.mark.parametrize("exponent", [True, False, 1, 2.0])
def test_a_power_of_bools_has_the_dtype_of_the_cpu(exponent: float) -> None:
    bools = torch.tensor([True, False])
    for compiled in (lambda f: f, tenax.jit):
        result = compiled(lambda x: x**exponent)(bools.to("jax")).cpu()
        assert (result.dtype, result.tolist()) == ((bools**exponent).dtype, (bools**exponent).tolist())


BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    **{name: getattr(torch, name) for name in "logaddexp logaddexp2 copysign heaviside xlogy floor_divide".split()},
    **{name: getattr(torch, name) for name in "logical_and logical_or logical_xor".split()},
    "xlog1py": torch.special.xlog1py,
    "rounded down": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "rounded down, out": lambda x, y: torch.floor_divide(x, y, out=torch.empty(0, device=x.device)),
    "huber loss": lambda x, y: F.huber_loss(*torch.broadcast_tensors(x, y), reduction="none"),
}


def _permuted(*shape: int) -> list[torch.Tensor]:
    """A tensor of a shape, stored in different orders of its axes."""
    x = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    orders = [(0, 1, 2, 3), (0, 2, 3, 1), (1, 0, 2, 3), (3, 2, 1, 0)]
    kept = [tuple(d for d in order if d < len(shape)) for order in orders]
    return [x.permute(o).contiguous().permute([o.index(d) for d in range(len(o))]) for o in dict.fromkeys(kept)]


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_have_the_strides_of_the_cpu(name: str) -> None:
    for x, y in zip(_permuted(3, 4, 5), [*_permuted(4, 5), *_permuted(3, 4, 5)[1:]], strict=False):
        for pair in ((x, y), (y, x), (x, x[0, 0, 0])):
            result = BINARY[name](*(t.to("jax") for t in pair))
            assert _strides(result) == _strides(BINARY[name](*pair)), [t.stride() for t in pair]
        if name in ("copysign", "xlogy", "floor_divide", "xlog1py", "rounded down", "rounded down, out"):
            assert _strides(BINARY[name](x.to("jax"), 2.0)) == _strides(BINARY[name](x, 2.0))


OF_PERMUTED: dict[str, tuple[Callable[[torch.Tensor], Any], tuple[int, ...]]] = {
    "poisson": (torch.poisson, (2, 3, 4)),
    "normal": (lambda x: [torch.normal(x, x), torch.normal(0.0, x), torch.normal(x, 1.0)], (2, 3, 4)),
    "gamma": (torch._standard_gamma, (2, 3, 4)),
    "batch norm in training": (lambda x: F.batch_norm(x, None, None, training=True), (2, 3, 4)),
    "batch norm": (lambda x: F.batch_norm(x, x.new_zeros(3), x.new_ones(3)), (2, 3, 4)),
    "eigenvectors": (torch.linalg.eig, (2, 3, 3)),
    "pixel shuffle": (lambda x: F.pixel_shuffle(x, 2), (2, 8, 3, 2)),
    "max unpooling": (lambda x: F.max_unpool2d(x, torch.zeros_like(x, dtype=torch.long), 2), (2, 3, 4, 4)),
}


@pytest.mark.parametrize("name", OF_PERMUTED)
def test_results_for_permuted_tensors_have_the_strides_of_the_cpu(name: str) -> None:
    function, shape = OF_PERMUTED[name]
    for x in _permuted(*shape):
        assert _strides(function(x.to("jax"))) == _strides(function(x)), x.stride()
