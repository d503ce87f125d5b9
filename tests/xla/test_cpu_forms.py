"""Products and loops in the forms that XLA's CPU backend executes faster give the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tenax.xla.cpu_forms import rewrite
from tenax.xla.lowering import compile_lowered
from tests.helpers.agreement import close

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA's CPU backend")


def _array(*shape: int, dtype: Any = np.float32) -> jax.Array:
    return jnp.asarray(np.random.default_rng(0).standard_normal(shape).astype(dtype))


def _contraction(count: int, batch: int = 0) -> Callable[[jax.Array, jax.Array], jax.Array]:
    axes, along = tuple(range(batch, batch + count)), tuple(range(batch))
    return lambda x, y: lax.dot_general(x, y, ((axes, axes), (along, along)))


@pytest.mark.parametrize(
    ("contracted", "batch", "left", "right"),
    [
        (1, 0, (256, 64), (256, 8)),
        (1, 0, (256, 64), (256,)),
        (2, 0, (16, 16, 64), (16, 16, 8)),
        (1, 0, (256, 8, 16), (256, 4, 2)),
        (1, 1, (3, 64, 32), (3, 64, 8)),
        (2, 2, (2, 3, 8, 8, 32), (2, 3, 8, 8, 8)),
    ],
    ids=str,
)
def test_wide_left_operands_are_swapped(
    contracted: int, batch: int, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    product = jax.jit(_contraction(contracted, batch))
    x, y = _array(*left), _array(*right)
    lowered = product.lower(x, y)
    assert rewrite(lowered)
    assert "optimization_barrier" in lowered.as_text()
    again = jax.jit(_contraction(contracted, batch)).lower(x, y)
    close(compile_lowered(again, None)(x, y), product(x, y))


@pytest.mark.parametrize(
    ("left", "right", "dtype", "axis"),
    [
        ((256, 8), (256, 64), np.float32, 0),  # narrower already
        ((4, 512), (4, 128), np.float32, 0),  # transposing the result would take longer than the product
        ((256, 64), (256, 8), np.int32, 0),
        ((64, 256), (8, 256), np.float32, 1),
    ],
    ids=["narrow", "short", "integers", "last axes"],
)
def test_other_products_stay(left: tuple[int, ...], right: tuple[int, ...], dtype: Any, axis: int) -> None:
    lowered = jax.jit(lambda x, y: lax.dot_general(x, y, (((axis,), (axis,)), ((), ())))).lower(
        _array(*left, dtype=dtype), _array(*right, dtype=dtype)
    )
    before = lowered.as_text()
    assert not rewrite(lowered)
    assert lowered.as_text() == before


@pytest.mark.parametrize(("width", "changes"), [(64, True), (4, False)], ids=["large slices", "small slices"])
def test_slices_that_a_step_reads_are_copied(width: int, changes: bool) -> None:
    def run(x: jax.Array, each: jax.Array) -> Any:
        return lax.scan(lambda state, here: (jnp.tanh(state + here),) * 2, x, each)

    x, each = _array(64, width), _array(5, 64, width)
    lowered = jax.jit(run).lower(x, each)
    assert rewrite(lowered) is changes
    again = jax.jit(lambda *a: run(*a)).lower(x, each)
    close(compile_lowered(again, None)(x, each), jax.jit(run)(x, each))
