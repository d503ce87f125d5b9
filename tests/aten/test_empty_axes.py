"""Indices into an axis without elements: their shapes decide the error, so every mode raises where it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import tenax
from tenax.interop import t2j

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _ones(x: torch.Tensor) -> torch.Tensor:
    return torch.ones(1, *x.shape[1:], device=x.device)


def _assigned(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[i] = 1.0
    return y


OF_ROWS: dict[str, Function] = {
    "index_select": lambda x, i: x.index_select(0, i),
    "embedding": lambda x, i: F.embedding(i, x),
    "index": lambda x, i: x[i],
    "index by a 0-d tensor": lambda x, i: x[i[0]],
    "assignment": _assigned,
    "index_put": lambda x, i: x.index_put((i,), torch.ones((), device=x.device)),
    "index_put accumulating": lambda x, i: x.index_put((i,), torch.ones((), device=x.device), accumulate=True),
    "index_add": lambda x, i: x.index_add(0, i, _ones(x)),
    "index_copy": lambda x, i: x.index_copy(0, i, _ones(x)),
    "index_reduce": lambda x, i: x.index_reduce(0, i, _ones(x), "amax"),
    "index_fill": lambda x, i: x.index_fill(0, i, 1.0),
    "gather": lambda x, i: x.gather(0, i.expand(3)[:, None].expand(3, 3) if x.dim() > 1 else i),
    "scatter": lambda x, i: x.scatter(0, i[:, None] if x.dim() > 1 else i, 1.0),
    "scatter_add": lambda x, i: x.scatter_add(0, i[:, None] if x.dim() > 1 else i, _ones(x)),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[:, None] if x.dim() > 1 else i, _ones(x), "amax"),
    "take": lambda x, i: x.take(i),
    "put": lambda x, i: x.put(i, torch.ones(1, device=x.device)),
}
SHAPES = {"rows": (0, 3), "numbers": (0,), "no columns": (2, 0), "neither": (0, 0)}
MODES: dict[str, Callable[[Function], Callable[..., Any]]] = {
    "eager": lambda f: f,
    "jit": tenax.jit,
    "lazy": tenax.lazy(),
    "t2j": lambda f: jax.jit(t2j(f)),
}


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The shape of a result, or the kind of error."""
    try:
        shape = tuple(function(*args).shape)
        tenax.synchronize()
        return shape
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_index_into_nothing_raises_as_on_the_cpu(shape: tuple[int, ...], mode: str) -> None:
    differ = {}
    for name, function in OF_ROWS.items():
        x, i = torch.zeros(shape), torch.tensor([0])
        expected = _outcome(function, x, i)
        if (name, shape) == ("embedding", (0,)):
            continue  # a table has two axes
        args = [x.to("jax"), i.to("jax")]
        if mode == "t2j":
            args = [tenax.to_jax(t) for t in args]
        found = [_outcome(MODES[mode](function), *args) for _ in range(2)]
        if found != [expected, expected]:
            differ[name] = (found, expected)
    assert not differ


@pytest.mark.parametrize("mode", MODES)
def test_an_index_into_an_empty_view_raises_as_on_the_cpu(mode: str) -> None:
    def function(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x[:0].index_select(0, i)

    compiled = MODES[mode](function)
    args = [torch.zeros(2, 3).to("jax"), torch.tensor([0]).to("jax")]
    with pytest.raises(RuntimeError, match="self indexing axis dim should be positive"):
        compiled(*(map(tenax.to_jax, args) if mode == "t2j" else args))


@pytest.mark.parametrize("name", ["cumsum_", "cumprod_"])
def test_running_results_of_no_booleans_in_place_are_none(name: str) -> None:
    x = torch.zeros(0, 3, dtype=torch.bool, device="jax")
    assert getattr(x, name)(1) is x
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        getattr(x.new_zeros(2, 3), name)(1)


@pytest.mark.parametrize("name", ["max", "min", "aminmax"])
def test_the_greatest_of_nothing_raises_as_on_the_cpu(name: str) -> None:
    for x in torch.zeros(0), torch.zeros(0, 2, dtype=torch.int32), torch.zeros(0, dtype=torch.bool):
        for mode in ("eager", "jit", "eager", "jit"):
            with pytest.raises(RuntimeError, match=r"reduc|empty dimension"):
                MODES[mode](getattr(torch, name))(x.to("jax"))


def test_what_a_lowering_refuses_it_refuses_again_in_the_words_of_the_cpu() -> None:
    image, places = torch.zeros(1, 1, 0, 3, device="jax"), torch.zeros(1, 1, 1, 2, device="jax")
    for _ in range(3):
        with pytest.raises(RuntimeError, match="non-empty spatial dimensions"):
            F.grid_sample(image, places, align_corners=False)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_no_indices_are_zeros(mode: str) -> None:
    for device in "cpu", "jax":
        table = torch.ones(4, 2, device=device, requires_grad=True)
        none, offsets = torch.zeros(0, dtype=torch.long, device=device), torch.zeros(3, dtype=torch.long, device=device)
        bags = F.embedding_bag(none, table, offsets, mode=mode)
        bags.sum().backward()
        assert bags.tolist() == [[0, 0]] * 3
        assert table.grad.tolist() == [[0, 0]] * 4
