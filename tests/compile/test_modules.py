"""`torch.compile(backend="tenax")`: compiled modules agree with CPU torch in values, gradients and state."""

import copy
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounterWithBackend
from torch._higher_order_ops import scan
from torch.nn import functional as F  # noqa: N812
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint

import tenax
from tests.helpers.agreement import agree, check, close, compiled, leaves, on_device
from tests.helpers.tolerances import ACCUMULATED, COMPOSED
from tests.helpers.training import both, train

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Each test compiles anew, and a recompilation beyond torch's limit is an error."""
    torch._dynamo.reset()
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        yield


def sgd(parameters: Iterator[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def check_training(make: Callable[[], nn.Module], *inputs: Tensor) -> None:
    """A module trains, and is then evaluated, as on the CPU."""
    host, device = both(make())
    run, moved = compiled(device), [x.to("jax") for x in inputs]

    def loss(module: nn.Module, *inputs: Tensor) -> Tensor:
        return leaves(module(*inputs))[0].square().mean()

    close(train(run, sgd, loss, *moved), [x.to("jax") for x in train(host, sgd, loss, *inputs)], COMPOSED)
    close(device.state_dict(), host.state_dict(), COMPOSED)
    host.eval()
    run.eval()
    with torch.no_grad():
        agree(run(*moved), host(*inputs), COMPOSED)


class Block(nn.Module):
    """Causal attention and a feed-forward layer, with residuals."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.first, self.second = nn.LayerNorm(8), nn.LayerNorm(8)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        n, length, _ = x.shape
        q, k, v = self.qkv(self.first(x)).view(n, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        p = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=p)
        x = x + F.dropout(self.out(attended.transpose(1, 2).reshape(n, length, 8)), p)
        return x + self.down(F.gelu(self.up(self.second(x))))


# -- modules -----------------------------------------------------------------------------------------------------------


def test_an_mlp_trains_as_on_the_cpu() -> None:
    check_training(
        lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2)), torch.randn(3, 4)
    )


def test_convolution_and_batch_norm_train_as_on_the_cpu() -> None:
    layers = lambda: nn.Sequential(  # noqa: E731
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2)
    )
    check_training(layers, torch.randn(2, 3, 8, 8))


def test_a_transformer_block_trains_as_on_the_cpu() -> None:
    check_training(Block, torch.randn(2, 5, 8))


def test_an_lstm_trains_as_on_the_cpu() -> None:
    with torch._dynamo.config.patch(allow_rnn=True):
        check_training(lambda: nn.LSTM(4, 6, 2, batch_first=True), torch.randn(2, 5, 4))


def test_composites_stay_whole_in_the_graph() -> None:
    targets: list[str] = []

    def spy(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        targets.extend(str(n.target) for n in graph.graph.nodes)
        return graph.forward

    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    block = Block().to("jax")
    run = torch.compile(block, backend=aot_autograd(fw_compiler=lambda g, i: make_boxed_func(spy(g, i))))
    x = torch.randn(2, 5, 8, device="jax")
    run(x).sum().backward()
    assert targets.count("tenax.call.default") == 2  # forward and backward
    targets.clear()
    with torch.no_grad():
        run(x)
    assert targets.count("tenax.call.default") == 1
    assert "aten.softmax.default" not in targets and "aten.native_layer_norm.default" in targets


def test_a_call_runs_no_operation_of_torch() -> None:
    run = compiled(nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)).to("jax"))
    x = torch.randn(3, 4, device="jax")
    with torch.no_grad():
        run(x)
        with torch.autograd.profiler.profile() as profile:
            run(x)
    assert not {e.name for e in profile.function_events if e.name.startswith("aten::")}


def test_parameters_are_arguments() -> None:
    layer = nn.Linear(2, 2, bias=False).to("jax")
    run = compiled(layer)
    x = torch.ones(1, 2, device="jax")
    run(x)
    with torch.no_grad():
        layer.weight.fill_(3.0)
    assert run(x).tolist() == [[6.0, 6.0]]
    layer.weight.data = torch.ones(2, 2, device="jax")
    assert run(x).tolist() == [[2.0, 2.0]]


# -- randomness --------------------------------------------------------------------------------------------------------


def test_random_numbers_are_those_of_eager_mode_and_new_in_each_call() -> None:
    block = Block(dropout=0.5).to("jax")
    run = compiled(lambda x: block(x) + torch.rand_like(x) + torch.randn(8, device="jax").exponential_())
    for grad in (False, True):
        x = torch.randn(2, 5, 8, device="jax", requires_grad=grad)
        drawn = []
        for f in (run, run._torchdynamo_orig_callable):
            torch.manual_seed(3)
            drawn.append([f(x).detach() for _ in range(3)])
        assert not torch.equal(drawn[0][0], drawn[0][1])
        for a, b in zip(*drawn, strict=True):
            close(a, b)


@pytest.mark.parametrize("draw", [torch._sample_dirichlet, lambda x: torch.binomial(x * 10, x)])
def test_a_capture_draws_no_numbers(draw: Callable[[Tensor], Tensor]) -> None:
    x = torch.full((2, 2), 0.5, device="jax")
    drawn = []
    for f in (draw, torch.compile(lambda x: draw(x), backend="tenax")):
        torch.manual_seed(3)
        drawn.append([*(f(x) for _ in range(3)), torch.rand(2, device="jax")])
    close(*drawn)


def test_generators_break_the_graph() -> None:
    generator = torch.Generator(device="jax")

    def function(x: Tensor) -> Tensor:
        own = torch.Generator(device="jax").manual_seed(1)
        generator.manual_seed(3)
        return x * torch.rand(3, device="jax", generator=generator) + torch.rand(3, device="jax", generator=own)

    x = torch.ones(3, device="jax")
    compiled = torch.compile(function, backend="tenax")
    assert torch.equal(compiled(x), function(x)) and torch.equal(compiled(x), function(x))


def test_two_draws_in_one_graph_differ() -> None:
    def f(x: Tensor) -> Tensor:
        return x * (torch.empty_like(x).exponential_() - torch.empty_like(x).exponential_())

    x = torch.ones(8, device="jax", requires_grad=True)
    y = compiled(f)(x)
    y.sum().backward()
    assert y.abs().min() > 0
    close(x.grad, y)


def test_backward_sees_the_mask_that_forward_drew() -> None:
    x = torch.ones(64, device="jax", requires_grad=True)
    run = compiled(lambda x: F.dropout(x, 0.5))
    for _ in range(2):
        y = run(x)
        (g,) = torch.autograd.grad(y.sum(), x)
        close(g, y)


# -- what torch does around the graphs ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # torch asks for it where the graph broke
def test_a_graph_break_runs_on_the_device() -> None:
    def f(x: Tensor) -> Tensor:
        x = x * 2
        if x.sum() > 0:
            return x.sin()
        return x.cos()

    check(f, torch.ones(3, requires_grad=True))
    check(f, -torch.ones(3))
    counter = CompileCounterWithBackend("tenax")
    torch.compile(f, backend=counter)(torch.ones(3, device="jax"))
    assert counter.frame_count == 2


def test_a_frame_that_torch_does_not_compile_moves_data_to_the_device() -> None:
    def f(x: Tensor) -> Tensor:
        for i in range(2):
            with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
                torch._dynamo.graph_break()  # in such a block, so the whole frame runs as it stands
                x = x + torch.tensor(i, device=x.device)
        return x

    assert compiled(f)(torch.ones(2, device="jax")).tolist() == [2, 2]


def test_a_graph_with_a_shape_that_depends_on_data_runs_as_it_stands() -> None:
    def chosen(x: Tensor) -> Any:
        positive = x[x > 0]
        x.detach().add_(1)
        zeros = torch.zeros(int(x.argmax().item()), device=x.device)
        return positive.square(), (x[:, None] > x).nonzero(), zeros

    options = {"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}
    with torch._dynamo.config.patch(options):
        check(chosen, torch.tensor([1.0, -2.0, 3.0]), fullgraph=True)
        check(lambda x: x[x > 0] * 2, torch.tensor([1.0, -2.0, 3.0], requires_grad=True), fullgraph=True)


def test_forward_and_backward_are_one_graph_where_torch_traces_both() -> None:
    host, device = both(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    x = torch.randn(5, 3)

    def step(module: nn.Module, x: Tensor) -> Tensor:
        loss = module(x).square().mean()
        loss.backward()
        return loss.detach()

    with torch._dynamo.config.patch(trace_autograd_ops=True):
        for _ in range(2):
            agree(torch.compile(step, fullgraph=True)(device, on_device(x)), step(host, x))
    agree([p.grad for p in device.parameters()], [p.grad for p in host.parameters()])


def test_what_a_score_function_closes_over_has_its_gradient() -> None:
    q, k, v = (torch.randn(1, 2, 16, 8) for _ in range(3))
    slopes, steps = torch.randn(2), torch.arange(16)
    bias = slopes.requires_grad_()[:, None, None] * (steps[:, None] - steps)
    F.scaled_dot_product_attention(q, k, v, bias).sin().sum().backward()
    ours = on_device(slopes)

    def attend(q: Tensor, k: Tensor, v: Tensor, slopes: Tensor) -> Any:
        return flex_attention(q, k, v, score_mod=lambda s, _, h, i, j: s + slopes[h] * (i - j))

    compiled(attend)(*(on_device(x).requires_grad_() for x in (q, k, v)), ours).sin().sum().backward()
    close(ours.grad, slopes.grad, ACCUMULATED)


def test_a_question_for_an_array_breaks_the_graph() -> None:
    def by_jax(x: Tensor) -> Tensor:
        return tenax.from_jax(jnp.sin((x * 2).jax())) + 1

    def traced_by_jax(x: Tensor) -> bool:
        try:
            return isinstance(x.jax(), jax.core.Tracer)
        except Exception:
            return False

    def asks(x: Tensor) -> Tensor:  # as transformers do of any tensor with such a method
        y = x + 1
        return y * 2 if hasattr(y, "jax") and traced_by_jax(y) else y

    x = torch.ones(2, device="jax")
    close(compiled(by_jax)(x), (x * 2).sin() + 1)
    assert compiled(asks, dynamic=True)(x).tolist() == [2, 2]


def test_a_nested_region_has_its_gradient() -> None:
    @torch.compiler.nested_compile_region
    def region(x: Tensor) -> Tensor:
        return x.sin() * 2

    check(lambda x: region(region(x)), torch.randn(3, requires_grad=True), fullgraph=True)


def test_shapes_left_open_compile_torch_graphs_once() -> None:
    counter = CompileCounterWithBackend("tenax")
    block = Block()
    device = copy.deepcopy(block).to("jax")
    run = torch.compile(device, backend=counter, dynamic=True)
    counts = []
    for n, length in ((2, 5), (3, 7), (4, 6)):
        x = torch.randn(n, length, 8)
        agree(run(x.to("jax")), block(x))
        counts.append(counter.frame_count)
    assert len(set(counts)) == 1


def test_a_size_that_changes_is_a_number_of_the_program() -> None:
    def f(x: Tensor) -> Tensor:
        return x.view(-1, 2).sum(0) * x.shape[0] + torch.arange(x.shape[0], device=x.device).sum()

    for n in (4, 6, 8, 10):
        check(f, torch.randn(n, 2, requires_grad=True), calls=1, dynamic=True)


def test_a_second_derivative_raises_torchs_error() -> None:
    x = torch.ones(3, device="jax", requires_grad=True)
    (g,) = torch.autograd.grad(compiled(lambda x: x.sin().sum())(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        g.sum().backward()


def test_derivatives_inside_the_compiled_function_nest() -> None:
    check(lambda x: torch.func.grad(torch.func.grad(lambda y: y.sin()))(x), torch.tensor(0.5))
    check(torch.vmap(lambda x: x @ x), torch.randn(3, 4))


def test_a_gradient_flows_through_an_input_that_is_a_result() -> None:
    check(lambda x, y: (x, x * y), torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True))


def test_checkpointed_activations_are_computed_again() -> None:
    layer = nn.Linear(3, 3)
    device = copy.deepcopy(layer).to("jax")
    run = compiled(lambda x: checkpoint(lambda y: device(y).sin(), x, use_reentrant=False))
    x, y = torch.ones(2, 3, requires_grad=True), torch.ones(2, 3, device="jax", requires_grad=True)
    layer(x).sin().sum().backward()
    run(y).sum().backward()
    agree([y.grad, device.weight.grad], [x.grad, layer.weight.grad])


def test_a_checkpointed_dropout_draws_the_same_mask_again() -> None:
    def f(x: Tensor) -> Tensor:
        return checkpoint(lambda y: F.dropout(y).sin(), x, use_reentrant=False)  # type: ignore[no-any-return]

    run, drawn = compiled(f), []
    for g in (run, run, f):
        x = torch.ones(64, device="jax", requires_grad=True)
        y = g(x)
        y.sum().backward()
        kept = y.detach() != 0
        close(x.grad, torch.where(kept, 2 * torch.cos(torch.full_like(y, 2.0)), 0.0))
        drawn.append(y.detach())
    assert not torch.equal(drawn[0], drawn[1])


def test_control_flow_runs_on_the_device() -> None:
    def branch(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))  # type: ignore[no-any-return]

    def loop(x: Tensor) -> Tensor:
        i = torch.zeros((), dtype=torch.int64, device=x.device)
        return torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (i, x))[1]  # type: ignore[no-any-return]

    check(branch, torch.ones(3, requires_grad=True))
    check(branch, -torch.ones(3, requires_grad=True))
    with torch.no_grad():
        assert compiled(loop)(torch.ones(2, device="jax")).tolist() == [8, 8]

    def sums(x: Tensor) -> Any:
        return scan(lambda total, row: (total + row, (total * row).sin()), torch.zeros_like(x[0]), x, dim=0)

    check(sums, torch.randn(5, 3, requires_grad=True))


def test_a_compiled_module_is_part_of_a_jitted_step() -> None:
    module, other = nn.Linear(3, 3).to("jax"), nn.Linear(3, 3).to("jax")
    other.load_state_dict(module.state_dict())
    x = torch.randn(2, 3, device="jax")

    def step(f: Any, optimizer: torch.optim.Optimizer, x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss: Tensor = f(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    jitted, run = tenax.jit(step), compiled(module)
    optimizers = [torch.optim.SGD(m.parameters(), 0.1) for m in (module, other)]
    for _ in range(3):
        close(jitted(run, optimizers[0], x), step(other, optimizers[1], x))
    close(module.weight, other.weight)


def test_autocast_is_part_of_the_graph() -> None:
    layer = nn.Linear(4, 4).to("jax")
    run = compiled(layer)
    x = torch.randn(2, 4, device="jax")
    for _ in range(2):
        with torch.autocast("jax", torch.bfloat16):
            assert run(x).dtype is torch.bfloat16
        assert run(x).dtype is torch.float32


def test_inference_mode_has_graphs_of_its_own() -> None:
    block = Block()
    device = copy.deepcopy(block).to("jax")
    run = compiled(device)
    x = torch.randn(2, 5, 8)
    with torch.inference_mode():
        close(run(x.to("jax")), block(x))
    agree(run(x.to("jax")), block(x))


# -- the public face ---------------------------------------------------------------------------------------------------


def test_unknown_modes_and_options_are_errors() -> None:
    x = torch.ones(2, device="jax")
    with pytest.raises(Exception, match=r"mode 'fastest'; expected one of \('default'"):
        compiled(lambda x: x + 1, mode="fastest")(x)
    with pytest.raises(Exception, match=r"options \['triton'\] are unknown; expected some of \('donate'"):
        compiled(lambda x: x + 1, options={"triton": True})(x)


def test_options_reach_xla() -> None:
    x = torch.ones(2, device="jax")
    options = {"donate": False, "compiler_options": {"xla_cpu_enable_fast_math": False}}
    assert compiled(lambda x: x + 1, options=options)(x).tolist() == [2, 2]
    with pytest.raises(Exception, match="no_such_option"):
        compiled(lambda x: x + 2, options={"compiler_options": {"xla_no_such_option": True}})(x)
    assert compiled(lambda x: x + 3, mode="max-autotune")(x).tolist() == [4, 4]


def test_torch_finds_the_backend_without_an_import() -> None:
    program = (
        "import torch; assert 'tenax' in torch._dynamo.list_backends();"
        "f = torch.compile(lambda x: x * 2, backend='tenax'); print(f(torch.ones(2, device='jax')).tolist())"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == "[2.0, 2.0]", run.stderr[-2000:]


class Counting(nn.Module):
    """A gradient that depends on buffers which forward writes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        self.mean.mul_(0.5).add_(x.detach().mean(0))
        return self.linear(x * self.mean.exp()) * self.count


def test_a_gradient_is_that_of_the_buffers_as_forward_found_them() -> None:
    check_training(Counting, torch.ones(2, 3))


@pytest.mark.parametrize(
    "change",
    [lambda y: y.unsqueeze_(0), lambda y: y.t_(), lambda y: y.squeeze_(0), lambda y: y.transpose_(0, 1)],
    ids=["unsqueeze_", "t_", "squeeze_", "transpose_"],
)
def test_the_geometry_of_an_intermediate_changes_in_place(change: Callable[[Tensor], Tensor]) -> None:
    def changed(x: Tensor) -> Tensor:
        y = x * 2
        change(y)
        return y.neg_()

    x = torch.arange(3.0).view(1, 3)
    result = torch.compile(changed, backend="tenax")(x.to("jax"))
    close(result, changed(x))


def test_an_argument_gets_the_data_that_a_function_sets() -> None:
    def step(x: Tensor, y: Tensor) -> Tensor:
        x.mul_(2)
        x.data = x + 1
        y.data, x.data = x.data, y.data.clone()
        return x * 1

    found = []
    for device, compile_ in (("cpu", lambda f: f), ("jax", torch.compile(backend="tenax"))):
        x, y = torch.ones(3, device=device), torch.zeros(3, device=device)
        compiled_step = compile_(step)
        results = [compiled_step(x, y).clone() for _ in range(3)]
        found.append([*results, x, y])
    close(found[1], found[0])
