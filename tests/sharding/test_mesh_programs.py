"""What XLA makes of torch programs on a mesh: collectives as those of a program written by hand, and no more traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import jax
import numpy as np
import pytest
import torch
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from torch import nn

import tenax
from tenax.interop import t2j
from tenax.kernels import flash
from tenax.sharding import fsdp, tensor_parallel
from tests.helpers.agreement import close
from tests.helpers.meshes import mesh
from tests.helpers.tolerances import COMPOSED


class Layer(nn.Module):
    """Attention whose projections are one matrix or three, and a perceptron."""

    def __init__(self, fused: bool, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads, names = heads, ["qkv"] if fused else ["query", "key", "value"]
        self.inputs = nn.ModuleDict({name: nn.Linear(width, 3 * width // len(names)) for name in names})
        self.output = nn.Linear(width, width)
        self.stack = nn.ModuleList([nn.Linear(width, 4 * width), nn.Linear(4 * width, width)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = torch.cat([m(x) for m in self.inputs.values()], -1) if len(self.inputs) == 1 else None
        split = parts.chunk(3, -1) if parts is not None else [m(x) for m in self.inputs.values()]
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in split)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(y.transpose(1, 2).flatten(2))
        return x + self.stack[1](self.stack[0](x).relu())


def trained(rules: object, zero_first: bool = False, fused: bool = False) -> tuple[Layer, object]:
    torch.manual_seed(0)
    model = tenax.shard(Layer(fused), rules, mesh())
    optimizer = torch.optim.AdamW(model.parameters())

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        if zero_first:
            optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        if not zero_first:
            optimizer.zero_grad()
        return loss.detach()

    x = tenax.shard(torch.randn(8, 128, 64), P("data"), mesh())
    for _ in range(3):
        step(x)
    return model, step


def test_fsdp_gathers_a_weight_once_for_forward_and_backward() -> None:
    model, step = trained(fsdp("data"))
    (program,) = tenax.explain(step).programs
    kinds = Counter(c.kind for c in program.collectives)
    matrices = [p for p in model.parameters() if p.dim() == 2]
    assert kinds["all-gather"] <= len(matrices)
    assert kinds["all-reduce"] <= 2  # of the gradients, and of the loss
    gathered = sum(c.bytes for c in program.collectives if c.kind == "all-gather")
    assert gathered <= sum(4 * p.numel() for p in matrices)


def test_tensor_parallelism_reduces_once_behind_each_second_projection() -> None:
    _, step = trained(tensor_parallel("model"))
    (program,) = tenax.explain(step).programs
    forward = [c for c in program.collectives if c.scope.startswith("model")]
    assert sorted((c.kind, c.scope) for c in forward) == [
        ("all-reduce", "model.output"),
        ("all-reduce", "model.stack.1"),
    ]


def test_the_parts_of_one_matrix_are_cut_without_gathering_all_of_it() -> None:
    _, step = trained(tensor_parallel("model"), fused=True)
    (program,) = tenax.explain(step).programs
    whole = 2 * 128 * 3 * 64 * 4  # the results of the projections on each device, were they gathered
    assert all(c.bytes < whole for c in program.collectives if c.kind == "all-gather")


def test_a_loop_that_begins_with_zero_grad_compiles_once() -> None:
    _, step = trained(fsdp("data"), zero_first=True)
    found = tenax.explain(step)
    assert len(found.programs) == 1
    assert [trace.program for trace in found.traces] == [1]


def test_attention_tile_by_tile_needs_no_collectives(monkeypatch: object) -> None:
    monkeypatch.setattr(flash, "TILE", 1 << 12)  # type: ignore[attr-defined]
    torch.manual_seed(0)
    hosts = [torch.randn(8, 8, 256, 8).requires_grad_() for _ in range(3)]
    leaves = [tenax.shard(t.detach(), P("data", "model"), mesh()).requires_grad_() for t in hosts]

    def attend(parts: list[torch.Tensor]) -> torch.Tensor:
        out = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        out.square().sum().backward()
        return out.detach()

    held = nn.ParameterList(leaves)
    step = tenax.jit(lambda: attend([*held]))
    close(step(), attend(hosts), COMPOSED)
    for found, expected in zip(held, hosts, strict=True):
        close(found.grad, expected.grad, COMPOSED)
    (program,) = tenax.explain(step).programs
    assert not program.collectives


def test_a_collective_in_a_loop_counts_as_often_as_it_runs() -> None:
    layers = [nn.Linear(64, 64, bias=False) for _ in range(6)]
    stack = tenax.ScannedModule(nn.ModuleList(layers).to("jax")).requires_grad_(False)
    tenax.shard(stack, {"*": P(None, "data", None)}, mesh())
    step = tenax.jit(lambda x: stack(x))
    step(tenax.shard(torch.randn(8, 64), P(), mesh()))
    (program,) = tenax.explain(step).programs
    assert 6 in {c.times for c in program.collectives}


def test_results_of_a_pure_function_are_sharded_as_jax_says_among_explicit_axes() -> None:
    where = mesh(AxisType.Explicit)
    x = jax.device_put(jax.numpy.arange(64.0).reshape(16, 4), NamedSharding(where, P("data")))
    linear = nn.Linear(4, 4)
    functions = {
        lambda t: t * 2: P("data", None),
        lambda t: nn.functional.gelu(linear(t)).sum(1): P("data"),
        lambda t: t.sum(): P(),
        lambda t: t.t(): P(None, "data"),
        lambda t: t.reshape(4, 4, 4): P("data", None, None),
        lambda t: t.t() @ t: P(None, None),  # JAX would ask for a choice
        lambda t: t.sort(0).values: P(None, None),
    }
    for function, expected in functions.items():
        for pure in (t2j(function), jax.jit(t2j(function))):
            result = pure(x)
            assert result.sharding.spec == expected
            close(result, function(torch.arange(64.0).view(16, 4)))
        with jax.set_mesh(where):
            assert jax.jit(t2j(function))(x).sharding.spec == expected
            assert jax.grad(lambda x, f=pure: f(x).sum())(x).sharding.spec == P("data", None)


def test_operands_of_a_pure_function_stay_sharded_among_explicit_axes() -> None:
    where = mesh(AxisType.Explicit)
    x = jax.device_put(jax.numpy.ones((16, 4)), NamedSharding(where, P("data")))
    gathered = jax.sharding.auto_axes(t2j(lambda t: t * 2), out_sharding=P())
    for function, gathers in ((t2j(lambda t: (t * 2).sum()), False), (t2j(lambda t: t * 2), False), (gathered, True)):
        with jax.set_mesh(where):
            program = jax.jit(function).lower(x).compile().as_text()
        assert ("all-gather(" in program) is gathers


Function = Callable[..., torch.Tensor]


def with_gradients(function: Function, *arguments: torch.Tensor) -> list[torch.Tensor]:
    leaves = [x.detach().requires_grad_() for x in arguments]
    out = function(*leaves)
    weights = torch.linspace(0.5, 1.5, out.numel(), device=out.device).reshape(out.shape)
    return [out.detach(), *torch.autograd.grad((out.abs().square() * weights).sum(), leaves)]


IMAGE = (2, 3, 8, 8)
SPLIT: dict[str, tuple[Function, tuple[int, ...], tuple[int, ...], P]] = {
    "rows of an image": (
        partial(nn.functional.conv2d, stride=2, padding=1),
        IMAGE,
        (4, 3, 3, 3),
        P(None, None, "data"),
    ),
    "columns": (partial(nn.functional.conv2d, stride=2, padding=1), IMAGE, (4, 3, 3, 3), P(None, None, None, "model")),
    "transposed": (
        partial(nn.functional.conv_transpose2d, stride=2, padding=1),
        IMAGE,
        (3, 4, 3, 3),
        P(None, None, "data"),
    ),
    "in 3-d": (
        partial(nn.functional.conv_transpose3d, stride=2, padding=1),
        (1, 1, 8, 4, 4),
        (1, 2, 3, 4, 3),
        P(None, None, "data", None, "model"),
    ),
    "transform": (lambda x, y: torch.fft.fft(x).abs() * y, (8, 8), (8,), P("data", "model")),
    "others": (lambda x, y: torch.fft.ifft(torch.fft.rfft(x, 7) * y), (3, 8, 7), (4,), P(None, "model")),
    "means": (lambda x, y: nn.functional.avg_pool1d(x, 4) * y, (3, 4, 4), (4, 1), P(None, None, "data")),
    "maxima": (lambda x, y: nn.functional.adaptive_max_pool1d(x, 1) * y, (3, 4, 4), (4, 1), P(None, None, "data")),
    "slices": (lambda x, y: (x[0:7:2] + x[1::2]) * y, (8, 6), (6,), P("data")),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SPLIT)
def test_operations_along_a_split_axis_have_the_values_and_gradients_of_one_device(name: str) -> None:
    function, *shapes, by = SPLIT[name]
    arguments = [torch.randn(shape) for shape in shapes]
    expected = with_gradients(function, *arguments)
    placed = [tenax.shard(x, spec, mesh()) for x, spec in zip(arguments, (by, P()), strict=True)]
    run = partial(with_gradients, function)
    for results in (run(*placed), tenax.lazy()(run)(*placed), tenax.jit(run)(*placed)):
        for found, wanted in zip(results, expected, strict=True):
            close(found.cpu(), wanted, COMPOSED)


def test_the_library_sums_the_weights_of_groups_over_a_split_batch() -> None:
    """Accelerators use the library of convolutions, and so does the CPU where a mesh is set."""

    def weights(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        options = None, [1], [2], [1], False, [0], 2, [False, True, False]
        return torch.ops.aten.convolution_backward(gradient, x, x.new_zeros(2, 1, 2), *options)[1]

    gradient, x = torch.randn(4, 2, 7), torch.randn(4, 2, 4)
    square = jax.make_mesh((2, 2), ("data", "model"), (AxisType.Auto,) * 2, devices=jax.devices()[:4])
    with jax.set_mesh(square):
        placed = [jax.device_put(t.numpy(), NamedSharding(square, P("data"))) for t in (gradient, x)]
        close(torch.from_numpy(np.array(jax.jit(t2j(weights))(*placed))), weights(gradient, x), COMPOSED)
