"""The rule of placement: what nobody placed joins the mesh of what it meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest
import torch
from jax.sharding import AxisType, Mesh
from jax.sharding import PartitionSpec as P
from torch import nn

import tenax
from tenax._jit.jitted import compiled_of
from tenax.interop import t2j
from tests.helpers.agreement import close
from tests.helpers.meshes import mesh, on_mesh, spec, surroundings
from tests.helpers.tolerances import ACCUMULATED, COMPOSED

VALUES = np.arange(64, dtype=np.float32).reshape(8, 8) / 64 - 0.3
KINDS = [(kind, inside) for kind in (AxisType.Auto, AxisType.Explicit) for inside in (False, True)]


@pytest.fixture(params=KINDS, ids=lambda p: f"{p[0].name}{'-set_mesh' * p[1]}")
def where(request: Any) -> Iterator[Mesh]:
    with surroundings(*request.param) as found:
        yield found


def norm(x: torch.Tensor) -> torch.Tensor:
    return nn.LayerNorm(8).to(x.device)(x)


PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "ones_like": lambda x: x + torch.ones_like(x),
    "a tensor of no dimension": lambda x: x + torch.tensor(1.0, device=x.device),
    "a host tensor of no dimension": lambda x: x * torch.tensor(2.0),
    "a number": lambda x: x + 1,
    "a module that nobody placed": norm,
    "an index": lambda x: x[torch.tensor([0, 3], device=x.device)],
    "a mask": lambda x: x[x > 0],
    "where": lambda x: torch.where(x > 0, x, torch.zeros(8, 8, device=x.device)),
    "an upload": lambda x: x @ torch.eye(8).to(x.device),
    "a scan": lambda x: x.cumsum(0),
    "a sort": lambda x: x.sort(dim=0, descending=True).values,
    "a convolution": lambda x: nn.functional.conv1d(x[:, None], torch.ones(1, 1, 3, device=x.device)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_nobody_placed_joins_the_mesh(where: Mesh, name: str) -> None:
    found = PROGRAMS[name](on_mesh(VALUES, P("data"), where))
    close(found.cpu(), PROGRAMS[name](torch.from_numpy(VALUES)))
    assert len(tenax.sharding_of(found).device_set) == 8


def test_like_and_new_take_the_sharding_of_their_source(where: Mesh) -> None:
    x = on_mesh(VALUES, P("data", "model"), where)
    with torch.no_grad():
        for made in (
            *(torch.zeros_like(x), torch.empty_like(x), torch.full_like(x, 3.0), torch.ones_like(x, dtype=torch.int32)),
            *(x.new_zeros(8, 8), x.new_full((8, 8), 2), x.new_ones(8, 8), x.new_empty(8, 8)),
            *(torch.rand_like(x), torch.randn_like(x), x.clone(), x.double(), x * 2),
        ):
            assert spec(made) == P("data", "model"), made
        assert spec(torch.zeros_like(x.t())) == P("model", "data")
        assert torch.zeros_like(x.t()).stride() == (1, 8)


def test_a_fill_on_a_mesh_is_made_in_its_shards() -> None:
    zeros = torch.zeros_like(on_mesh(np.zeros((512, 64), np.float32), P("data")))
    shards = zeros.jax().addressable_shards
    assert [s.data.shape for s in shards] == [(128, 64)] * 8


@pytest.mark.parametrize("options", [{}, {"foreach": False}, {"foreach": True}, {"fused": True}], ids=str)
@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_optimizers_run_on_sharded_weights(kind: str, options: dict[str, Any]) -> None:
    def train(weight: torch.Tensor, x: torch.Tensor) -> tuple[nn.Parameter, Any]:
        parameter = nn.Parameter(weight)
        more: dict[str, Any] = {"momentum": 0.9} if kind == "SGD" else {}
        optimizer = getattr(torch.optim, kind)([parameter], lr=0.1, **more, **options)
        for _ in range(3):
            optimizer.zero_grad()
            (x @ parameter).square().mean().backward()
            optimizer.step()
        return parameter, optimizer.state[parameter]

    found, state = train(on_mesh(VALUES, P(None, "model")), on_mesh(VALUES, P("data")))
    expected, _ = train(torch.from_numpy(VALUES.copy()), torch.from_numpy(VALUES))
    close(found.cpu(), expected)
    assert found.grad is not None
    held = [found, found.grad, *(v for v in state.values() if isinstance(v, torch.Tensor) and v.dim())]
    assert [spec(t.detach()) for t in held] == [P(None, "model")] * len(held)


def test_a_compiled_step_of_adam_on_a_mesh_is_as_precise_as_on_the_cpu() -> None:
    def train(weight: torch.Tensor, jit: Any) -> nn.Parameter:
        parameter = nn.Parameter(weight)
        optimizer = torch.optim.AdamW([parameter], lr=10.0)

        @jit
        def step() -> None:
            parameter.square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()

        for _ in range(3):
            step()
        return parameter

    found = train(on_mesh(VALUES, P(None, "model")), tenax.jit)
    close(found.cpu(), train(torch.from_numpy(VALUES.copy()), lambda f: f))


def test_what_shares_memory_with_a_replicated_tensor_outlives_a_step_that_replaces_it() -> None:
    weight = torch.from_numpy(VALUES.copy()).to("jax")
    ones = torch.ones(8, device="jax")
    copy = weight.clone(), ones.sum()
    parameters = [nn.Parameter(tenax.shard(x, P(), mesh())) for x in (weight, ones)]
    optimizer = torch.optim.SGD(parameters, lr=0.1)

    @tenax.jit
    def step() -> None:
        (parameters[0] @ parameters[1]).sum().backward()
        optimizer.step()

    step()
    close(copy[0].cpu(), torch.from_numpy(VALUES))
    close(torch.ones(8, device="jax").cpu(), torch.ones(8))


def test_gradients_take_the_sharding_of_their_leaf(where: Mesh) -> None:
    weight = on_mesh(VALUES, P("data"), where).requires_grad_()
    layer = nn.Linear(8, 8, bias=False).to("jax")
    layer.weight = nn.Parameter(weight.detach())
    layer(on_mesh(VALUES, P("data"), where)).sum().backward()
    assert layer.weight.grad is not None and spec(layer.weight.grad) == P("data")
    loss = (on_mesh(VALUES, P("data"), where) @ weight).sum()
    loss.backward()
    loss = (on_mesh(VALUES, P("data"), where) @ weight).sum()
    loss.backward()  # accumulated in place
    assert weight.grad is not None and spec(weight.grad) == P("data")


def test_a_write_keeps_the_sharding_of_what_is_written(where: Mesh) -> None:
    x = on_mesh(VALUES, P(None, "model"), where)
    rows = on_mesh(VALUES, P("data"), where)
    x.add_(rows).mul_(2)
    x[1:3] = rows[4:6]
    x.copy_(rows)
    x.uniform_()
    x.copy_(torch.from_numpy(VALUES))
    assert spec(x) == P(None, "model")
    close(x.cpu(), torch.from_numpy(VALUES))


def test_state_that_nobody_placed_joins_for_good() -> None:
    layer = nn.BatchNorm1d(8).to("jax")
    layer(on_mesh(VALUES, P("data")))
    assert spec(layer.running_mean) == P()
    expected = nn.BatchNorm1d(8)
    expected(torch.from_numpy(VALUES))
    close(layer.running_mean.cpu(), expected.running_mean)


def test_an_explicit_device_stays_there(where: Mesh) -> None:
    other = torch.ones(8, 8, device="jax:1")
    large = torch.ones(256, 256, device="jax:1")
    for x in (other + 1, torch.randn(3, device="jax:1"), torch.arange(3, device="jax:1"), large.mul_(2), other @ other):
        assert tenax.sharding_of(x).device_set == {jax.devices()[1]}
    with pytest.raises(RuntimeError, match=r"add.Tensor: Expected all tensors to be on the same device.*jax:1.*\.to\("):
        on_mesh(VALUES, P("data"), where) + other


def test_numbers_that_are_kept_stay_off_the_mesh_of_the_moment() -> None:
    x = torch.ones(3, device="jax")
    with jax.set_mesh(mesh()):
        for _ in range(3):
            x * 1234567
    assert tenax.sharding_of(x * 1234567).device_set == {jax.devices()[0]}


def test_an_array_that_somebody_placed_is_refused_with_a_remedy() -> None:
    placed = tenax.from_jax(jax.device_put(VALUES, jax.devices()[0]))
    x, free = on_mesh(VALUES, P("data")), torch.ones(8, 8, device="jax")
    assert torch.equal(torch.sub(x, free), x - 1)  # the program is known from here on
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"sub.Tensor: .* self is P\('data',\) on mesh .*tenax.shard\(other"):
            torch.sub(x, placed)


def test_meshes_of_other_devices_are_refused_with_a_remedy() -> None:
    other = Mesh(np.array(jax.devices()[:4]), ("rows",))
    x, y = on_mesh(VALUES, P("data")), on_mesh(VALUES, P("rows"), other)
    with pytest.raises(RuntimeError, match=r"self is P\('data',\) on mesh \(data=4, model=2\) .* 0..7, and other"):
        torch.add(x, y)


def test_a_mesh_without_the_first_device_takes_what_nobody_placed() -> None:
    other = Mesh(np.array(jax.devices()[4:]), ("rows",))
    found = on_mesh(VALUES, P("rows"), other) + torch.ones(8, 8, device="jax")
    close(found.cpu(), torch.from_numpy(VALUES) + 1)
    assert {d.id for d in tenax.sharding_of(found).device_set} == {4, 5, 6, 7}


def test_a_compiled_step_with_adam_compiles_once(where: Mesh) -> None:
    def make(weight: torch.Tensor) -> Any:
        parameter = nn.Parameter(weight)
        normal = nn.BatchNorm1d(8).to(weight.device)
        optimizer = torch.optim.Adam([parameter, *normal.parameters()], lr=0.01)

        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = normal(x @ parameter).sin().square().mean()
            loss.backward()
            optimizer.step()
            return loss

        return parameter, step

    weight, step = make(on_mesh(VALUES, P(None, "model"), where))
    expected_weight, expected = make(torch.from_numpy(VALUES.copy()))
    compiled, x = tenax.jit(step), on_mesh(VALUES, P("data"), where)
    for _ in range(4):
        close(compiled(x).cpu(), expected(torch.from_numpy(VALUES)), ACCUMULATED)
    close(weight.cpu(), expected_weight, ACCUMULATED)
    assert spec(weight.detach()) == P(None, "model")
    assert len(compiled_of(compiled).history) == 1
    programs = {s.forward for steps in compiled_of(compiled).programs.values() for s in steps}
    assert [program.jitted._cache_size() for program in programs] == [1] * len(programs)


def test_torch_compile_keeps_shardings() -> None:
    weight = nn.Parameter(on_mesh(VALUES, P(None, "model")))
    buffer = on_mesh(VALUES, P("data"))

    def function(x: torch.Tensor) -> torch.Tensor:
        buffer.add_(x)
        return (x @ weight).tanh()

    compiled = torch.compile(function, backend="tenax")
    x = on_mesh(VALUES, P("data"))
    for n in (1, 2):
        out = compiled(x)
        out.sum().backward()
        close(buffer.cpu(), torch.from_numpy(VALUES) * (1 + n))
    assert spec(buffer) == P("data") and spec(weight.grad) == P(None, "model")
    close(out.cpu(), (torch.from_numpy(VALUES) @ torch.from_numpy(VALUES)).tanh())


def test_a_function_for_jax_takes_arrays_of_any_mesh(where: Mesh) -> None:
    x = jax.device_put(VALUES, jax.sharding.NamedSharding(where, P("data")))
    function = t2j(lambda a: (a @ a.t(), "kept", None))
    close(torch.from_numpy(np.array(function(x)[0])), torch.from_numpy(VALUES @ VALUES.T))
    compiled = jax.jit(jax.value_and_grad(lambda x: (function(x)[0] + x).sum()))
    value, gradient = compiled(x)
    assert abs(float(value) - (VALUES @ VALUES.T + VALUES).sum()) < 1e-4
    close(gradient, 1 + 2 * np.tile(VALUES.sum(0), (8, 1)), COMPOSED)


def test_shard_map_over_torch_functions_with_collectives() -> None:
    def mean(x: torch.Tensor) -> torch.Tensor:
        total = tenax.call_jax(lambda a: jax.lax.psum(a, "data"), x.sum(0, keepdim=True))
        return x - total / 8

    mapped = jax.shard_map(t2j(mean), mesh=mesh(), in_specs=P("data"), out_specs=P("data"))
    free = torch.from_numpy(VALUES).to("jax")  # nobody placed it
    for x in (free, on_mesh(VALUES, P("data"))):
        found = tenax.call_jax(mapped, x)
        close(found.cpu(), torch.from_numpy(VALUES - VALUES.mean(0)))
        assert spec(found) == P("data")


def test_a_shard_map_over_explicit_axes_is_refused_with_a_remedy() -> None:
    explicit = mesh(AxisType.Explicit)
    x = tenax.shard(torch.ones(8, 4), P("data"), explicit)
    double = jax.shard_map(lambda a: a * 2, mesh=explicit, in_specs=P("data"), out_specs=P("data"))
    with pytest.raises(ValueError, match="in_specs passed to shard_map") as raised:
        tenax.call_jax(double, x)
    assert "`with tenax.mesh(mesh) as automatic`" in raised.value.__notes__[0]
    with tenax.mesh(explicit) as automatic:
        double = jax.shard_map(lambda a: a * 2, mesh=automatic, in_specs=P("data"), out_specs=P("data"))
    assert torch.equal(tenax.call_jax(double, x).cpu(), torch.full((8, 4), 2.0))


def test_a_compiled_function_places_arguments_and_results() -> None:
    rows, columns = (jax.sharding.NamedSharding(mesh(), s) for s in (P("data"), P(None, "model")))
    step = tenax.jit(lambda x, y: {"sum": x + y, "same": x}, in_shardings=(rows, None), out_shardings={"sum": columns})
    x, y = torch.from_numpy(VALUES).to("jax"), torch.ones(8, 8, device="jax")
    for _ in range(2):
        found = step(x, y)
        assert spec(x) == P("data") and spec(found["sum"]) == P(None, "model")
        close(found["sum"].cpu(), torch.from_numpy(VALUES) + 1)
    assert len(compiled_of(step).history) == 1
    layer = tenax.jit(nn.Linear(8, 8).to("jax"), out_shardings=columns)
    assert spec(layer(x).detach()) == P(None, "model")
    with pytest.raises(ValueError, match=r"tenax.jit: in_shardings: got 1 shardings for tuple"):
        tenax.jit(lambda x, y: x, in_shardings=(rows,))(x, y)


def test_explain_names_collectives_with_their_lines() -> None:
    weight = on_mesh(VALUES, P("data"))
    step = tenax.jit(lambda x: (x @ weight).sum())
    step(on_mesh(VALUES, P(None, "data")))
    (program,) = tenax.explain(step).programs
    assert {c.kind for c in program.collectives} <= {"all-reduce", "all-gather", "reduce-scatter"}
    assert program.collectives and all(c.bytes > 0 for c in program.collectives)
    assert all(c.line.partition(":")[0] == __file__ for c in program.collectives)
    assert __file__ in str(tenax.explain(step))


def test_gradients_that_are_asked_for_take_the_sharding_of_the_input() -> None:
    weight = on_mesh(VALUES, P("data")).requires_grad_()
    (found,) = torch.autograd.grad((torch.ones(8, 8, device="jax") @ weight).sum(), [weight])
    assert spec(found) == P("data") and torch.equal(found.cpu(), torch.full((8, 8), 8.0))


def test_scanned_layers_keep_shardings() -> None:
    layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
    expected = torch.from_numpy(VALUES)
    for layer in layers:
        expected = layer(expected)
    scanned = tenax.shard(tenax.ScannedModule(layers.to("jax")), {"*.weight": P(None, "data")}, mesh())
    found = scanned(on_mesh(VALUES, P("data")))
    found.sum().backward()
    close(found.cpu(), expected)
    assert [spec(p.grad) for n, p in scanned.named_parameters() if n.endswith("weight")] == [P(None, "data")]
