"""A function takes the place of an operator's lowering, everywhere, until it is removed."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.nn import functional

import tenax
from tenax.aten import overrides
from tenax.export import exported_to_jax
from tenax.interop import t2j
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

aten = torch.ops.aten
_names = (f"tenaxoverride::op{i}" for i in itertools.count())


@pytest.fixture(autouse=True)
def removed() -> Iterator[None]:
    """No override outlives its test."""
    yield
    assert overrides.token == ()


def steep(self: jax.Array) -> jax.Array:
    return jnp.sin(self) + 10 * self


def value_and_gradient(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> Any:
    leaf = x.detach().clone().requires_grad_()
    out = function(leaf)
    out.sum().backward()
    return out.detach(), leaf.grad


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) * 2


def steep_program(x: torch.Tensor) -> torch.Tensor:
    return (torch.sin(x) + 10 * x) * 2


WAYS: dict[str, Callable[..., Any]] = {
    "eager": lambda f: f,
    "tenax.jit": tenax.jit,
    "torch.compile": lambda f: torch.compile(f, backend="tenax"),
}


@pytest.mark.parametrize("way", WAYS)
def test_calls_seen_before_follow_an_override_and_its_end(way: str) -> None:
    x = torch.rand(4)
    on_device, run = x.to("jax"), WAYS[way](lambda x: program(x))

    def agrees(reference: Callable[..., Any]) -> None:
        close(run(on_device), reference(x))
        for ours, theirs in zip(value_and_gradient(run, on_device), value_and_gradient(reference, x), strict=True):
            close(ours, theirs)

    agrees(program)
    with tenax.register_lowering(aten.sin.default, steep, override=True):
        agrees(steep_program)
    agrees(program)
    close(torch.sin(x), x.sin())  # other devices never notice


def test_functions_of_jax_that_were_compiled_follow_an_override() -> None:
    x = np.linspace(0, 1, 4, dtype=np.float32)
    f = jax.jit(t2j(program))
    gradient = jax.jit(jax.grad(lambda x: f(x).sum()))
    plain = f(x), gradient(x)
    with tenax.register_lowering("aten::sin", steep, override=True):
        close(f(x), 2 * np.sin(x) + 20 * x)
        close(gradient(x), 2 * np.cos(x) + 20)
    close((f(x), gradient(x)), plain)


def test_overrides_nest_and_end_in_any_order() -> None:
    x = torch.ones(2, device="jax")
    plain = x.sin()
    step = tenax.jit(lambda x: x.sin())
    outer = tenax.register_lowering(aten.sin, lambda self: self * 2, override=True)
    inner = tenax.register_lowering(torch.sin, lambda self: self * 3, override=True)
    assert inner(2) == 6  # it calls the function
    for f in (torch.sin, torch.Tensor.sin, step):
        close(f(x), x * 3)
    outer.remove()
    for f in (torch.sin, step):
        close(f(x), x * 3)
    inner.remove()
    inner.remove()
    for f in (torch.sin, step):
        close(f(x), plain)


def test_a_gradient_or_a_graph_after_the_end_is_that_of_torch() -> None:
    x = torch.rand(3)
    handle = tenax.register_lowering(
        functional.scaled_dot_product_attention, _attention, static=("dropout_p",), override=True
    )
    q = torch.rand(1, 2, 4, 8)
    with handle:
        close(_attend(q.to("jax")), q * 3)
    for run in (_attend, torch.compile(_attend, backend="tenax")):
        for ours, theirs in zip(value_and_gradient(run, q.to("jax")), value_and_gradient(_attend, q), strict=True):
            close(ours, theirs)
    close(value_and_gradient(torch.sin, x.to("jax"))[1], x.cos())


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, *, scale: Any, enable_gqa: bool
) -> Any:
    assert is_causal
    return query * 3


def _attend(q: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, q, q, is_causal=True)


@pytest.mark.parametrize("way", WAYS)
def test_attention_is_overridden_with_its_gradient(way: str) -> None:
    q = torch.rand(1, 2, 4, 8, device="jax")
    run = WAYS[way](lambda q: _attend(q))
    run(q)
    with tenax.register_lowering(
        functional.scaled_dot_product_attention, _attention, static=("dropout_p",), override=True
    ):
        close(run(q), 3 * q)
        close(value_and_gradient(run, q)[1], torch.full_like(q, 3))
        with torch.inference_mode():
            close(run(q), 3 * q)


def centred(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(-1, keepdim=True)


def _centred_input(input: jax.Array, weight: jax.Array, bias: Any = None) -> jax.Array:
    return input - input.mean(-1, keepdims=True)


UNDER_TRANSFORMS: dict[str, tuple[Any, Callable[..., jax.Array], Callable[[torch.Tensor], torch.Tensor]]] = {
    "composite": (
        aten.softmax.int,
        lambda self, dim, dtype=None: self - self.mean(dim, keepdims=True),
        lambda x: torch.softmax(x, -1),
    ),
    "by element": (
        aten.gelu,
        lambda self, *, approximate="none": self - self.mean(-1, keepdims=True),
        functional.gelu,
    ),
    "before all transforms": (
        aten.linear,
        _centred_input,
        lambda x: functional.linear(x, torch.ones(3, 3, device=x.device)),
    ),
    "perhaps random": (
        aten.scaled_dot_product_attention,
        lambda query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa: (
            query - query.mean(-1, keepdims=True)
        ),
        lambda x: functional.scaled_dot_product_attention(x[None], x[None], x[None])[0],
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("of", ["arrays", "tensors"])
@pytest.mark.parametrize("name", UNDER_TRANSFORMS)
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of torch's vmap on the CPU
def test_an_override_holds_under_the_transforms_of_torch(name: str, of: str) -> None:
    op, function, call = UNDER_TRANSFORMS[name]
    x = torch.arange(12.0, device="jax").reshape(2, 2, 3).sin()
    plain = torch.func.vmap(call)(x.cpu())
    made = (
        tenax.register_lowering(op, function, override=True)
        if of == "arrays"
        else overrides.override_composite(op, lambda x, *_, **__: centred(x))
    )
    with made:
        close(torch.func.vmap(call)(x), centred(x))
        close(torch.func.vmap(torch.func.vmap(lambda x: call(x[None])[0]))(x), centred(x))
        slope = torch.func.vmap(torch.func.grad(lambda x: call(x).square().sum()))
        close(slope(x), 2 * centred(x), COMPOSED)
        over = torch.func.grad(lambda x: torch.func.vmap(call)(x).square().sum())
        close(over(x), 2 * centred(x), COMPOSED)
        close(tenax.jit(torch.func.vmap(call))(x), centred(x))
        close(jax.jit(t2j(torch.func.vmap(call)))(x.jax()), centred(x))
        close(torch.func.vmap(call)(x.cpu()), plain)
    close(torch.func.vmap(call)(x), plain)


def test_an_exported_program_computes_with_an_override() -> None:
    exported = torch.export.export(torch.nn.GELU(), (torch.ones(3),))
    with tenax.register_lowering(aten.gelu, lambda self, *, approximate: self * 7, override=True):
        weights, function = exported_to_jax(exported)
        close(function(weights, jnp.ones(3))[0], np.full(3, 7))


def test_a_lowering_of_a_library_is_overridden_and_comes_back() -> None:
    op = torch.library.custom_op(next(_names), lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    tenax.register_lowering(op, lambda x: x + 1)
    with pytest.raises(RuntimeError, match="override=True"):
        tenax.register_lowering(op, lambda x: x + 2)
    x = torch.ones(2, device="jax")
    for function, expected in ((lambda x: x * 5, 5), (lambda x: x * 6, 6)):
        with tenax.register_lowering(op, function, override=True):
            close(op(x), x * expected)
            value, gradient = value_and_gradient(op, x)
            close((value, gradient), (x * expected, x * expected))
        close(op(x), x + 1)
        close(value_and_gradient(op, x)[1], x)


def test_a_formula_of_torch_stays_if_asked_for() -> None:
    x = torch.rand(3, device="jax")
    with tenax.register_lowering(aten.sin.default, steep, gradient=False, override=True):
        value, gradient = value_and_gradient(torch.sin, x)
        close((value, gradient), (steep(x.jax()), jnp.cos(x.jax())))
    with tenax.register_lowering(aten.softmax.int, lambda self, dim, dtype: self * 2, gradient=False, override=True):
        close(x.softmax(0), x * 2)
        with pytest.raises(NotImplementedError, match="no derivative"):
            x.clone().requires_grad_().softmax(0)


def test_an_operator_in_place_is_overridden() -> None:
    x = torch.ones(3, device="jax")
    with tenax.register_lowering(aten.sin_, lambda self: self * 4, override=True):
        y = x.clone()
        version = y._version
        assert y.sin_() is y
        close(y, x * 4)
        assert y._version > version
        with pytest.raises(NotImplementedError, match="no derivative"):
            y.clone().requires_grad_().mul(1).sin_()
    close(x.clone().sin_(), x.sin())


@pytest.mark.parametrize(
    ("op", "error", "match"),
    [
        (aten.view.default, NotImplementedError, "makes or views memory"),
        (aten.empty.memory_format, NotImplementedError, "makes or views memory"),
        (aten.transpose.int, NotImplementedError, "makes a view"),
        (functional.softmax, TypeError, "implemented in C"),
        (3, TypeError, "is not an operator"),
        ("aten::nothing", ValueError, "torch has no operator"),
    ],
)
def test_what_cannot_be_overridden_raises(op: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        tenax.register_lowering(op, lambda *args, **kwargs: args[0], override=True)


def test_a_function_that_does_not_fit_changes_nothing() -> None:
    x = torch.ones(2, device="jax")
    plain = x.add(1)
    with pytest.raises(TypeError, match=r"aten::add\.Tensor"):
        tenax.register_lowering(aten.add, lambda self: self, override=True)
    with tenax.register_lowering(aten.sin, lambda self: jnp.zeros(5), override=True), pytest.raises(RuntimeError):
        x.sin()
    close((x.add(1), x.sin()), (plain, np.sin(np.ones(2, np.float32))))


def test_other_threads_follow_an_override() -> None:
    x = torch.ones(2, device="jax")
    seen: list[Any] = []
    with tenax.register_lowering(aten.cos, lambda self: self * 9, override=True):
        thread = threading.Thread(target=lambda: seen.append(tenax.jit(torch.cos)(x)))
        thread.start()
        thread.join()
    close(seen[0], x * 9)
