"""Eager operations on channels-last images and other permuted tensors are computed in the order of their memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from jax import lax
from jax.extend.core import Jaxpr

from tenax.kernels.unsplit import unsplit
from tenax.xla.equation_costs import nested_jaxprs
from tenax.xla.memory import code_memory
from tenax.xla.memory_order import evaluation, rules
from tenax.xla.memory_order.reshapes import reshaped
from tenax.xla.memory_order.values import Value, identity
from tenax.xla.program import EagerProgram
from tests.helpers.agreement import agree, close
from tests.helpers.tolerances import COMPOSED

ORDERS = ((0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 3, 2), (2, 0, 1, 3))

# Functions of an array [2, 3, 4, 6] whose axes are in another order in memory.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: jnp.where(x > 0, lax.clamp(0.0, x, 1.0), x * 2 + lax.reduce_precision(x, 5, 10)),
    "broadcast": lambda x: x * jnp.arange(3.0)[:, None, None] + lax.broadcasted_iota(np.float32, x.shape, 2),
    "deferred": lambda x: x + (jnp.ones((3, 1, 1)) * jnp.arange(6.0))[None] + jnp.zeros(x.shape).at[0].get()[None],
    "only deferred": lambda x: jnp.transpose(jnp.broadcast_to(jnp.arange(6.0), x.shape) + 1, (1, 3, 0, 2)) + x.sum(),
    "reductions": lambda x: (x.sum(1), x.max((0, 2)), x.prod(), jnp.argmax(x, 3), (x > 0).any(2), x.min((1, 3))),
    "normalization": lambda x: (x - x.mean((0, 2, 3), keepdims=True)) * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1),
    "scans": lambda x: (jnp.cumsum(x, 1), lax.cummax(x, 3, reverse=True), lax.cumlogsumexp(x, 2)),
    "sort": lambda x: (jnp.sort(x, 1), jnp.argsort(x, 3)),
    "top_k": lambda x: lax.top_k(x, 2),
    "slices": lambda x: (x[:, 1:, ::2, -1], lax.rev(x, (1, 3)), lax.dynamic_slice(x, (0, 1, 1, 2), (2, 2, 3, 4))),
    "update": lambda x: lax.dynamic_update_slice(unsplit(x, [1]), x[:1, :2], (1, 1, 0, 0)),
    "pad": lambda x: lax.pad(x, 1.0, ((0, 0, 0), (1, 2, 1), (-1, 0, 0), (0, 3, 2))),
    "concatenate": lambda x: jnp.concatenate([x, x[:, :1] * 2], 1),
    "split": lambda x: jnp.split(x, 3, 3),
    "merge": lambda x: (x.reshape(2, 3, 24), x.reshape(6, 4, 6), x.reshape(-1), x.reshape(2, 12, 6)),
    "divide": lambda x: (x.reshape(2, 3, 2, 2, 2, 3), x.reshape(2, 1, 3, 1, 4, 6, 1), x.reshape(2, 3, 4, 6, 1)),
    "merge and divide": lambda x: (x.reshape(2, 2, 6, 6), x.reshape(3, 2, 8, 3)),
    "squeeze": lambda x: jnp.squeeze(x[:, :1, 2:3], (1, 2)),
    "windows": lambda x: (
        lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 3), (1, 1, 2, 1), "SAME"),
        lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 2), "VALID"),
        lax.reduce_window(
            (x, -x), (0.0, 0.0), lambda a, b: (a[0] + b[0], a[1] + b[1]), (1, 1, 2, 2), (1,) * 4, "VALID"
        ),
    ),
    "products": lambda x: (
        jnp.einsum("nchw,cd->ndhw", x, jnp.ones((3, 5))),
        jnp.einsum("nchw,nchv->ncwv", x, x),
        jnp.einsum("nchw,mchw->nm", x, x),
        jnp.einsum("ab,nahw->bnhw", jnp.arange(6.0).reshape(3, 2), x),
    ),
    "convolution": lambda x: lax.conv_general_dilated(x, jnp.ones((5, 3, 3, 3)) * x[0, 0, 0, 0], (1, 2), "SAME"),
    "convolution of permuted axes": lambda x: lax.conv_general_dilated(
        x, x[:, :, :2, :2], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "HNWC")
    ),
    "barrier": lambda x: lax.optimization_barrier((x, x.sum(1))),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, y: y * 2 + x, x),
    "call": lambda x: jax.jit(lambda y: jax.nn.relu(y) + jax.nn.logsumexp(y, 1, keepdims=True))(x),
    "indices": lambda x: (x[:, jnp.array([2, 0, 2])], x.at[1, :, jnp.array([0, 3])].add(1.0)),
    "none": lambda x: x,
    "more reductions": lambda x: (lax.reduce_or(x > 0, (1,)), lax.squeeze(x[:, :1], (1,))),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_computed_in_any_memory_order(name: str, order: tuple[int, ...]) -> None:
    logical = np.random.default_rng(0).normal(size=(2, 3, 4, 6))
    memory = jnp.asarray(logical.transpose(np.argsort(order)))

    def program(x: jax.Array) -> Any:
        return jax.tree.map(lambda y: jnp.transpose(y), FUNCTIONS[name](jnp.transpose(x, order)))

    traced = jax.jit(program).trace(memory)
    found, wanted = jax.jit(evaluation.in_memory_order(traced))(memory), jax.jit(program)(memory)
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    assert [x.dtype for x in jax.tree.leaves(found)] == [x.dtype for x in jax.tree.leaves(wanted)]
    close(found, wanted, COMPOSED)


def test_every_rule_is_of_a_primitive_that_the_functions_use() -> None:
    used: set[str] = set()

    def visit(jaxpr: Jaxpr) -> None:
        for equation in jaxpr.eqns:
            used.add(equation.primitive.name)
            for inner in nested_jaxprs(equation):
                visit(inner)

    for function in FUNCTIONS.values():
        visit(jax.make_jaxpr(function)(jnp.ones((2, 3, 4, 6))).jaxpr)
    unused = set(rules.RULES) - used  # share the function of another rule
    assert unused <= {"cumprod", "cummin", "reduce_and", "reduce_xor", "reduce_window_min", "argmin"}


@pytest.mark.parametrize(
    ("axes", "old", "new", "stays"),
    [
        ((0, 3, 1, 2), (2, 6, 4, 5), (2, 2, 3, 4, 5), True),  # channels are divided into groups
        ((0, 3, 1, 2), (2, 6, 4, 5), (2, 6, 20), True),  # rows and columns are neighbours
        ((0, 3, 1, 2), (2, 6, 4, 5), (12, 4, 5), False),
        ((0, 2, 1, 3), (2, 6, 1, 5), (2, 30), True),  # an axis of one element does not separate its neighbours
        ((1, 0), (0, 3), (3, 0), False),
    ],
)
def test_a_reshape_stays_in_memory_if_its_merged_axes_are_neighbours(
    axes: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...], stays: bool
) -> None:
    logical = np.arange(np.prod(old)).reshape(old)
    value = Value(jnp.asarray(logical.transpose(np.argsort(axes))), axes)
    text = jax.jit(lambda x: reshaped(Value(x, axes), old, new).array).lower(value.array).as_text()
    assert ("stablehlo.transpose" not in text) == stays
    result = reshaped(value, old, new)
    np.testing.assert_array_equal(result.at(identity(len(new))), logical.reshape(new))


def forget() -> None:
    """Drop the executables that other tests have needed."""
    for dispatcher in code_memory.dispatchers:
        dispatcher.entries.clear()
        dispatcher.fast.clear()


def lowered_programs(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> Iterator[tuple[str, str]]:
    """The names and texts of the programs that are traced while a function runs."""
    forget()
    found = []
    trace = EagerProgram.trace

    def recorded(self: EagerProgram, operands: Any) -> Any:
        found.append((self.function.__name__, traced := trace(self, operands)))
        return traced

    monkeypatch.setattr(EagerProgram, "trace", recorded)
    monkeypatch.setenv("TENAX_CACHE", "0")
    run()
    torch.jax.synchronize()
    return ((name, traced.lower().as_text()) for name, traced in found)


IMAGES = {
    "batch norm": lambda x: F.batch_norm(x, None, None, training=True),
    "batch norm with weights": lambda x: F.batch_norm(x, None, None, *(x.new_ones(2, 6)), training=True),
    "group norm": lambda x: F.group_norm(x, 3),
    "max pool": lambda x: F.max_pool2d(x, 3, 2, 1),
    "average pool": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "adaptive pool": lambda x: F.adaptive_avg_pool2d(x, 2),
    "upsample": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "convolution": lambda x: F.conv2d(x, x.new_ones(4, 6, 3, 3), padding=1),
    "depthwise convolution": lambda x: F.conv2d(x, x.new_ones(6, 1, 3, 3), padding=1, groups=6),
    "transposed convolution": lambda x: F.conv_transpose2d(x, x.new_ones(6, 4, 2, 2), stride=2),
    "softmax": lambda x: x.softmax(1),
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), mode="reflect"),
    "shuffle": lambda x: F.channel_shuffle(x, 3),
    "cat": lambda x: torch.cat([x, x.relu()], 1),
    "reductions": lambda x: torch.cat([x.amax((2, 3)), x.mean(3).mean(2), x.cumsum(1).sum((2, 3))]),
    "flatten": lambda x: F.linear(x.flatten(1), x.new_ones(3, 6 * 7 * 5)),
    "indices": lambda x: x[:, [0, 2, 2]] * x.select(1, 1).unsqueeze(1),
    "attention": lambda x: F.scaled_dot_product_attention(*(x.permute(0, 2, 3, 1),) * 3),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", IMAGES)
def test_channels_last_images_agree_with_torch(name: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 6, 7, 5).to(memory_format=torch.channels_last)

    def results(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = x.detach().requires_grad_()
        out = IMAGES[name](x)
        return out, *torch.autograd.grad(out.exp().sum(), x)

    # torch's formula of the gradient of a group norm makes images contiguous on devices other than the CPU.
    agree(results(x.to("jax")), results(x), COMPOSED, strides=name not in ("group norm", "attention"))


@pytest.mark.parametrize("name", ["batch norm", "group norm", "max pool", "average pool", "pad", "cat"])
def test_no_program_transposes_a_channels_last_image(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(2, 6, 7, 5, device="jax").contiguous(memory_format=torch.channels_last)
    torch.jax.synchronize()
    programs = list(lowered_programs(monkeypatch, lambda: IMAGES[name](x)))
    assert programs
    for program, text in programs:
        assert "stablehlo.transpose" not in text, program


@pytest.mark.parametrize(
    ("function", "shape", "primitives"),
    [
        (lambda x: x.T + x.T.sum(0), (3, 4), ["transpose", "transpose", "reduce_sum", "broadcast_in_dim", "add"]),
        (lambda x: jnp.einsum("bth,bsh->bts", *(x.swapaxes(0, 1),) * 2), (3, 4, 2), ["transpose", "dot_general"]),
        (lambda x: x.swapaxes(1, 2).sum(1), (3, 4, 2), ["reduce_sum"]),
    ],
)
def test_programs_of_matrices_are_left_as_they_are(
    function: Callable[[Any], Any], shape: tuple[int, ...], primitives: list[str]
) -> None:
    traced = EagerProgram(jax.disable_jit()(function), None, ()).trace((jnp.ones(shape),))
    assert [e.primitive.name for e in traced.jaxpr.eqns if e.primitive.name != "jit"] == primitives
