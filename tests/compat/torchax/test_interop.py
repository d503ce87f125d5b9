"""What torchax's programs do with JAX functions of torch functions, and with operators that they define anew."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.nn import functional

import tenax
import tenax.compat.torchax as torchax
from tenax.aten import overrides
from tenax.compat.torchax.interop import (
    call_jax,
    jax_jit,
    jax_value_and_grad,
    jax_view,
    jax_view_elem,
    torch_view,
    torch_view_elem,
)
from tenax.compat.torchax.ops import jaten, jlibrary, jtorch, mappings, op_base, ops_registry
from tests.helpers.agreement import close
from tests.helpers.processes import run


@pytest.fixture(autouse=True)
def promotion() -> Iterator[None]:
    """These programs are written for JAX's usual promotion. No override outlives its test."""
    with jax.numpy_dtype_promotion("standard"):
        yield
    assert overrides.token == ()


@pytest.fixture
def x() -> torch.Tensor:
    return torch.arange(4.0, device="jax")


# Torch functions passed to JAX functions


def test_control_flow_of_jax_takes_torch_functions(x: torch.Tensor) -> None:
    scale = torch.full((), 3.0, device="jax")
    total, seen = torch_view(jax.lax.scan)(lambda c, e: (c + e * scale, c), torch.zeros((), device="jax"), x)
    close((total, seen), (18.0, np.array([0, 0, 3, 9])))
    cond = torch_view(jax.lax.cond)
    close(cond(x.sum() > 3, torch.sin, torch.cos, x), x.sin())
    close(cond(x.sum() > 9, lambda t: {"y": t[0] * 2}, lambda t: {"y": t[0] * 3}, (x,))["y"], x * 3)
    close(torch_view(jax.lax.while_loop)(lambda c: c.sum() < 100, lambda c: c * 2, x), x * 32)
    close(torch_view(jax.lax.map)(lambda e: e.view(1).expand(2), x), torch.stack([x, x], 1))
    close(torchax.interop.fori_loop(0, 3, lambda i, c: c + x.sum() * i, torch.zeros((), device="jax")), 18)


def test_transformations_of_jax_take_and_give_torch_functions(x: torch.Tensor) -> None:
    close(torch_view(jax.vmap)(lambda row: row.cumsum(0)[-1])(torch.stack([x, x])), x.sum().expand(2))
    close(torch_view(jax.grad)(lambda x: (x**3).sum())(x), 3 * x**2)
    close(torch_view(jax.jit)(functional.softmax, static_argnames=["dim"])(x, dim=0), functional.softmax(x, 0))
    close(torch_view(jax.jacfwd)(torch.sin)(x), torch.diag(x.cos()))
    mesh = jax.make_mesh((2,), ("i",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    mapped = torch_view(jax.shard_map)(lambda x: x - x.mean(), mesh=mesh, in_specs=spec, out_specs=spec)
    close(mapped(x), np.array([-0.5, 0.5, -0.5, 0.5]))


def test_a_torch_function_is_a_static_argument_that_compiles_once(x: torch.Tensor) -> None:
    runs = []

    def body(e: torch.Tensor) -> torch.Tensor:
        runs.append(e)
        return e * 2

    jitted = torch_view(jax.jit(lambda f, x: f(x), static_argnums=0))
    for _ in range(3):
        close(jitted(body, x), x * 2)
    assert len(runs) == 1


def test_a_view_of_a_function_follows_the_modes_of_torch() -> None:
    shape = jax.ShapeDtypeStruct((2, 2), np.float32)
    dtypes = []
    for enabled in (False, True, False):
        with torch.autocast("jax", torch.bfloat16, enabled=enabled):
            dtypes.append(jax.jit(jax_view(torch.matmul)).lower(shape, shape).out_info.dtype)
    assert dtypes == [np.float32, jnp.bfloat16, np.float32]


def test_a_first_trace_follows_autocast() -> None:
    program = """
import jax, torch
import tenax.compat.torchax as torchax
shape = jax.ShapeDtypeStruct((2, 2), "float32")
with torch.autocast("jax", torch.bfloat16):
    print(jax.jit(torchax.interop.jax_view(torch.matmul)).lower(shape, shape).out_info.dtype)
"""
    assert run(program).stdout == "bfloat16\n"


def test_a_scan_is_differentiated_by_torch_and_by_jax(x: torch.Tensor) -> None:
    scan = torch_view(jax.lax.scan)

    def total(x: torch.Tensor) -> torch.Tensor:
        return scan(lambda c, e: (c + e * e, None), torch.zeros((), device="jax"), x)[0]

    leaf = x.clone().requires_grad_()
    total(leaf).backward()
    close(leaf.grad, 2 * x)
    close(jax_value_and_grad(total)(x)[1], 2 * x)
    closed_over = jax_value_and_grad(lambda w: scan(lambda c, e: (c + e * w, None), w * 0, x)[0])
    close(closed_over(torch.ones((), device="jax")), (6.0, 6.0))
    close(tenax.jit(total)(x), (x * x).sum())


def test_views_convert_the_leaves_of_trees(x: torch.Tensor) -> None:
    arrays = jax_view({"dtype": torch.bfloat16, "x": x, "f": torch.sin, "n": 3, "s": "text", "none": None})
    assert (arrays["dtype"], arrays["n"], arrays["s"], arrays["none"]) == (jnp.bfloat16, 3, "text", None)
    close(arrays["f"](arrays["x"]), np.sin(np.arange(4)))
    tensors = torch_view({"dtype": jnp.dtype("int32"), "x": x.jax(), "f": jnp.sin, "n": 3, "s": "text", "none": None})
    assert (tensors["dtype"], tensors["n"], tensors["s"], tensors["none"]) == (torch.int32, 3, "text", None)
    close(tensors["f"](tensors["x"]), x.sin())
    assert torch_view(jax_view([torch.sin, torch.float64])) == [torch.sin, torch.float64]
    assert jax_view_elem(torch_view_elem(jnp.cos)) is jnp.cos
    assert isinstance(torch_view_elem(x.jax()), torch.Tensor)


def test_an_array_of_a_traced_tensor_keeps_the_derivative_of_jax() -> None:
    loss = jax.grad(tenax.interop.t2j(lambda w: torch_view(jnp.sin(jax_view(w))).sum()))
    close(loss(jnp.ones(3)), np.full(3, np.cos(1)))


# call_jax


def test_call_jax_runs_a_function_as_it_stands(x: torch.Tensor) -> None:
    def sign(a: jax.Array, words: dict[str, str]) -> Any:
        return words["positive"] if a.sum() > 0 else words["negative"]

    words = {"positive": "up", "negative": "down"}
    assert call_jax(sign, x, words) == "up"
    assert call_jax(sign, -x, words=words) == "down"
    assert call_jax(lambda a: (a.shape, a, [len(a)]), x)[0] == (4,)
    assert call_jax(lambda: "nothing") == "nothing"
    assert call_jax(lambda a: a + 1.0, x.double()).dtype == torch.float64
    assert call_jax(lambda a: jnp.zeros(2), x).dtype == torch.float32


def test_call_jax_says_why_it_traces_a_function(x: torch.Tensor) -> None:
    leaf = x.clone().requires_grad_()
    for function in (lambda a: a if a.sum() > 0 else -a, lambda a: "text"):
        with pytest.raises((TypeError, jax.errors.ConcretizationTypeError)) as caught:
            call_jax(function, leaf)
        assert any("torch records a gradient" in note for note in caught.value.__notes__)
    with torch.no_grad():
        close(call_jax(lambda a: a if a.sum() > 0 else -a, leaf), x)


def test_call_jax_is_differentiated_in_every_way(x: torch.Tensor) -> None:
    leaf = x.clone().requires_grad_()
    call_jax(jnp.sin, leaf).sum().backward()
    close(leaf.grad, x.cos())
    close(torch.func.grad(lambda x: call_jax(jnp.sin, x).sum())(x), x.cos())
    close(torch.func.vmap(lambda x: call_jax(jnp.cumsum, x))(torch.stack([x, x]))[1], x.cumsum(0))
    close(torch.func.jvp(lambda x: call_jax(jnp.sin, x), (x,), (torch.ones_like(x),))[1], x.cos())
    close(torch.compile(lambda x: call_jax(jnp.sin, x) + 1, backend="tenax", fullgraph=True)(x), x.sin() + 1)
    close(tenax.jit(lambda x: call_jax(jnp.sin, x) + 1)(x), x.sin() + 1)


def test_a_negative_zero_is_another_static_value() -> None:
    x = torch.ones((), device="jax")
    call = tenax.call_jax

    def signed(x: jax.Array, sign: float) -> jax.Array:
        return x * math.copysign(1.0, sign)

    def imaginary(x: jax.Array, number: complex) -> jax.Array:
        return x * math.copysign(1.0, number.imag)

    assert [call(signed, x, s).item() for s in (0.0, -0.0, 0.0, np.float32(-0.0))] == [1, -1, 1, -1]
    assert [call(imaginary, x, c).item() for c in (0j, complex(0, -0.0))] == [1, -1]
    runs = []

    def not_a_number(x: jax.Array, n: float) -> jax.Array:
        runs.append(n)
        return x * n

    counts = []
    for _ in range(2):
        tenax.call_jax(not_a_number, x, float("nan"))
        counts.append(len(runs))
    assert counts[0] == counts[1]


# Operators


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, **_: Any
) -> torch.Tensor:
    q, k, v = jax_view((query, key, value))
    return torch_view(jnp.sin(q) * k + v * (2.0 if is_causal else 3.0))


def test_attention_in_jax_takes_the_place_of_that_of_torch() -> None:
    q = torch.rand(1, 2, 4, 8)
    expected, leaf = torch.sin(q) * q + 2 * q, q.clone().requires_grad_()
    (torch.sin(leaf) * leaf + 2 * leaf).sum().backward()

    def attend(q: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(q, q, q, is_causal=True)

    before = attend(q)
    ways = [attend, tenax.jit(attend), torch.compile(attend, backend="tenax"), jax_jit(attend)]
    on_device = q.to("jax")
    for way in ways:
        close(way(on_device), before)
    env = torchax.default_env()
    for op in (functional.scaled_dot_product_attention, torch.ops.aten.scaled_dot_product_attention):
        override = env.override_op_definition(op, attention)
        for way in ways:
            close(way(on_device), expected)
        for way in ways[:3]:
            x = on_device.clone().requires_grad_()
            way(x).sum().backward()
            close(x.grad, leaf.grad)
        for gradient in (jax_value_and_grad(lambda q: attend(q).sum()), jax_jit(jax_value_and_grad(_summed(attend)))):
            close(gradient(on_device)[1], leaf.grad)
        close(attend(q), before)  # the CPU's
        override.remove()
        for way in ways:
            close(way(on_device), before)


def _summed(function: Any) -> Any:
    return lambda q: function(q).sum()


def test_an_override_of_tensors_may_draw_and_branch(x: torch.Tensor) -> None:
    def odd(x: torch.Tensor) -> torch.Tensor:
        return torch.rand_like(x) + 10 if x.sum() > 0 else x

    with torchax.default_env().override_op_definition(torch.ops.aten.sin.default, odd):
        assert (torch.sin(x) >= 10).all()
        assert torch.equal(torch.sin(-x), -x)


def test_the_words_of_the_registry_register() -> None:
    x = torch.ones(3, device="jax")

    @jaten.op(torch.ops.aten.sin, torch.ops.aten.cos.default)
    def five(x: jax.Array) -> jax.Array:
        return 5 * x

    @jtorch.register_function(torch.nn.functional.gelu)
    def gelu(x: jax.Array, approximate: str = "none") -> jax.Array:
        return x * (2 if approximate == "none" else 4)

    @op_base.register_function(torch.exp, is_jax_function=False, needs_env=True)
    def exp(x: torch.Tensor, env: Any) -> torch.Tensor:
        assert env is torchax.default_env()
        return x * 7

    try:
        leaf = x.clone().requires_grad_()
        (leaf.sin() + leaf.cos()).sum().backward()
        close(leaf.grad, 10 * x)
        close((functional.gelu(x), functional.gelu(x, approximate="tanh"), x.exp()), (2 * x, 4 * x, 7 * x))
        assert ops_registry.all_aten_jax_ops[torch.ops.aten.sin].func is five
        ops_registry.register_torch_dispatch_op(torch.ops.aten.sin, lambda x: 6 * x)
        close(x.sin(), 6 * x)
        with pytest.raises(TypeError, match="is not an operator"):
            jtorch.register_function(functional.softmax)(five)
        env = torchax.default_env()
        before = env._ops[torch.ops.aten.sin]
        env._ops[torch.ops.aten.sin] = ops_registry.Operator(
            torch.ops.aten.sin, lambda x: x * 8, is_jax_function=False, is_user_defined=True, needs_env=False
        )
        close(x.sin(), 8 * x)
        env._ops[torch.ops.aten.sin] = before
        close(x.sin(), 6 * x)
        del env._ops[torch.exp]
        close(x.exp(), np.exp(np.ones(3, np.float32)))
    finally:
        ops_registry.all_aten_ops.clear()
    close(x.sin(), np.sin(np.ones(3, np.float32)))


def test_an_operator_is_a_named_function_of_an_exported_program() -> None:
    library = torch.library.Library("tenaxcompat", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
    torch.library.register_fake("tenaxcompat::twice", torch.empty_like, lib=library)
    jlibrary.register_torch_composite("mine.twice", lambda x: x.sin() + x, torch.ops.tenaxcompat.twice)
    jlibrary.register_jax_composite("mine.sin", lambda x: x * 3, torch.ops.aten.sin)
    try:

        class Program(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.ops.tenaxcompat.twice(x) + 1

        program = torch.export.export(Program(), (torch.ones(3),))
        _, stablehlo = torchax.export.exported_program_to_stablehlo(program)
        assert "@mine.twice" in stablehlo.mlir_module()
        close(torch.ops.tenaxcompat.twice(torch.ones(3, device="jax")), np.full(3, 4))
    finally:
        ops_registry.all_aten_ops.clear()


def test_mappings_convert_single_values(x: torch.Tensor) -> None:
    assert mappings.j2t_dtype(jnp.bfloat16) == torch.bfloat16
    assert mappings.t2j_dtype(torch.int32) == mappings.TORCH_DTYPE_TO_JAX[torch.int32] == np.int32
    assert mappings.j2t(mappings.t2j(x.cpu())).device.type == "cpu"
