"""The ops that `lowerings.py` measures, each in three forms: lowering, hand-written JAX function, and CPU torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (the usual name)
from jax import lax

import tenax  # noqa: F401 (makes JAX honour 64-bit dtypes)
from tenax.generated import lowering


@dataclass(frozen=True)
class Case:
    """One op: `inputs` returns CPU tensors for a scale of 1, 4 or 16, which are converted for each contender."""

    family: str
    name: str
    inputs: Callable[[int], Sequence[torch.Tensor]]
    ours: Callable[..., Any]
    hand: Callable[..., Any]
    torch: Callable[..., Any]
    tolerance: float = 1e-4


def floats(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def ints(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(high, shape)


def square(n: int) -> list[torch.Tensor]:
    return [floats(64 * n, 64 * n)]


def squares(n: int) -> list[torch.Tensor]:
    return [*square(n), *square(n)]


def images(n: int) -> list[torch.Tensor]:
    return [floats(2, 16, 8 * n, 8 * n)]


def tokens(n: int) -> list[torch.Tensor]:
    return [floats(32 * n, 256)]


def matrices(n: int) -> list[torch.Tensor]:
    return [floats(4, 8 * n, 8 * n)]


def _window_sum(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "VALID")


def _layer_norm(x: jax.Array, w: jax.Array, b: jax.Array) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * w + b


def _batch_norm(x: jax.Array, w: jax.Array, b: jax.Array) -> jax.Array:
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * w[:, None, None] + b[:, None, None]


def _conv(x: jax.Array, w: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)))


def _pooled_gradient(x: jax.Array, g: jax.Array) -> jax.Array:
    def pooled(x: jax.Array) -> jax.Array:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    return jax.vjp(pooled, x)[1](g)[0]


def _cdist(x: jax.Array, y: jax.Array) -> jax.Array:
    squares = (x * x).sum(-1)[:, None] + (y * y).sum(-1)[None] - 2 * x @ y.T
    return jnp.sqrt(jnp.maximum(squares, 0))


def _norm_inputs(n: int) -> list[torch.Tensor]:
    return [*tokens(n), floats(256), floats(256)]


def _batch_norm_inputs(n: int) -> list[torch.Tensor]:
    return [*images(n), floats(16), floats(16)]


def _pool_backward_inputs(n: int) -> list[torch.Tensor]:
    (x,) = images(n)
    return [x, floats(2, 16, 4 * n, 4 * n), F.max_pool2d(x, 2, return_indices=True)[1]]


def _positive(n: int) -> list[torch.Tensor]:
    (x,) = matrices(n)
    return [x @ x.mT + 8 * n * torch.eye(8 * n)]


ONES = (1, 1)
CASES = [
    Case("pointwise", "add", squares, lowering("add.Tensor"), jnp.add, torch.add),
    Case("pointwise", "exp", square, lowering("exp"), jnp.exp, torch.exp),
    Case(
        "pointwise",
        "where",
        squares,
        lambda a, b: lowering("where.self")(a > 0, a, b),
        lambda a, b: jnp.where(a > 0, a, b),
        lambda a, b: torch.where(a > 0, a, b),
    ),
    Case(
        "pointwise",
        "pow",
        square,
        lambda a: lowering("pow.Tensor_Scalar")(a, 3),
        lambda a: a * a * a,
        lambda a: a.pow(3),
    ),
    Case("activation", "gelu", square, lowering("gelu"), lambda a: jax.nn.gelu(a, approximate=False), F.gelu),
    Case("activation", "silu", square, lowering("silu"), jax.nn.silu, F.silu),
    Case("special", "lgamma", square, lowering("lgamma"), lax.lgamma, torch.lgamma),
    Case("special", "erf", square, lowering("erf"), lax.erf, torch.erf),
    Case(
        "reduction",
        "sum over rows",
        square,
        lambda a: lowering("sum.dim_IntList")(a, [0]),
        lambda a: a.sum(0),
        lambda a: a.sum(0),
    ),
    Case(
        "reduction",
        "var over columns",
        square,
        lambda a: lowering("var.correction")(a, [1], correction=1),
        lambda a: a.var(1, ddof=1),
        lambda a: a.var(1),
    ),
    Case(
        "reduction",
        "argmax",
        square,
        lambda a: lowering("argmax")(a, 1),
        lambda a: lax.argmax(a, 1, np.int32),
        lambda a: a.argmax(1),
    ),
    Case(
        "reduction",
        "logsumexp",
        square,
        lambda a: lowering("logsumexp")(a, [1]),
        lambda a: jax.nn.logsumexp(a, 1),
        lambda a: a.logsumexp(1),
    ),
    Case(
        "softmax",
        "softmax",
        square,
        lambda a: lowering("_softmax")(a, 1, False),
        lambda a: jax.nn.softmax(a, 1),
        lambda a: a.softmax(1),
    ),
    Case(
        "softmax",
        "log_softmax",
        square,
        lambda a: lowering("_log_softmax")(a, 1, False),
        lambda a: jax.nn.log_softmax(a, 1),
        lambda a: a.log_softmax(1),
    ),
    Case("matmul", "mm", squares, lowering("mm"), jnp.matmul, torch.mm, 1e-2),
    Case(
        "matmul",
        "addmm",
        lambda n: [floats(64 * n), *squares(n)],
        lowering("addmm"),
        lambda b, x, y: b + x @ y,
        torch.addmm,
        1e-2,
    ),
    Case(
        "norm",
        "layer norm",
        _norm_inputs,
        lambda x, w, b: lowering("native_layer_norm")(x, [256], w, b, 1e-5)[0],
        _layer_norm,
        lambda x, w, b: F.layer_norm(x, [256], w, b),
    ),
    Case(
        "norm",
        "batch norm",
        _batch_norm_inputs,
        lambda x, w, b: lowering("native_batch_norm")(x, w, b, None, None, True, 0.1, 1e-5)[0],
        _batch_norm,
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        1e-3,
    ),
    Case(
        "conv",
        "3x3, 16 channels",
        lambda n: [*images(n), floats(16, 16, 3, 3)],
        lambda x, w: lowering("convolution")(x, w, None, ONES, ONES, ONES, False, (0, 0), 1),
        _conv,
        lambda x, w: F.conv2d(x, w, padding=1),
        1e-2,
    ),
    Case(
        "conv",
        "unfold",
        images,
        lambda x: lowering("im2col")(x, (3, 3), ONES, ONES, ONES),
        lambda x: lax.conv_general_dilated_patches(x, (3, 3), ONES, (ONES, ONES)).reshape(2, 144, -1),
        lambda x: F.unfold(x, 3, padding=1),
    ),
    Case(
        "pool",
        "max",
        images,
        lambda x: lowering("max_pool2d_with_indices")(x, (2, 2), (2, 2))[0],
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
        lambda x: F.max_pool2d(x, 2),
    ),
    Case(
        "pool",
        "max, backward",
        _pool_backward_inputs,
        lambda x, g, i: lowering("max_pool2d_with_indices_backward")(g, x, (2, 2), (2, 2), (0, 0), ONES, False, i),
        lambda x, g, i: _pooled_gradient(x, g),
        lambda x, g, i: torch.ops.aten.max_pool2d_with_indices_backward(g, x, (2, 2), (2, 2), (0, 0), ONES, False, i),
    ),
    Case(
        "pool",
        "average, overlapping",
        images,
        lambda x: lowering("avg_pool2d")(x, (3, 3), (2, 2)),
        lambda x: _window_sum(x) / 9,
        lambda x: F.avg_pool2d(x, 3, 2),
    ),
    Case(
        "resize",
        "bilinear, twofold",
        images,
        lambda x: lowering("upsample_bilinear2d")(x, (2 * x.shape[2], 2 * x.shape[3]), False),
        lambda x: jax.image.resize(x, (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), "bilinear"),
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    ),
    Case(
        "resize",
        "reflection pad",
        images,
        lambda x: lowering("reflection_pad2d")(x, [2, 2, 2, 2]),
        lambda x: jnp.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)), "reflect"),
        lambda x: F.pad(x, [2] * 4, "reflect"),
    ),
    Case(
        "embedding",
        "embedding",
        lambda n: [floats(1000, 64), ints(1000, 64 * n)],
        lowering("embedding"),
        lambda w, i: w[i],
        lambda w, i: F.embedding(i, w),
    ),
    Case(
        "embedding",
        "embedding, backward",
        lambda n: [floats(256 * n, 64), ints(1000, 256 * n)],
        lambda g, i: lowering("embedding_dense_backward")(g, i, 1000, -1, False),
        lambda g, i: jnp.zeros((1000, 64)).at[i].add(g),
        lambda g, i: torch.ops.aten.embedding_dense_backward(g, i, 1000, -1, False),
        1e-3,
    ),
    Case(
        "indexing",
        "index_add",
        lambda n: [floats(256, 64), ints(256, 64 * n), floats(64 * n, 64)],
        lambda x, i, s: lowering("index_add")(x, 0, i, s),
        lambda x, i, s: x.at[i].add(s),
        lambda x, i, s: x.index_add(0, i, s),
        1e-3,
    ),
    Case(
        "indexing",
        "index_put, accumulate",
        lambda n: [floats(256, 64), ints(256, 64 * n), floats(64 * n, 64)],
        lambda x, i, v: lowering("index_put")(x, [i], v, True),
        lambda x, i, v: x.at[i].add(v),
        lambda x, i, v: x.index_put((i,), v, True),
        1e-3,
    ),
    Case(
        "indexing",
        "gather",
        lambda n: [*square(n), ints(64 * n, 64 * n, 64 * n)],
        lambda x, i: lowering("gather")(x, 1, i),
        lambda x, i: jnp.take_along_axis(x, i, 1),
        lambda x, i: x.gather(1, i),
    ),
    Case(
        "indexing",
        "scatter_add",
        lambda n: [*square(n), ints(64 * n, 64 * n, 64 * n), *square(n)],
        lambda x, i, s: lowering("scatter_add")(x, 1, i, s),
        lambda x, i, s: x.at[jnp.arange(x.shape[0])[:, None], i].add(s),
        lambda x, i, s: x.scatter_add(1, i, s),
        1e-3,
    ),
    Case(
        "sort",
        "sort",
        square,
        lambda x: lowering("sort.stable")(x, stable=True)[0],
        lambda x: lax.sort_key_val(x, lax.broadcasted_iota(np.int32, x.shape, 1))[0],
        lambda x: x.sort(stable=True)[0],
    ),
    Case(
        "sort",
        "topk, 8",
        square,
        lambda x: lowering("topk")(x, 8)[0],
        lambda x: lax.top_k(x, 8)[0],
        lambda x: x.topk(8)[0],
    ),
    Case(
        "scan",
        "cumsum",
        square,
        lambda x: lowering("cumsum")(x, 1),
        lambda x: jnp.cumsum(x, 1),
        lambda x: x.cumsum(1),
        1e-2,
    ),
    Case(
        "scan",
        "logcumsumexp",
        square,
        lambda x: lowering("_logcumsumexp")(x, 1),
        lambda x: lax.cumlogsumexp(x, 1),
        lambda x: x.logcumsumexp(1),
    ),
    Case(
        "distance",
        "cdist",
        lambda n: [floats(64 * n, 32), floats(64 * n, 32)],
        lambda x, y: lowering("_cdist_forward")(x, y, 2.0, 1),
        _cdist,
        torch.cdist,
        1e-2,
    ),
    Case(
        "loss",
        "nll_loss",
        lambda n: [floats(256 * n, 100), ints(100, 256 * n)],
        lambda x, t: lowering("nll_loss_forward")(x, t, None, 1, -100)[0],
        lambda x, t: -jnp.take_along_axis(x, t[:, None], 1).mean(),
        F.nll_loss,
    ),
    Case("loss", "mse_loss", squares, lowering("mse_loss"), lambda a, b: ((a - b) ** 2).mean(), F.mse_loss),
    Case(
        "fft",
        "rfft",
        square,
        lambda x: lowering("_fft_r2c")(x, [1], 0, True),
        lambda x: jnp.fft.rfft(x),
        torch.fft.rfft,
        1e-2,
    ),
    Case(
        "linalg",
        "cholesky",
        _positive,
        lambda a: lowering("linalg_cholesky_ex")(a)[0],
        jnp.linalg.cholesky,
        torch.linalg.cholesky,
        1e-2,
    ),
    Case(
        "linalg",
        "solve",
        lambda n: [*_positive(n), *matrices(n)],
        lambda a, b: lowering("_linalg_solve_ex")(a, b)[0],
        jnp.linalg.solve,
        torch.linalg.solve,
        1e-2,
    ),
    Case(
        "linalg",
        "eigh, values",
        _positive,
        lambda a: lowering("_linalg_eigh")(a)[0],
        lambda a: jnp.linalg.eigh(a)[0],
        torch.linalg.eigvalsh,
        1e-2,
    ),
]
