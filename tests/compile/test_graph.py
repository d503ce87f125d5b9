"""Graphs of `torch.compile(backend="tenax")`: writes, aliases, strides, dtypes and devices are those of CPU torch."""

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounterWithBackend

import tenax
from tenax.compile.graph import CompiledGraph
from tests.helpers.agreement import check, close, compiled

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Each test compiles anew, and a recompilation beyond torch's limit is an error."""
    torch._dynamo.reset()
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        yield


# -- writes, aliases, strides ------------------------------------------------------------------------------------------


def test_writes_to_inputs_arrive() -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        x.add_(1)
        y[0].mul_(2)
        x.t().copy_(y.t())
        return x * y

    check(f, torch.randn(2, 3), torch.randn(2, 3))


def test_calls_alike_are_bound_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Halves(nn.Module):  # backward gets both of one storage, and a gradient that is not made yet
        def forward(self, x: Tensor) -> Tensor:
            a, b = x.sin().chunk(2)
            return (a * b * torch.rand_like(a)).sum()

    bound: list[str] = []
    bind = CompiledGraph.bind
    monkeypatch.setattr(CompiledGraph, "bind", lambda self, args: bound.append(self.graph.name) or bind(self, args))
    run = torch.compile(Halves(), backend="tenax")
    for _ in range(4):
        x = torch.randn(4, 3, device="jax", requires_grad=True)
        run(x).backward()
    assert sorted(bound) == ["backward", "forward"]


def test_a_write_to_a_view_reaches_its_base() -> None:
    run = compiled(lambda x: x.mul_(2))
    for kind, f in (("cpu", lambda x: x.mul_(2)), ("jax", run)):
        base = torch.arange(12.0, device=kind).view(3, 4)
        for rows in (base[:2], base[1:], base.t()):
            f(rows)
        if kind == "cpu":
            expected = base.clone()
    close(base, expected)


def test_arguments_that_share_memory_go_on_to_share_it() -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        x.add_(1)
        return y * 2

    run = compiled(f)
    results = []
    for kind, g in (("cpu", f), ("jax", run)):
        base = torch.arange(6.0, device=kind)
        results.append([g(base[:4], base[2:]).cpu(), base.cpu()])
    close(results[0], results[1])


def test_results_alias_each_other_and_the_inputs() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        y = x * 2
        return x, x.view(-1), x.t(), y, y[0], y.t()

    check(f, torch.randn(2, 3))
    x = torch.randn(2, 3, device="jax")
    same, flat, turned, y, row, columns = compiled(f)(x)
    assert same is x
    storage = x.untyped_storage()
    assert flat.untyped_storage() is storage and turned.untyped_storage() is storage
    assert row.untyped_storage() is y.untyped_storage() and columns.untyped_storage() is y.untyped_storage()
    y.zero_()
    assert not row.any() and not columns.any()


def test_a_clone_of_an_input_is_a_tensor_of_its_own() -> None:
    x = torch.ones(3, device="jax")
    y, z = compiled(lambda x: (x.clone(), torch.zeros_like(x)))(x)
    y.add_(1)
    z.add_(5)
    assert (x.tolist(), y.tolist(), z.tolist()) == ([1, 1, 1], [2, 2, 2], [5, 5, 5])


def test_layouts_survive() -> None:
    check(lambda x: (x + 1, x.permute(0, 2, 3, 1) * 2), torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last))
    check(lambda x: torch.linalg.qr(x).Q.abs(), torch.randn(3, 3))


def test_the_layout_of_an_incoming_gradient_may_change() -> None:
    weight = torch.randn(3, 3)
    for kind, f in (("cpu", torch.sin), ("jax", compiled(torch.sin))):
        grads = []
        for g in (weight, weight.t(), weight[:1].expand(3, 3)):
            x = torch.ones(3, 3, device=kind, requires_grad=True)
            f(x).backward(g.to(kind))
            grads.append(x.grad.cpu())  # type: ignore[union-attr]
        if kind == "cpu":
            expected = grads
    close(grads, expected)


def test_lazily_conjugated_tensors_pass_in_and_out() -> None:
    def f(z: Tensor) -> tuple[Tensor, Tensor]:
        return z.conj() * 2, z.imag + 1

    run = compiled(f)
    z = torch.randn(3, dtype=torch.complex64)
    for x in (z, z.conj()):
        for found, expected in zip(run(x.to("jax")), f(x), strict=True):
            close(found, expected)


def test_64_bit_types_are_kept() -> None:
    check(lambda x, i: (x / 3, i + 2**40), torch.randn(3, dtype=torch.float64), torch.arange(3))


# -- devices -----------------------------------------------------------------------------------------------------------


def test_tensors_of_the_cpu_take_part() -> None:
    scale, table = torch.tensor(2.0), torch.arange(3.0)

    def f(x: Tensor) -> Tensor:
        return x * scale + (table * 2 + torch.arange(3)).to(x.device)

    check(f, torch.ones(3))
    scale.fill_(5.0)
    check(f, torch.ones(3))


def test_a_result_that_belongs_on_the_cpu_is_there() -> None:
    y = compiled(lambda x: (x * 2).cpu())(torch.ones(3, device="jax"))
    assert y.device.type == "cpu" and y.tolist() == [2, 2, 2]


def test_activations_are_offloaded_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._functorch import config
    from torch._functorch._activation_offloading import activation_offloading, offload_ops  # noqa: F401

    def all_of(forward: Any, *rest: Any) -> bool:
        for node in forward.graph.nodes:
            node.meta["should_offload"] = True
        return choose(forward, *rest)

    choose = activation_offloading.choose_offload_sets
    monkeypatch.setattr(activation_offloading, "choose_offload_sets", all_of)
    for waits in (False, True):  # with `device_put`, and with `torch.ops.ao`, which frees what it has copied
        x = torch.arange(6.0, device="jax").requires_grad_()
        with config.patch(enable_activation_offloading=True, activation_offload_separate_stream=waits):
            y = compiled(lambda x: x.exp().sin())(x)
        y.sum().backward()
        assert torch.allclose(x.grad.cpu(), x.exp().cos().mul(x.exp()).detach().cpu())


def test_an_offloaded_tensor_returns() -> None:
    from torch._functorch._activation_offloading import offload_ops  # noqa: F401

    ao = torch.ops.ao
    x = torch.arange(6.0, device="jax").reshape(2, 3)
    y = x.t() * 2
    held = ao.wait_tensor(ao.offload(y), y)
    assert held.device.type == "cpu" and not y.untyped_storage().nbytes()
    back = ao.wait_tensor(ao.reload(held, x.device, [3, 2], [1, 3]))
    assert back.device == x.device and back.stride() == (1, 3) and torch.equal(back, x.t() * 2)


def test_random_numbers_of_the_cpu_are_refused_in_a_graph_of_the_device() -> None:
    run = compiled(lambda x: x + torch.rand(3).to(x.device))
    with pytest.raises(Exception, match=r"aten.rand.default draws random numbers on the CPU"):
        run(torch.ones(3, device="jax"))


def test_a_graph_without_tensors_of_the_device_is_left_to_torch() -> None:
    assert compiled(lambda x: x * 2)(torch.ones(3)).tolist() == [2, 2, 2]


def test_a_number_that_changes_does_not_compile_without_end() -> None:
    counter = CompileCounterWithBackend("tenax")
    run = torch.compile(lambda x, a: x * a, backend=counter)
    x = torch.ones(2, device="jax")
    for a in (0.5, 1.5, 2.5, 3.5, 4.5):
        assert run(x, a).tolist() == [a, a]
    assert counter.frame_count <= 2


def test_a_second_device_computes_its_own() -> None:
    layer = nn.Linear(3, 2)
    device = copy.deepcopy(layer).to("jax:1")
    run = compiled(device)
    for _ in range(2):
        y = run(torch.ones(1, 3, device="jax:1"))
        assert y.device == torch.device("jax:1") and y.jax().devices() == {__import__("jax").devices()[1]}
        close(y, layer(torch.ones(1, 3)))
    made = compiled(lambda: torch.arange(3, device="jax:1") + 1)()
    assert made.tolist() == [1, 2, 3] and made.jax().devices() == {__import__("jax").devices()[1]}


def test_a_written_input_gives_up_its_buffer_unless_it_is_held() -> None:
    run = compiled(lambda x: x.add_(1))
    x = torch.zeros(1 << 15, device="jax")
    run(x)
    before = x.jax().unsafe_buffer_pointer()
    run(x)
    assert x.jax().unsafe_buffer_pointer() == before
    held = x.jax()
    run(x)
    assert float(held[0]) == 2 and float(x[0]) == 3


def test_a_graph_with_an_operator_that_asks_for_values_runs_eagerly() -> None:
    @torch.library.custom_op("tests_graph::ordered", mutates_args=())
    def ordered(x: Tensor) -> Tensor:
        return torch.from_numpy(np.sort(x.cpu().numpy())).to(x.device)

    ordered.register_fake(torch.empty_like)
    ordered.register_autograd(lambda ctx, grad: grad)

    def f(x: Tensor) -> Tensor:
        return ordered(x * 2) + torch.rand_like(x)

    compiled = torch.compile(f, backend="tenax", fullgraph=True)
    for _ in range(2):
        found = []
        for g in (f, compiled):
            torch.manual_seed(0)
            x = torch.tensor([3.0, 1.0, 2.0], device="jax", requires_grad=True)
            y = g(x)
            y.sum().backward()
            found.append((y.detach().cpu(), x.grad.cpu()))
        close(found[0], found[1])


# -- arrays that are kept, and where they lie --------------------------------------------------------------------------


def test_parameters_that_changed_between_calls_count() -> None:
    model, x = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)), torch.randn(5, 3)
    ours = copy.deepcopy(model).to("jax")
    run = torch.compile(ours, backend="tenax")

    def halve(m: nn.Sequential) -> None:
        m[0].weight.mul_(0.5)

    def replace(m: nn.Sequential) -> None:
        m[0].weight.data = m[0].weight.data + 1

    def load(m: nn.Sequential) -> None:
        m.load_state_dict({k: v * 2 for k, v in m.state_dict().items()})

    def swap(m: nn.Sequential) -> None:
        torch.utils.swap_tensors(m[1].bias, nn.Parameter(m[1].bias.detach() - 1))

    with torch.no_grad():
        for change in (halve, replace, load, swap):
            for _ in range(4):
                close(run(x.to("jax")), model(x))
            change(model)
            change(ours)
        close(run(x.to("jax")), model(x))


@pytest.mark.parametrize("compiler", [tenax.jit, partial(torch.compile, backend="tenax")], ids=["jit", "compile"])
def test_arrays_of_one_device_and_of_several_share_a_program(compiler: Any) -> None:
    f = compiler(lambda x: torch.nn.functional.dropout(x.exp(), 0.0) + torch.zeros_like(x).uniform_() * 0)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("d",))
    spread = jax.device_put(np.ones(4, np.float32), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))
    for x in (torch.ones(4, device="jax"), tenax.from_jax(spread)) * 2:
        close(f(x), torch.ones(4).exp())


def test_a_result_lies_as_it_is_shown() -> None:
    run = torch.compile(lambda x: (x + 1).view(3, 2), backend="tenax")
    y = run(torch.ones(6, device="jax"))
    assert y.jax() is y.jax()  # no reshape of another array
    assert y.jax().shape == (3, 2)
