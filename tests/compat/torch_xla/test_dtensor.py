"""`distribute_tensor` and `distribute_module` of torch for a mesh of device type "xla"."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_module, distribute_tensor

import tenax.compat.torch_xla as torch_xla
import tenax.compat.torch_xla.distributed as distributed
import tenax.compat.torch_xla.distributed.spmd as xs
from tests.helpers.agreement import close


@pytest.fixture
def mesh(monkeypatch: pytest.MonkeyPatch) -> DeviceMesh:
    """A mesh of 4 by 2 devices, in a process in which torch finds `torch_xla`, as after `install()`."""
    for name, module in ("", torch_xla), (".distributed", distributed), (".distributed.spmd", xs):
        monkeypatch.setitem(sys.modules, f"torch_xla{name}", module)
    return init_device_mesh("xla", (4, 2), mesh_dim_names=("data", "model"))


@pytest.mark.parametrize(
    ("placements", "spec"),
    [
        ([Shard(0), Replicate()], (0, None)),
        ([Replicate(), Shard(-1)], (None, 1)),
        ([Shard(1), Shard(0)], (1, 0)),
        ([Shard(0), Shard(0)], ((0, 1), None)),
        (None, (None, None)),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "jax"])
def test_a_tensor_is_sharded_as_its_placements_say(mesh: DeviceMesh, placements: Any, spec: Any, device: str) -> None:
    x = torch.arange(32.0).reshape(8, 4)
    found: Any = distribute_tensor(x.to(device).requires_grad_(), mesh, placements)
    assert isinstance(found, xs.XLAShardedTensor) and found.is_leaf and found.requires_grad
    assert (found.mesh_shape, found.partition_spec) == ((4, 2), spec)
    close(found.detach(), x)


def test_a_sharded_tensor_states_its_placements_and_is_redistributed() -> None:
    mesh = xs.Mesh(range(8), (4, 2))
    x: Any = xs.mark_sharding(torch.arange(64.0).reshape(8, 8).to("jax"), mesh, (1, None))
    assert x.placements == (Replicate(), Shard(0)) and not hasattr(torch.ones(2, device="jax"), "placements")
    found = x.requires_grad_().clone().redistribute(mesh, [Shard(1), Shard(0)])
    assert (found.partition_spec, found.placements) == ((1, 0), (Shard(1), Shard(0)))
    assert x.redistribute(mesh, [Shard(0), Shard(0)]).placements == (Shard(0), Shard(0))
    found.square().sum().backward()
    close(x.grad.cpu(), 2 * torch.arange(64.0).reshape(8, 8))
    for placements, error, text in (
        ([Shard(0)], ValueError, r"Number of placements \(1\) must match mesh dimensions \(2\)"),
        ([Partial(), Shard(0)], NotImplementedError, "expected Shard or Replicate"),
        ([Shard(2), Shard(0)], IndexError, r"S.*2\) of a tensor of shape \[8, 8\]"),
    ):
        with pytest.raises(error, match=text):
            x.redistribute(mesh, placements)


def test_a_module_is_sharded_by_a_function(mesh: DeviceMesh) -> None:
    def shard(name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        if isinstance(module, nn.Linear):
            for own, parameter in list(module.named_parameters()):
                module.register_parameter(own, distribute_tensor(parameter, mesh, [Replicate(), Shard(0)]))  # type: ignore[arg-type]

    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    x = torch.randn(8, 4)
    expected = model(x)
    expected.square().sum().backward()
    gradients = [p.grad for p in model.parameters()]

    def inputs(args: Any, mesh: DeviceMesh) -> Any:
        return tuple(distribute_tensor(x, mesh, [Shard(0), Replicate()]) for x in args)

    assert distribute_module(model, mesh, shard, inputs, lambda outputs, mesh: 2 * outputs) is model  # type: ignore[arg-type]
    parameters: list[Any] = list(model.parameters())
    assert [p.partition_spec for p in parameters] == [(1, None), (1,)] * 2
    found = model(x)
    close(found.detach(), 2 * expected.detach())
    (found / 2).square().sum().backward()
    close([p.grad for p in parameters], gradients)


def test_what_cannot_be_distributed_is_an_error(mesh: DeviceMesh) -> None:
    x = torch.ones(8, 4)
    with pytest.raises(NotImplementedError, match="expected Shard or Replicate"):
        distribute_tensor(x, mesh, [Partial(), Replicate()])
    with pytest.raises(IndexError, match=r"of a tensor of shape \[8, 4\]"):
        distribute_tensor(x, mesh, [Shard(2), Replicate()])
    with pytest.raises(ValueError, match="1 placements for a mesh of 2 axes"):
        distribute_tensor(x, mesh, [Shard(0)])
    for name, options in ("input_fn", {"input_fn": lambda x: x}), ("output_fn", {"output_fn": lambda *_, x, y, z: x}):
        with pytest.raises(ValueError, match=f"distribute_module: {name} takes . arguments; expected a module"):
            distribute_module(nn.Linear(2, 2), mesh, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="auto_policy without a mesh"):
        xs.xla_distribute_module(nn.Linear(2, 2), None, xs.auto_policy)


def test_a_policy_chooses_the_shardings_of_a_module(mesh: DeviceMesh) -> None:
    plain = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 64))
    x = torch.randn(8, 64)
    expected = plain(x)
    expected.sum().backward()
    gradients = [p.grad for p in plain.parameters()]
    plain.zero_grad()

    def inputs(module: nn.Module, args: Any, mesh: DeviceMesh) -> Any:
        return tuple(distribute_tensor(x, mesh, [Shard(0), Replicate()]) for x in args)

    model = distribute_module(plain, mesh, xs.auto_policy, inputs, lambda module, outputs, mesh: 2 * outputs)  # type: ignore[arg-type]
    parameters: list[Any] = list(model.parameters())
    assert all(isinstance(p, xs.XLAShardedTensor) for p in parameters)
    assert [p.sharding_type is xs.ShardingType.REPLICATED for p in parameters] == [False, True] * 2
    found = model(x)
    close(found.detach(), 2 * expected.detach())
    (found / 2).sum().backward()
    close([p.grad for p in parameters], gradients)
