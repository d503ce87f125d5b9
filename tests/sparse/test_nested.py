"""Jagged nested tensors of the device behave as CPU torch's."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.helpers.agreement import close

PARTS = [torch.arange(6.0).reshape(2, 3), torch.ones(4, 3)]
WEIGHT = torch.linspace(-1, 1, 15).reshape(5, 3)


def jagged(device: str, requires_grad: bool = False) -> torch.Tensor:
    parts = [p.to(device) for p in PARTS]
    return torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=requires_grad)


CALLS: dict[str, Callable[[str], Any]] = {
    "construction": lambda d: [jagged(d).values(), jagged(d).offsets()],
    "a view of values": lambda d: torch.nested.nested_tensor_from_jagged(
        torch.ones(5, 3, device=d), torch.tensor([0, 2, 5], device=d)
    ).unbind(),
    "narrow": lambda d: torch.nested.narrow(
        torch.ones(2, 5, 3, device=d),
        1,
        torch.tensor([0, 1], device=d),
        torch.tensor([2, 3], device=d),
        layout=torch.jagged,
    ).unbind(),
    "transfer": lambda d: [jagged("cpu").to(d).values(), jagged(d).clone().values()],
    "unbind": lambda d: [*jagged(d).unbind(), jagged(d)[1]],
    "padding": lambda d: jagged(d).to_padded_tensor(-1.0),
    "elementwise": lambda d: [(jagged(d) + 1).values(), functional.relu(jagged(d) - 2).values()],
    "linear": lambda d: functional.linear(jagged(d), WEIGHT.to(d)).values(),
    "matmul": lambda d: (jagged(d) @ torch.ones(2, 3, 4, device=d)).values(),
    "normalisation": lambda d: [
        functional.softmax(jagged(d), -1).values(),
        functional.layer_norm(jagged(d), (3,)).values(),
    ],
    "reductions": lambda d: [jagged(d).sum(-1).values(), jagged(d).sum(1), jagged(d).mean(1), jagged(d).amax(1)],
    "joining": lambda d: torch.cat([jagged(d), jagged(d)], -1).values(),
    "embedding": lambda d: functional.embedding(
        torch.nested.nested_tensor([torch.tensor([1, 2]), torch.tensor([0])], layout=torch.jagged).to(d), WEIGHT.to(d)
    ).values(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_agrees_with_cpu_torch(name: str) -> None:
    ours, theirs = ([r] if isinstance(r, torch.Tensor) else list(r) for r in (CALLS[name]("jax"), CALLS[name]("cpu")))
    for a, b in zip(ours, theirs, strict=True):
        assert a.device.type == "jax"
        close(a, b)


def test_a_gradient_through_padding_agrees_with_cpu_torch() -> None:
    gradients = []
    for device in ("jax", "cpu"):
        x = jagged(device, requires_grad=True)
        functional.linear(x, WEIGHT.to(device)).to_padded_tensor(0.0).square().sum().backward()
        assert x.grad is not None
        gradients.append(x.grad.values().cpu())
    close(*gradients)


def test_a_deep_copy_is_another_jagged_tensor() -> None:
    x = jagged("jax", requires_grad=True)
    y = copy.deepcopy(x)
    assert type(y) is type(x) and y.requires_grad and y.is_leaf
    with torch.no_grad():
        y.mul_(2)
    close(y.values().cpu(), 2 * x.values().cpu())
    assert x.data_ptr() == jagged("cpu").data_ptr() == 0


@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_of_jagged_tensors_and_its_gradients_are_those_of_each_row(scale: float | None) -> None:
    """Queries of other lengths than keys, one row of which is empty."""
    lengths = [2, 3, 0], [1, 4, 4], [1, 4, 4]
    values = [torch.linspace(-2, 2, sum(rows) * 8).sin().reshape(-1, 2, 4) for rows in lengths]
    theirs = [v.clone().requires_grad_() for v in values]
    rows = zip(*(v.transpose(0, 1).split(n, 1) for v, n in zip(theirs, lengths, strict=True)), strict=True)
    expected = torch.cat([functional.scaled_dot_product_attention(*row, scale=scale) for row in rows], 1)
    ours = [v.to("jax").requires_grad_() for v in values]
    offsets = [torch.tensor([0, *itertools.accumulate(n)], device="jax") for n in lengths[:2]]
    query, key, value = (
        torch.nested.nested_tensor_from_jagged(v, offsets[i > 0]).transpose(1, 2) for i, v in enumerate(ours)
    )
    result = functional.scaled_dot_product_attention(query, key, value, scale=scale)
    assert (result + query).shape == query.shape  # the same rows
    for loss in (expected, result.values()):
        loss.square().sum().backward()
    close(result.values(), expected)
    for a, b in zip(ours, theirs, strict=True):
        close(a.grad, b.grad)


def test_causal_attention_of_jagged_tensors_is_that_of_each_row() -> None:
    values = torch.linspace(-2, 2, 40).sin().reshape(5, 2, 4)
    rows = torch.tensor([0, 2, 5], device="jax")
    x = torch.nested.nested_tensor_from_jagged(values.to("jax"), rows).transpose(1, 2)
    ours = functional.scaled_dot_product_attention(x, x, x, is_causal=True).transpose(1, 2).values()
    parts = [v.transpose(0, 1) for v in values.split([2, 3])]
    theirs = [functional.scaled_dot_product_attention(p, p, p, is_causal=True).transpose(0, 1) for p in parts]
    close(ours, torch.cat(theirs))
    with pytest.raises(ValueError, match="Masks are not yet supported"):
        functional.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(2, 2, device="jax"))


def test_a_strided_nested_tensor_names_the_layout_to_use() -> None:
    with pytest.raises(NotImplementedError, match=r"strided nested tensors.*torch\.jagged"):
        torch.nested.nested_tensor([torch.ones(2, device="jax")], layout=torch.strided)


def test_an_empty_strided_nested_tensor_knows_its_sizes() -> None:
    with pytest.warns(UserWarning, match="prototype"):
        host = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)])
    nested = torch.empty_like(host, device="jax").requires_grad_()
    assert nested._nested_tensor_size().tolist() == [[2, 3], [1, 3]]
    with pytest.raises(NotImplementedError, match=r"strided nested tensors.*torch\.jagged"):
        nested.unbind()
