"""Jaxprs with symbolic sizes on padded arrays, whose rest must not reach the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

from tenax._jax import size_with
from tenax.padded.evaluation import evaluate
from tenax.padded.sizes import NotPaddableError, Sizes
from tenax.padded.symbols import pattern, rounded, values_of
from tests.helpers.agreement import close
from tests.helpers.tolerances import SUMMED

RANDOM = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(limit: int, *shape: int) -> np.ndarray:
    return RANDOM.integers(0, limit, shape).astype(np.int32)


def padded(x: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """`x` in a larger array, of which the rest would spoil any result that it enters."""
    rest = np.nan if x.dtype.kind == "f" else True if x.dtype == bool else 1 << 30
    larger = np.full(shape, rest, x.dtype)
    larger[tuple(map(slice, x.shape))] = x
    return larger


def evaluated(function: Callable[..., Any], arrays: Sequence[np.ndarray], shapes: str, true: dict[str, int]) -> Any:
    """The true parts of the results of a function of padded arrays, whose shapes are written with symbols."""
    names = ", ".join(true)
    scope = export.SymbolicScope([f"{name} >= 2" for name in true])
    export.symbolic_shape(names, scope=scope)
    symbolic = [export.symbolic_shape(shape, scope=scope) for shape in shapes.split(";")]
    structs = [jax.ShapeDtypeStruct(shape, x.dtype) for shape, x in zip(symbolic, arrays, strict=True)]
    with jax.disable_jit():
        closed = jax.make_jaxpr(lambda *operands: tuple(jax.tree.leaves(function(*operands))))(*structs)
    sizes = {name: rounded(n) for name, n in true.items()}

    def of(shape: Sequence[Any], values: dict[str, int]) -> tuple[int, ...]:
        return tuple(n if isinstance(n, int) else int(size_with(n, values)) for n in shape)

    larger = [padded(x, of(shape, sizes)) for x, shape in zip(arrays, symbolic, strict=True)]

    @jax.jit
    def run(known: Any, *operands: Any) -> Any:
        return evaluate(Sizes(sizes, dict(zip(true, known, strict=True))), closed, operands)

    results = run([np.int64(n) for n in true.values()], *larger)
    return [
        np.asarray(r)[tuple(map(slice, of(v.aval.shape, true)))]
        for r, v in zip(results, closed.jaxpr.outvars, strict=True)
    ]


CASES: dict[str, tuple[Callable[..., Any], str, Callable[[int, int], Sequence[np.ndarray]]]] = {
    "elementwise": (lambda x, y: jnp.tanh(x) * y + 2, "n, 3; n, 3", lambda n, m: (numbers(n, 3), numbers(n, 3))),
    "broadcast": (lambda x, y: x + y, "n, 3; 3", lambda n, m: (numbers(n, 3), numbers(3))),
    "outer": (lambda x, y: x[:, None] * y, "n; m", lambda n, m: (numbers(n), numbers(m))),
    "size": (lambda x: x * x.shape[0] + x.size, "n, 3", lambda n, m: (numbers(n, 3),)),
    "mean": (jnp.mean, "n, m", lambda n, m: (numbers(n, m),)),
    "sum of one axis": (lambda x: x.sum(1), "n, m", lambda n, m: (numbers(n, m),)),
    "variance": (lambda x: jnp.var(x, 0), "n, 3", lambda n, m: (numbers(n, 3),)),
    "largest": (lambda x: (x.max(0), x.min(1), x.max()), "n, m", lambda n, m: (numbers(n, m) - 9,)),
    "largest integer": (lambda x: (x.max(0), x.min()), "n, m", lambda n, m: (integers(9, n, m) - 20,)),
    "product": (lambda x: jnp.prod(x, 0), "n, 3", lambda n, m: (numbers(n, 3),)),
    "all and any": (lambda x: ((x > -9).all(), (x > 9).any(0)), "n, 3", lambda n, m: (numbers(n, 3),)),
    "bits": (
        lambda x: (lax.reduce_and(x, (0,)), lax.reduce_or(x, (0,)), lax.reduce_xor(x, (0,))),
        "n, 3",
        lambda n, m: (integers(8, n, 3),),
    ),
    "argmax": (lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1)), "n, m", lambda n, m: (numbers(n, m),)),
    "softmax": (lambda x: (jax.nn.softmax(x, 0), jax.nn.logsumexp(x, 1)), "n, m", lambda n, m: (numbers(n, m),)),
    "matmul": (lambda x, y: (x @ y, x.T @ x), "n, m; m, 3", lambda n, m: (numbers(n, m), numbers(m, 3))),
    "batches of products": (
        lambda x, y: jnp.einsum("bij,bkj->bik", x, y),
        "n, 2, m; n, m, m",
        lambda n, m: (numbers(n, 2, m), numbers(n, m, m)),
    ),
    "convolution": (
        lambda x, w: lax.conv(x, w, (1, 1), "SAME"),
        "n, 2, 5, 5; 3, 2, 3, 3",
        lambda n, m: (numbers(n, 2, 5, 5), numbers(3, 2, 3, 3)),
    ),
    "gradient of a weight": (
        lambda x, w: jax.grad(lambda w: jnp.sum(lax.conv(x, w, (1, 1), "SAME") ** 2))(w),
        "n, 2, 5, 5; 3, 2, 3, 3",
        lambda n, m: (numbers(n, 2, 5, 5), numbers(3, 2, 3, 3)),
    ),
    "windows": (
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2), "VALID"),
        "n, 6",
        lambda n, m: (numbers(n, 6),),
    ),
    "transpose": (lambda x: x.transpose(1, 2, 0), "n, m, 3", lambda n, m: (numbers(n, m, 3),)),
    "merged axes": (lambda x: x.reshape(-1), "n, 3", lambda n, m: (numbers(n, 3),)),
    "split axes": (lambda x: x.reshape(-1, 3).reshape(-1, 3, 1), "3*n", lambda n, m: (numbers(3 * n),)),
    "merged beside": (lambda x: x.reshape(x.shape[0], 6), "n, 2, 3", lambda n, m: (numbers(n, 2, 3),)),
    "units": (lambda x: x.reshape(1, -1, 1, 3).squeeze(0)[..., None], "n, 3", lambda n, m: (numbers(n, 3),)),
    "concatenation": (
        lambda x, y: jnp.concatenate([x, y, x]),
        "n, 3; m, 3",
        lambda n, m: (numbers(n, 3), numbers(m, 3)),
    ),
    "concatenation beside": (
        lambda x, y: jnp.concatenate([x, y], 1),
        "n, 3; n, 2",
        lambda n, m: (numbers(n, 3), numbers(n, 2)),
    ),
    "sum of a concatenation": (
        lambda x, y: jnp.concatenate([x, y]).sum(0),
        "n, 3; m, 3",
        lambda n, m: (numbers(n, 3), numbers(m, 3)),
    ),
    "a slice anywhere": (
        lambda x, y, i: lax.gather(x, i, lax.GatherDimensionNumbers((0,), (), (0,)), y.shape, mode="promise_in_bounds"),
        "n + m; m; 1",
        lambda n, m: (numbers(n + m), numbers(m), np.array([n], np.int32)),
    ),
    "every other": (lambda x: x[::2], "2*n", lambda n, m: (numbers(2 * n),)),
    "stack": (lambda x, y: jnp.stack([x, y], 1), "n, 3; n, 3", lambda n, m: (numbers(n, 3), numbers(n, 3))),
    "split": (lambda x: jnp.split(x, 2, 1), "n, 4", lambda n, m: (numbers(n, 4),)),
    "differences": (lambda x: x[1:] - x[:-1], "n, 3", lambda n, m: (numbers(n, 3),)),
    "slice": (lambda x: lax.slice(x, (1, 0), (x.shape[0] - 1, 2), (1, 2)).sum(), "n, 3", lambda n, m: (numbers(n, 3),)),
    "moving slices": (
        lambda x, y: (lax.dynamic_slice(x, (y.shape[0], 1), (2, 2)), lax.dynamic_slice(x, (1, 9), (x.shape[0] - 1, 1))),
        "n, 3; m",
        lambda n, m: (numbers(n, 3), numbers(m)),
    ),
    "written slices": (
        lambda x, y: (
            lax.dynamic_update_slice(x, y, (1, 0)).sum(0),
            lax.dynamic_update_slice(x, y[:2], (np.int32(9), np.int32(0))),
        ),
        "m + n, 3; m, 3",
        lambda n, m: (numbers(n + m, 3), numbers(m, 3)),
    ),
    "padding": (lambda x: jnp.pad(x, ((1, 2), (0, 1))), "n, 3", lambda n, m: (numbers(n, 3),)),
    "scans": (
        lambda x: (jnp.cumsum(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x)),
        "n, m",
        lambda n, m: (numbers(n, m),),
    ),
    "scans from the end": (
        lambda x: (lax.cumsum(x, reverse=True), lax.cumprod(x, reverse=True), lax.cummin(x, reverse=True)),
        "n, 3",
        lambda n, m: (numbers(n, 3),),
    ),
    "reversed": (lambda x: (x[::-1], x[:, ::-1].sum(1)), "n, m", lambda n, m: (numbers(n, m),)),
    "sort": (lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1), jnp.sort(-x)), "n, m", lambda n, m: (numbers(n, m),)),
    "all merged": (lambda x: x.reshape(-1).sum(), "n, m", lambda n, m: (numbers(n, m),)),
    "merged after a transpose": (lambda x: x.T.reshape(-1), "n, m", lambda n, m: (numbers(n, m),)),
    "merged with a symbol": (lambda x: x.reshape(2, -1, 3).sum(0), "2, m, n, 3", lambda n, m: (numbers(2, m, n, 3),)),
    "padding by symbols": (
        lambda x, y: (jnp.pad(x, ((y.shape[0], x.shape[0]), (1, 0)), constant_values=3), y),
        "n, 3; m",
        lambda n, m: (numbers(n, 3), numbers(m)),
    ),
    "sort beside": (lambda x: (jnp.sort(x, 1), jnp.argsort(x, 1)), "n, 4", lambda n, m: (numbers(n, 4),)),
    "largest of a row": (lambda x: lax.top_k(x, 2), "n, 4", lambda n, m: (numbers(n, 4),)),
    "triangle": (lambda x: (jnp.tril(x), jnp.triu(x, 1)), "n, n", lambda n, m: (numbers(n, n),)),
    "rows": (lambda x, i: x[i], "n, 3; m", lambda n, m: (numbers(n, 3), integers(n, m))),
    "rows from the end": (lambda x, i: x[-1 - i], "n, 3; m", lambda n, m: (numbers(n, 3), integers(n, m))),
    "clipped rows": (
        lambda x, i: jnp.take(x, i, 0, mode="clip"),
        "n, 3; m",
        lambda n, m: (numbers(n, 3), integers(2 * n, m)),
    ),
    "rows or zero": (
        lambda x, i: jnp.take(x, i, 0, mode="fill", fill_value=0),
        "n, 3; m",
        lambda n, m: (numbers(n, 3), integers(2 * n, m)),
    ),
    "along an axis": (
        lambda x, i: jnp.take_along_axis(x, i, 1),
        "n, 4; n, m",
        lambda n, m: (numbers(n, 4), integers(4, n, m)),
    ),
    "embedding": (lambda x, i: x[i], "5, 3; n, m", lambda n, m: (numbers(5, 3), integers(5, n, m))),
    "scattered sum": (
        lambda x, i, y: x.at[i].add(y),
        "n, 3; m; m, 3",
        lambda n, m: (numbers(n, 3), integers(n, m), numbers(m, 3)),
    ),
    "scattered sum into fixed": (
        lambda x, i, y: x.at[i].add(y),
        "5, 3; m; m, 3",
        lambda n, m: (numbers(5, 3), integers(5, m), numbers(m, 3)),
    ),
    "scattered rows": (
        lambda x, i, y: x.at[i].max(y),
        "n, 3; m; m, 3",
        lambda n, m: (numbers(n, 3), integers(n, m), numbers(m, 3)),
    ),
    "one of a row": (
        lambda x, i: x.at[jnp.arange(x.shape[0]), i].set(0.0),
        "n, 4; n",
        lambda n, m: (numbers(n, 4), integers(4, n)),
    ),
    "condition": (lambda x: lax.cond(True, lambda: 1.0, lambda: 2.0) * x, "n", lambda n, m: (numbers(n),)),
    "custom derivative": (lambda x: jax.nn.relu(x) + jax.nn.silu(x), "n", lambda n, m: (numbers(n),)),
    "types": (
        lambda x: (x.astype(np.int32), x > 0, lax.bitcast_convert_type(x, np.uint32)),
        "n",
        lambda n, m: (numbers(n),),
    ),
}


@pytest.mark.parametrize("sizes", [(2, 3), (7, 20)])
@pytest.mark.parametrize("name", CASES)
def test_the_rest_of_padded_arrays_does_not_reach_results(name: str, sizes: tuple[int, int]) -> None:
    function, shapes, make = CASES[name]
    arrays = make(*sizes)
    true = {symbol: n for symbol, n in zip("nm", sizes, strict=True) if symbol in shapes}
    with jax.enable_x64(True):
        results = evaluated(function, arrays, shapes, true)
        expectations = jax.tree.leaves(function(*map(jnp.asarray, arrays)))
    for found, expected in zip(results, expectations, strict=True):
        assert found.shape == expected.shape and found.dtype == expected.dtype
        close(found, expected, SUMMED)


@pytest.mark.parametrize(
    ("function", "shapes", "name"),
    [
        (lambda x: jnp.linalg.qr(x)[1], "n, 3", "geqrf|qr"),
        (lambda x: lax.top_k(x, 2), "n", "top_k"),
        (lambda x: jax.random.normal(jax.random.key(0), x.shape), "n, 3", "random_bits"),
    ],
)
def test_what_has_no_rule_is_refused(function: Callable[..., Any], shapes: str, name: str) -> None:
    with pytest.raises(NotPaddableError, match=name):
        evaluated(function, (numbers(3) if shapes == "n" else numbers(3, 3),), shapes, {"n": 3})


@pytest.mark.parametrize(("size", "expected"), [(2, 16), (16, 16), (17, 24), (24, 24), (25, 32), (33, 48), (49, 64)])
def test_sizes_are_rounded_by_a_half_at_most(size: int, expected: int) -> None:
    assert rounded(size) == expected
    assert all(n <= rounded(n) < 1.5 * n + 1 for n in range(16, 3000))


def test_sizes_that_are_equal_in_each_call_are_one_symbol() -> None:
    found = pattern([(5, 8, 5, 7), (6, 8, 6, 7)], (9, 8, 9, 5))
    assert found == (-1, 8, -1, -2)
    assert values_of(found, (9, 8, 9, 5)) == (9, 5)
    assert values_of(found, (9, 8, 8, 5)) is None and values_of(found, (9, 7, 9, 5)) is None


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        ([], None),
        ([(5, 8)], None),
        ([(5, 8), (5, 9)], None),
        ([(6, 8), (6, 8)], None),
        ([(5, 8), (7, 8)], (-1, 8)),
        ([(5, 9), (7, 10)], (-1, -2)),
        ([(5, 9), (7, 10), (5, 8), (4, 8)], (-1, 8)),
    ],
)
def test_a_third_call_shows_what_changes(earlier: list[tuple[int, ...]], expected: Any) -> None:
    assert pattern(earlier, (6, 8)) == expected
