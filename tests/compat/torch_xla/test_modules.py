"""Modules and tensors that PyTorch/XLA shards: FSDP, meshes, and the optimizer that is sharded over replicas."""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from functorch.compile import aot_function, nop
from torch import nn

import tenax
import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.debug.profiler as xp
import tenax.compat.torch_xla.distributed.fsdp.utils as fsdp_utils
import tenax.compat.torch_xla.distributed.spmd as xs
import tenax.compat.torch_xla.distributed.spmd.debugging as debugging
import tenax.compat.torch_xla.distributed.xla_multiprocessing as xmp
from tenax.compat.torch_xla.distributed.fsdp import XlaFullyShardedDataParallel, consolidate_sharded_model_checkpoints
from tenax.compat.torch_xla.distributed.fsdp.wrap import (
    always_wrap_policy,
    lambda_auto_wrap_policy,
    recursive_wrap,
    size_based_auto_wrap_policy,
)
from tenax.compat.torch_xla.distributed.spmd.xla_sharding import XLAShardedTensor
from tenax.compat.torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
from tenax.compat.torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel
from tests.helpers.agreement import close

device = xm.xla_device()


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


class Unit(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module


def units(policy: Any, **options: Any) -> list[str]:
    root = nn.Sequential(Block(), nn.ModuleList([nn.Linear(4, 4)]))
    wrapped, _ = recursive_wrap(root, policy, Unit, **options)
    return [name for name, module in wrapped.named_modules() if isinstance(module, Unit)]


def test_policies_say_which_submodules_are_units() -> None:
    linear = functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda m: isinstance(m, nn.Linear))
    assert units(linear) == ["0.inner.0", "0.inner.1", "1.0"]
    large = functools.partial(size_based_auto_wrap_policy, min_num_params=30)
    assert units(large) == ["0.inner"]
    assert units(always_wrap_policy, only_wrap_children=True) == [
        *("0", "0.module.inner", "0.module.inner.module.0", "0.module.inner.module.1"),
        *("1", "1.module.0"),
    ]


def test_a_module_that_cannot_be_a_unit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="must define a `forward` method, which ModuleList does not"):
        XlaFullyShardedDataParallel(nn.ModuleList())
    with pytest.raises(FileNotFoundError, match="Cannot find any files matching"):
        consolidate_sharded_model_checkpoints(str(tmp_path / "none"))
    torch.save({"model": {}, "shard_metadata": {"world_size": 2, "rank": 0}}, tmp_path / "one.pth")
    with pytest.raises(ValueError, match=r"1 files that match .*; expected 2, one of each rank"):
        consolidate_sharded_model_checkpoints(str(tmp_path / "one"))


def test_options_that_do_not_exist_are_an_error() -> None:
    mesh = xs.Mesh(np.arange(8), (2, 4), ("data", "fsdp"))
    layer = nn.Linear(4, 4)
    with pytest.raises(TypeError, match="flatten_parameters"):
        SpmdFullyShardedDataParallel(layer, mesh, flatten_parameters=True)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"extra_data_axis='batch'; expected an axis of the mesh, \('data', 'fsdp'\)"):
        SpmdFullyShardedDataParallel(layer, mesh, extra_data_axis="batch")
    with pytest.raises(RuntimeError, match="must define a `forward` method"):
        SpmdFullyShardedDataParallel(nn.ModuleList(), mesh)
    with pytest.raises(RuntimeError, match="already wrapped"):
        SpmdFullyShardedDataParallel(SpmdFullyShardedDataParallel(layer, mesh), mesh)
    for options in ({"flaten_parameters": True}, {"compute_type": None}):
        with pytest.raises(TypeError, match=f"unexpected options {next(iter(options))}"):
            XlaFullyShardedDataParallel(nn.Linear(2, 2), **options)
    for option in ({"sharding_rank": 0}, {"_debug_dummy_forward_pass": True}):
        with pytest.raises(NotImplementedError, match=next(iter(option))):
            XlaFullyShardedDataParallel(nn.Linear(2, 2), **option)
    with pytest.raises(NotImplementedError, match="device_tracer_level=0"):
        xp.trace_detached(device_tracer_level=0)
    with pytest.raises(TypeError, match="tracer"):
        xp.start_trace("folder", tracer=True)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="cannot find context for start_method 'spwan'"):
        xmp.spawn(print, nprocs=1, start_method="spwan")


def test_units_of_a_mesh_are_chosen_by_a_policy() -> None:
    mesh = xs.Mesh(np.arange(8), (2, 4), ("data", "fsdp"))
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
    made: list[nn.Module] = []

    def unit(module: nn.Module, **options: Any) -> nn.Module:
        made.append(module)
        return SpmdFullyShardedDataParallel(module, **options)

    linear = functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda m: isinstance(m, nn.Linear))
    model = SpmdFullyShardedDataParallel(
        copy.deepcopy(plain), mesh, auto_wrap_policy=linear, auto_wrapper_callable=unit, extra_data_axis="data"
    )
    assert len(made) == 2 and model[0].module is made[0] and model[0].weight is made[0].weight
    assert made[0].weight.sharding_spec == "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"
    inner: list[Any] = []
    model[0].register_forward_hook(lambda *args: inner.append(args[2]))
    x = torch.randn(16, 8)
    found = model(x.to(device))
    for output in (found, *inner):
        assert output.sharding_spec == "{devices=[8,1]0,1,2,3,4,5,6,7}"
    close(found.detach().cpu(), plain(x).detach())


def test_a_marked_tensor_says_how_it_lies(capsys: pytest.CaptureFixture[str]) -> None:
    mesh = xs.Mesh(np.arange(8), (4, 2), ("data", "model"))
    copy = xs.Mesh.from_str(str(mesh))
    assert copy is not None and str(copy) == str(mesh) and xs.Mesh.from_str("no mesh") is None
    x = xs.mark_sharding(torch.arange(32.0).reshape(8, 4).to(device), mesh, ("data", None))
    assert isinstance(x, XLAShardedTensor) and XLAShardedTensor(x) is x is x.global_tensor
    assert (x.mesh_shape, x.partition_spec) == ((4, 2), (0, None))
    assert x.sharding_spec == "{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"
    assert x.sharding_type is xs.ShardingType.PARTIAL
    parts = x.local_shards
    assert [part.replica_id for part in parts] == [0, 1] * 4
    assert parts[2].indices == [slice(2, 4, 1), slice(0, 4, 1)] and parts[2].shard_device == "CPU:2"
    close(parts[2].unpadded_data, x.cpu()[2:4])
    y = xs.mark_sharding(torch.ones(8, 4, device=device), mesh, ("model", "data"))
    assert y.sharding_spec == "{devices=[2,4]0,2,4,6,1,3,5,7}"
    assert y.sharding_type is xs.ShardingType.TILED
    z = xs.mark_sharding(torch.ones(8, 4, device=device), mesh, (None, None))
    assert (z.sharding_spec, z.sharding_type) == ("{replicated}", xs.ShardingType.REPLICATED)
    assert z.local_shards[3].indices is ...
    leaf = XLAShardedTensor(z, mesh.mesh_shape, (None, None), requires_grad=True)
    assert leaf.requires_grad and leaf.is_leaf and not z.requires_grad
    unnamed = xs.Mesh(np.arange(8), (4, 2))
    assert unnamed.axis_names is None and [*unnamed.shape().items()] == [(0, 4), (1, 2)]
    assert xs.mark_sharding(torch.ones(8, 4, device=device), unnamed, (1, 0)).sharding_spec == y.sharding_spec
    one = torch.ones(8, 4, device=device)
    assert not hasattr(one, "sharding_spec")
    assert xs.shard_as(one, x)[0].sharding_spec == x.sharding_spec
    with pytest.raises(ValueError, match="must have the same structure"):
        xs.shard_as((one,), [x])
    assert debugging.visualize_tensor_sharding(x, use_color=False).row_count == 4
    assert "[2:4, 0:4]" in (text := capsys.readouterr().out) and "2, 3" in text
    assert debugging.visualize_tensor_sharding(one).row_count == 1


def test_an_optimizer_of_another_dtype_is_an_error() -> None:
    with pytest.raises(NotImplementedError, match="optimizer_dtype, lazy_init; expected"):
        ZeroRedundancyOptimizer([nn.Parameter(torch.ones(1))], torch.optim.SGD, torch.bfloat16, lazy_init=True)
    half = [nn.Parameter(torch.ones(1, dtype=torch.bfloat16))]
    with pytest.raises(NotImplementedError, match=r"optimizer_dtype, save_master_weights; expected .* \(float32 by"):
        ZeroRedundancyOptimizer(half, torch.optim.SGD, save_master_weights=True)
    with pytest.raises(NotImplementedError, match="bucket_cap_mb_all_gather, bucket_cap_mb_reduce_scatter; expected"):
        ZeroRedundancyOptimizer(
            half, torch.optim.SGD, torch.bfloat16, bucket_cap_mb_all_gather=1, bucket_cap_mb_reduce_scatter=1
        )


def test_patched_linear_layers_are_linear_layers() -> None:
    layer = nn.Linear(3, 2).to(device)
    x = torch.randn(4, 5, 3, device=device)
    expected = layer(x)
    close(xs.XLAPatchedLinear.apply(x, layer.weight, layer.bias), expected)
    close(xs.xla_patched_nn_linear_forward(layer, x), expected)
    model = nn.Sequential(layer, nn.ReLU())
    assert fsdp_utils.apply_xla_patch_to_nn_linear(model, lambda m, x: nn.functional.linear(x, m.weight)) is model
    close(layer(x), expected - layer.bias)
    fsdp_utils.apply_xla_patch_to_nn_linear(model)
    close(layer(x), expected)


def test_a_tensor_and_its_gradient_are_marked_by_the_function() -> None:
    mesh = xs.get_1d_mesh("data")
    x = torch.ones(mesh.size(), 2, device=device, requires_grad=True)
    y = xs.MarkShardingFunction.apply(x, mesh, ("data", None))
    seen = []
    y.register_hook(lambda grad: seen.append(tenax.sharding_of(grad)))
    y.sum().backward()
    assert tenax.sharding_of(y) is not None and seen == [tenax.sharding_of(y)]
    assert x.grad is not None
    traced = aot_function(lambda x: xs.MarkShardingFunction.apply(x * 2, mesh, ("data", None)), nop)
    assert tenax.sharding_of(traced(x)).is_equivalent_to(tenax.sharding_of(y), 2)
    with pytest.raises(ValueError, match="a tensor on cpu; expected one on the device"):
        xs.MarkShardingFunction.apply(x.cpu(), mesh, ("data", None))


def test_wrapped_modules_have_the_attributes_of_the_module() -> None:
    mesh = xs.Mesh(np.arange(4), (2, 2, 1), ("data", "fsdp", "tensor"))
    layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).to(device)
    x = torch.randn(8, 8, device=device)
    expected = layers(x)
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=50)
    model = SpmdFullyShardedDataParallel(layers, mesh, auto_wrap_policy=policy, extra_data_axis="data")
    assert isinstance(model[0], SpmdFullyShardedDataParallel) and type(model[1]) is nn.ReLU and model.module is layers
    assert model[0].out_features == 8 and len(model.state_dict()) == 4
    y = model(xs.mark_sharding(x, mesh, (("data", "fsdp"), None)))
    close(y.detach().cpu(), expected.detach().cpu())
    assert y.sharding_spec == "{devices=[4,1]0,1,2,3}"


def test_the_parts_of_a_marked_tensor_are_overwritten() -> None:
    mesh = xs.Mesh(np.arange(8), (4, 2), ("data", "model"))
    for dtype in (torch.float32, torch.int64, torch.bfloat16):
        x: Any = xs.mark_sharding(torch.zeros(8, 4, dtype=dtype, device=device), mesh, ("data", None))
        shards, version = x.local_shards, x._version
        for shard in shards:
            shard.data += shard.indices[0].start
        x.load_local_shards_(shards)
        close(x.cpu(), (torch.arange(8) // 2 * 2)[:, None].expand(8, 4).to(dtype))
        assert x.partition_spec == (0, None) and x._version > version
    with pytest.raises(ValueError, match="expected those of local_shards"):
        x.load_local_shards_(shards[1:])
    with pytest.raises(AttributeError, match="it is not on a mesh"):
        torch.ones(2, device=device).load_local_shards_([])  # type: ignore[operator]
    with pytest.raises(NotImplementedError, match="a part of its storage"):
        x.mT.load_local_shards_(x.mT.local_shards)
