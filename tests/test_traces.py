"""What the trace of a program holds: operations are traced once, without the jitted functions of JAX within."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import pytest
import torch

import tenax
import tenax.kernels
from tenax.lift.jitted import compiled_of


def primitives(jaxpr: Any) -> Iterator[str]:
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda x: hasattr(x, "eqns")):
            if hasattr(inner, "eqns"):
                yield from primitives(inner)


def traced(function: Callable[..., Any], *args: torch.Tensor) -> Counter[str]:
    """The primitives of the program that `tenax.jit` makes of a call."""
    compiled = tenax.jit(function)
    with torch.no_grad():
        compiled(*args)
    (programs,) = compiled_of(compiled).programs.values()
    return Counter(primitives(programs[0].jaxpr))


def test_an_operation_is_one_jit_without_others_in_it():
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, x.floor_divide(y), x.clamp(-1, 1))

    x = torch.randn(3, 4, device="jax")
    assert traced(function, x, x + 1)["jit"] == 4


def test_a_sum_with_alpha_1_is_one_addition():
    x = torch.randn(3, device="jax")
    assert traced(lambda x: x + x, x) == {"jit": 1, "add": 1}


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (torch.nn.LSTM(3, 4).to("jax"), (50, 2, 3)),
        (torch.linalg.matrix_exp, (3, 3)),
        (lambda x: torch.bucketize(x, x[0]), (3, 1000)),
    ],
)
def test_loops_stay_loops(function: Callable[..., Any], shape: tuple[int, ...]):
    found = traced(function, torch.randn(shape, device="jax"))
    assert found["scan"] + found["while"] > 0
    assert found.total() < 500


def test_loops_of_the_user_stay_loops():
    def scanned(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda carry, x: (carry + x, carry), jax.numpy.zeros((), x.dtype), x)[1]

    with torch.library._scoped_library("tenax_tests", "FRAGMENT") as library:
        library.define("scanned(Tensor x) -> Tensor")
        tenax.register_lowering("tenax_tests::scanned", scanned)
        x = torch.randn(1000, device="jax")
        for function in (torch.ops.tenax_tests.scanned, lambda x: tenax.call_jax(scanned, x)):
            found = traced(function, x)
            assert found["scan"] == 1
            assert found.total() < 500


def test_kernels_loop_by_the_functions_that_stay_loops():
    unrolled = re.compile(r"\b(lax|jnp|jax\.scipy\.linalg)\.(scan|fori_loop|map|associative_scan|searchsorted|expm)\(")
    for path in Path(next(iter(tenax.kernels.__path__))).glob("*.py"):
        assert not unrolled.search(path.read_text()), path
