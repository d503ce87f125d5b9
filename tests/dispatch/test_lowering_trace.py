"""What the trace of a program holds: operations are traced once, without the jitted functions of JAX within."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import pytest
import torch
from jax.extend.core import Jaxpr

import tenax
import tenax.kernels
from tests.helpers.traced import equations, jaxpr_of


def traced(function: Callable[..., Any], *args: torch.Tensor) -> Jaxpr:
    """The jaxpr of the program that `tenax.jit` makes of a call."""
    compiled = tenax.jit(function)
    with torch.no_grad():
        compiled(*args)
    return jaxpr_of(compiled)


def primitives(jaxpr: Jaxpr) -> Counter[str]:
    return Counter(equation.primitive.name for equation in equations(jaxpr))


def test_an_operation_is_one_jit_without_others_in_it():
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, x.floor_divide(y), x.clamp(-1, 1))

    x = torch.randn(3, 4, device="jax")
    calls = traced(function, x, x + 1).eqns
    assert [call.params["name"] for call in calls] == ["gt.Scalar", "floor_divide", "clamp", "where.self"]
    assert not any("jit" in primitives(call.params["jaxpr"].jaxpr) for call in calls)


def test_a_sum_with_alpha_1_is_one_addition():
    x = torch.randn(3, device="jax")
    assert primitives(traced(lambda x: x + x, x)) == {"jit": 1, "add": 1}


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (torch.nn.LSTM(3, 4).to("jax"), [(50, 2, 3), (80, 2, 3)]),
        (torch.linalg.matrix_exp, [(3, 3), (5, 5)]),
        (lambda x: torch.bucketize(x, x[0]), [(3, 1000), (3, 3000)]),
    ],
    ids=["lstm", "matrix_exp", "bucketize"],
)
def test_loops_stay_loops(function: Callable[..., Any], shapes: list[tuple[int, ...]]):
    short, long = (primitives(traced(function, torch.randn(shape, device="jax"))) for shape in shapes)
    assert short["scan"] + short["while"] > 0
    assert short == long


def test_loops_of_the_user_stay_loops():
    def scanned(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda carry, x: (carry + x, carry), jax.numpy.zeros((), x.dtype), x)[1]

    with torch.library._scoped_library("tenax_tests", "FRAGMENT") as library:
        library.define("scanned(Tensor x) -> Tensor")
        tenax.register_lowering("tenax_tests::scanned", scanned)
        for function in (torch.ops.tenax_tests.scanned, lambda x: tenax.call_jax(scanned, x)):
            short, long = (primitives(traced(function, torch.randn(n, device="jax"))) for n in (10, 1000))
            assert short == long and long["scan"] == 1


# JAX unrolls these where `jit` is off, as it is while a lowering is traced: tenax.kernels.loops has others.
UNROLLED = {
    f"{module}.{name}"
    for module in ("lax", "jax.lax", "jnp", "jax.numpy", "jax.scipy.linalg")
    for name in ("scan", "fori_loop", "map", "associative_scan", "searchsorted", "expm")
}


def test_kernels_loop_by_the_functions_that_stay_loops():
    for path in Path(next(iter(tenax.kernels.__path__))).glob("*.py"):
        tree = ast.parse(path.read_text())
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not called & UNROLLED, path
