"""The names of PyTorch/XLA in one process: devices, step closures, loaders, the table of names and `tenax doctor`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import tenax
import tenax.compat.torch_xla as torch_xla
import tenax.compat.torch_xla.amp as amp
import tenax.compat.torch_xla.amp.syncfree as syncfree
import tenax.compat.torch_xla.core.functions as xf
import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.debug.metrics as met
import tenax.compat.torch_xla.distributed.parallel_loader as pl
import tenax.compat.torch_xla.distributed.spmd as xs
import tenax.compat.torch_xla.distributed.xla_multiprocessing as xmp
import tenax.compat.torch_xla.experimental as experimental
import tenax.compat.torch_xla.runtime as xr
import tenax.compat.torch_xla.utils.utils as xu
from tenax.compat.torch_xla.experimental.assume_pure import PureModule
from tenax.compat.torch_xla.experimental.custom_kernel import flash_attention
from tenax.compat.torch_xla.experimental.fori_loop import fori_loop, while_loop
from tenax.compat.torch_xla.experimental.scan import scan
from tenax.compat.torch_xla.experimental.scan_layers import scan_layers
from tenax.compat.torch_xla.report import uses
from tenax.compat.torch_xla.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo
from tenax.compat.torch_xla.table import NOT, ROWS, Row, markdown
from tenax.errors import TraceError
from tenax.storage.tensors import cell_of
from tests.helpers.agreement import close

device = xm.xla_device()

FACTORIES = [
    lambda d: torch.zeros(2, device=d),
    lambda d: torch.tensor([1.0, 2.0], device=d),
    lambda d: torch.as_tensor([1, 2], device=d),
    lambda d: torch.arange(3, device=d),
    lambda d: torch.tril_indices(2, 2, device=d),
    lambda d: torch.empty_strided((2, 2), (1, 2), device=d).zero_(),
    lambda d: torch.ones(2).to(d),
    lambda d: torch.ones(2, device="jax").to(d),
    lambda d: torch.ones_like(torch.ones(2, device="cpu" if d == "cpu" else "jax"), device=d),
    lambda d: torch.ones(2).new_zeros(3, device=d),
    lambda d: torch.nn.Linear(2, 2).to(d).bias.detach().zero_(),
    lambda d: torch.nn.Embedding(3, 2, device=d).weight.detach().zero_(),
]


@pytest.mark.parametrize("name", ["xla", "xla:0", torch.device("xla"), torch.device("xla:0")], ids=repr)
@pytest.mark.parametrize("make", FACTORIES, ids=map(str, range(len(FACTORIES))))
def test_device_type_xla_is_device_jax(make: Any, name: Any) -> None:
    found, expected = make(name), make("cpu")
    assert found.device == device
    assert found.stride() == expected.stride()
    close(found.cpu(), expected)


def test_a_tensor_of_the_device_is_there_already() -> None:
    x = torch.ones(2, device=device)
    assert x.to("xla") is x
    assert x.to("xla:0") is x
    assert x.to("xla:0", torch.float32) is x
    assert torch.Generator("xla").device == device
    with torch.device("xla"):
        assert torch.ones(2).device == device


def test_torch_load_maps_to_xla(tmp_path: Path) -> None:
    torch.save(torch.ones(2), tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", map_location="xla:0").device == device


def test_devices_have_both_names() -> None:
    count = torch.jax.device_count()  # type: ignore[attr-defined]
    assert torch_xla.device_count() == xr.addressable_device_count() == len(torch_xla.devices()) == count
    assert xm.get_xla_supported_devices(max_devices=1) == xm.get_xla_supported_devices(1) == ["xla:0"]
    assert xm.get_xla_supported_devices("TPU") is None
    assert xm.xla_device_hw(device) == xr.device_type() == xm.xla_device_hw("xla:0") == "CPU"
    assert torch_xla.real_devices()[0] == "CPU:0"
    assert xm.parse_xla_device("CPU:0") == ("CPU", 0)
    assert xm.xla_device(0, "CPU") == torch_xla.device() == device
    with pytest.raises(RuntimeError, match="no devices of kind 'TPU'; this process has CPU devices"):
        xm.xla_device(devkind="TPU")
    with pytest.raises(IndexError, match="invalid device ordinal 99"):
        xm.xla_device(99)
    assert xm.get_memory_info(device)["bytes_limit"] > xm.get_memory_info(device)["bytes_used"] >= 0


def test_mixed_devices_have_the_known_text() -> None:
    with pytest.raises(
        RuntimeError, match=r"Input tensor is not an XLA tensor: torch\.FloatTensor.*tensor\.to\('jax:0'"
    ):
        torch.nn.Linear(2, 2)(torch.ones(2, device=device))
    with pytest.raises(RuntimeError, match=r"Input tensor is not an XLA tensor: torch\.DoubleTensor"):
        torch.mm(torch.ones(2, 2, device=device, dtype=torch.float64), torch.ones(2, 2, dtype=torch.float64))


@pytest.mark.parametrize("lazy", [False, True])
def test_arithmetic_moves_an_operand_of_the_cpu(lazy: bool) -> None:
    here, there, mask = torch.arange(3.0), torch.ones(3, device="xla:1"), torch.tensor([True, False, True])
    compiled = torch_xla.compile(lambda x: x * here - 1)
    with experimental.eager_mode_context(not lazy):
        for _ in range(2):
            expected = here / 2, here - 1, torch.div(here, 1, rounding_mode="floor"), here + 1, here - 1
            summed = there.clone()
            summed += here
            found = here / (there + there), here - there, torch.div(here, there, rounding_mode="floor"), summed
            close([x.cpu() for x in (*found, compiled(there))], [*expected])
            here += 1
        close(((there > 0) & mask).cpu(), mask)
    with pytest.raises(RuntimeError, match=r"gt: Input tensor is not|gt\.Tensor: Input tensor is not"):
        there.gt(here)
    with pytest.raises(RuntimeError, match=r"add_\.Tensor: Input tensor is not"):
        here.add_(there)


def test_step_closures_run_once_in_order_after_the_barrier() -> None:
    seen: list[Any] = []
    xm.add_step_closure(lambda x: seen.append(x.item()), args=(torch.tensor(1.0, device=device),))
    xm.add_step_closure(seen.append, args=(2,))
    assert seen == []
    torch_xla.sync()
    assert seen == [1.0, 2]
    torch_xla.sync()
    assert seen == [1.0, 2]
    with torch_xla.step():
        xm.add_step_closure(seen.append, args=(3,))
    assert seen[2:] == [3]


def test_a_step_closure_that_raises_raises_at_the_barrier() -> None:
    def bad() -> None:
        raise ValueError("a bad closure")

    xm.add_step_closure(bad)
    with pytest.raises(ValueError, match="a bad closure"):
        xm.mark_step()
    xm.mark_step()
    xm.add_step_closure(bad, run_async=True)
    xm.mark_step()
    from tenax.compat.torch_xla import steps

    steps._background.queue.join()
    with pytest.raises(ValueError, match="a bad closure"):
        xm.mark_step()


def test_optimizer_step_returns_what_the_step_returns() -> None:
    p = torch.nn.Parameter(torch.ones(2, device=device))
    optimizer = torch.optim.SGD([p], lr=0.5)
    p.grad = torch.ones_like(p)
    assert xm.optimizer_step(optimizer, optimizer_args={"closure": lambda: 7}, barrier=True) == 7
    close(p.detach().cpu(), torch.full((2,), 0.5))


def test_collectives_of_one_replica_give_what_they_got() -> None:
    x = torch.arange(4.0, device=device)
    assert xm.xrt_world_size() == 1
    assert xm.is_master_ordinal()
    close(xm.all_reduce("sum", x, scale=0.5).cpu(), x.cpu() / 2)
    close(xm.reduce_scatter("max", x, 1.0, 0, 1).cpu(), x.cpu())
    close(xm.all_to_all(x, 0, 0, 1).cpu(), x.cpu())
    assert xm.rendezvous("here", b"x") == [b"x"]
    assert xm.mesh_reduce("sum", 3, sum) == 3
    with pytest.raises(ValueError, match="reduce_type 'mean'; expected one of sum, mul"):
        xm.all_reduce("mean", x)
    with pytest.raises(ValueError, match=r"have ordinal 0 0 times; expected once"):
        xm.all_reduce("sum", x, groups=[[1]])
    with pytest.raises(ValueError, match=r"shard_count=2 .* expected 1, the number of replicas"):
        xm.reduce_scatter("sum", x, 1.0, 0, 2)


def test_sync_batch_norm_is_batch_norm_of_one_replica() -> None:
    found, expected = xf.SyncBatchNorm(3).to("xla"), torch.nn.BatchNorm1d(3)
    x = torch.randn(8, 3)
    close(found(x.to("xla")).cpu(), expected(x))
    close(found.running_var.cpu(), expected.running_var)


def test_a_loader_deals_whole_rounds_and_ends_at_another_size() -> None:
    batches = [torch.full((4,), float(i)) for i in range(5)]
    loader = pl.ParallelLoader(batches, ["xla:0", "xla:1"])
    first, second = loader.per_device_loader("xla:0"), loader.per_device_loader(torch.device("jax", 1))
    assert len(first) == 2
    assert [(x.device.index, x[0].item()) for x in first] == [(0, 0.0), (0, 2.0)]
    assert [(x.device.index, x[0].item()) for x in second] == [(1, 1.0), (1, 3.0)]
    uneven = [torch.ones(4), torch.ones(4), torch.ones(3), torch.ones(4)]
    assert len([*pl.MpDeviceLoader(uneven, device, fixed_batch_size=True)]) == 2
    with pytest.raises(ValueError, match=r"xla:7 is none of \['xla:0'\]"):
        pl.ParallelLoader([], ["xla:0"]).per_device_loader("xla:7")


def test_a_loader_that_raises_raises_in_next() -> None:
    def bad() -> Iterator[torch.Tensor]:
        yield torch.ones(2)
        raise OSError("the disk is gone")

    batches = iter(pl.MpDeviceLoader(bad(), device))
    assert next(batches).device == device
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)


def test_a_number_of_processes_that_is_neither_one_nor_all_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenax.compat.torch_xla import process

    process.most_processes.cache_clear()
    monkeypatch.setenv("CPU_NUM_DEVICES", "2")
    with pytest.raises(ValueError, match="nprocs=8; expected 1, or None for 2, the number of devices"):
        xmp.spawn(print, nprocs=8)
    process.most_processes.cache_clear()
    called: list[Any] = []
    xmp.spawn(lambda *args: called.append(args), args=(5,), nprocs=1)
    assert called == [(0, 5)]


def test_metrics_count_compilations_and_uploads() -> None:
    met.clear_all()
    x = torch.randn(3, 5, 7, device=device)
    (x * 2.5).sin().sum().item()
    xm.send_cpu_data_to_device([torch.ones(4)], device)
    torch_xla.sync(wait=True)
    assert set(met.metric_names()) >= {"CompileTime", "ExecuteTime", "TransferToDeviceTime"}
    assert met.counter_value("UncachedCompile") == met.metric_data("CompileTime")[0]  # type: ignore[index]
    report = met.metrics_report()
    assert "Metric: CompileTime\n  TotalSamples: " in report
    assert "Counter: MarkStep\n  Value: 1\n" in report
    assert met.executed_fallback_ops() == ["aten::_local_scalar_dense"]  # `item()`


def test_loops_compute_what_python_loops_compute() -> None:
    x = torch.ones(3, 2, device=device, requires_grad=True)
    carry, ys = scan(lambda c, x: (c + x, c * x), torch.zeros(2, device=device), x)
    ys.sum().backward()
    close((carry.cpu(), ys.cpu(), x.grad), (torch.full((2,), 3.0), torch.arange(3.0)[:, None].expand(3, 2), 2 * x))
    layers = [torch.nn.Linear(2, 2).to(device) for _ in range(3)]
    found = scan_layers(layers, x)
    expected = layers[2](layers[1](layers[0](x)))
    close(found, expected)
    close(*(torch.autograd.grad(y.sum(), layers[1].weight)[0] for y in (found, expected)))
    close(fori_loop(0, 3, lambda i, a: a * 2, torch.ones(2, device=device)).cpu(), torch.full((2,), 8.0))
    state = torch.tensor(0, device=device), torch.ones(2, device=device)
    assert [t.tolist() for t in while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), state)] == [3, [8.0, 8.0]]
    close(PureModule(layers[0])(x), layers[0](x))


def test_flash_attention_is_attention() -> None:
    q = torch.randn(1, 1, 128, 8, device=device)
    expected = torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True, scale=0.5)
    close(flash_attention(q, q, q, causal=True, sm_scale=0.5), expected)


def test_autocast_and_optimizers_that_skip() -> None:
    model = torch.nn.Linear(2, 2).to(device)
    x = torch.ones(3, 2, device=device)
    with amp.autocast(device, dtype=torch.bfloat16):
        assert model(x).dtype is torch.bfloat16
    with torch.autocast("xla", dtype=torch.bfloat16):
        assert model(x).dtype is torch.bfloat16
    optimizer = syncfree.AdamW(model.parameters(), lr=0.1)
    model(x).sum().backward()
    before = model.weight.detach().clone()
    optimizer.step(found_inf=torch.ones(1, device=device))
    assert torch.equal(model.weight.detach(), before)
    optimizer.step(found_inf=torch.zeros(1, device=device))
    assert not torch.equal(model.weight.detach(), before)


def test_compile_counts_the_programs_of_a_function() -> None:
    double = torch_xla.compile(lambda x: x * 2, max_different_graphs=1)
    close(double(torch.ones(2, device=device)).cpu(), torch.full((2,), 2.0))
    with pytest.raises(RuntimeError, match="has 2 different graphs; expected 1 at most"):
        double(torch.ones(3, device=device))


def test_a_compiled_function_that_branches_on_a_value_is_recorded() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        doubled = x * 2
        return doubled + 1 if doubled.sum() > 0 else doubled - 1

    recorded, x = torch_xla.compile(step), torch.ones(2, device=device)
    with pytest.warns(UserWarning, match=r"a condition: .*each call is recorded instead"):
        close(recorded(x).cpu(), torch.full((2,), 3.0))
    close(recorded(-x).cpu(), torch.full((2,), -3.0))
    with pytest.raises(TraceError, match="a condition"):
        torch_xla.compile(step, full_graph=True)(x)


def test_compile_records_a_block() -> None:
    x = torch.rand(2, device=device)
    value = x.cpu().exp()

    def block(size: int, needs_value: bool) -> torch.Tensor:
        with torch_xla.compile(full_graph=True, max_different_graphs=1, name="block"):
            y = x.repeat(size).exp()
            assert cell_of(y).pending is not None
            if needs_value and y[0] > 0:
                y = y + 1
        assert cell_of(y).read() is not None
        return y

    for _ in range(2):
        close(block(1, False).cpu(), value)
    with pytest.raises(RuntimeError, match=r"the block is more than one graph\. It was cut for .*test_one_process"):
        block(1, True)
    with pytest.raises(RuntimeError, match=r"the blocks named 'block' are 2 different graphs; expected 1 at most"):
        block(2, False)


def test_eager_mode_ends_recording() -> None:
    assert experimental.is_eager_mode()
    with experimental.eager_mode_context(False):
        assert not experimental.is_eager_mode()
        y = torch.ones(2, device=device).exp()
        assert "stablehlo.exponential" in xm.get_stablehlo([y])
        assert xm.get_stablehlo_bytecode()[:4] == b"ML\xefR"
        assert cell_of(y).pending is not None
        xm.unlazy([y])
        assert cell_of(y).read() is not None
        with pytest.raises(RuntimeError, match=r"nothing is recorded .* expected tensors of lazy mode"):
            xm.get_stablehlo([y])
    assert experimental.is_eager_mode()


def test_metrics_count_the_runs_of_recorded_programs() -> None:
    x = torch.rand(3, device=device)
    expected = x.cpu().exp() + 1
    met.clear_all()
    with experimental.eager_mode_context(False):
        for _ in range(3):
            (x.exp() + x.exp()).sum()  # nobody needs it
            y = x.exp() + 1
            torch_xla.sync()
    close(y.cpu(), expected)
    assert met.counter_value("CachedCompile") == 2
    assert met.metric_data("ExecuteTime")[0] == 3  # type: ignore[index]
    assert met.counter_value("xla::add") == 6
    assert not [name for name in met.counter_names() if name.startswith("aten::")]  # those that fall back to the host


def test_marks_that_do_not_fit_are_errors() -> None:
    mesh = xs.get_1d_mesh("data")
    assert mesh.get_logical_mesh().tolist() == [*range(mesh.size())]
    assert xs.HybridMesh(ici_mesh_shape=(2, 1), dcn_mesh_shape=(1, 2)).get_logical_mesh().tolist() == [[0, 2], [1, 3]]
    x = torch.ones(mesh.size() + 1, 2, device=device)
    uneven = r"mark_sharding: a tensor .* 8 devices do not divide dimension 0 of size 9; .* \(pad the tensor\), or None"
    with pytest.raises(ValueError, match=uneven):
        xs.mark_sharding(x, mesh, ("data", None))
    with pytest.raises(ValueError, match="the mesh has no axis 'model'"):
        xs.mark_sharding(x, mesh, ("model", None))
    with pytest.raises(ValueError, match=r"partition_spec \(0,\) of a tensor of shape \[9, 2\]"):
        xs.mark_sharding(x, mesh, (0,))
    with pytest.raises(ValueError, match=r"a tensor on cpu; expected one on the device"):
        xs.mark_sharding(x.cpu(), mesh, (0, None))
    with pytest.raises(ValueError, match="that is a part of its storage; clone it first"):
        xs.mark_sharding(x[:8], mesh, (0, None))
    with pytest.raises(ValueError, match="there is no mesh"):
        xs.mark_sharding(x, None, (0, None))
    with pytest.raises(ValueError, match="expected each once"):
        xs.Mesh([0, 0], (2,))


@pytest.mark.parametrize("lazy", [False, True])
def test_a_cleared_tensor_joins_the_mesh_of_what_it_meets(lazy: bool) -> None:
    mesh = xs.get_1d_mesh("data")
    with tenax.lazy() if lazy else nullcontext():
        filled = xs.mark_sharding(torch.zeros(mesh.size(), 2, device=device), mesh, (0, None))
        x = xs.mark_sharding(torch.ones(mesh.size(), 2, device=device), mesh, (0, None)) + 1
        for tensor in (filled, x, x[1:]):
            assert xs.clear_sharding(tensor) is tensor
            assert not isinstance(tensor, xs.XLAShardedTensor)
        assert not isinstance(x, xs.XLAShardedTensor)  # whose storage the last one shares
        y = xs.mark_sharding(torch.ones(mesh.size(), 2, device=device), mesh, (0, None))
        close((filled + x * y).cpu(), torch.full((mesh.size(), 2), 2.0))


def test_gradients_of_a_marked_tensor_are_laid_out() -> None:
    mesh = xs.get_1d_mesh("data")
    x = torch.ones(mesh.size(), 2, device=device, requires_grad=True)
    y = xs.mark_sharding_with_gradients(x * 2, mesh, (0, None))
    assert isinstance(y, xs.XLAShardedTensor) and not isinstance(x, xs.XLAShardedTensor)
    (y * y).sum().backward()
    close(x.grad.cpu(), torch.full_like(x, 8.0).detach().cpu())  # type: ignore[union-attr]


def test_an_exported_program_is_stablehlo() -> None:
    model, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    module = exported_program_to_stablehlo(torch.export.export(model, (x,)))
    assert "stablehlo.dot_general" in module.get_stablehlo_text()
    close(module(x).cpu(), model(x))
    with pytest.raises(NotImplementedError, match="method 'generate'"):
        module.get_stablehlo_text("generate")
    with pytest.raises(NotImplementedError, match="override_tracing_arguments"):
        StableHLOExportOptions(override_tracing_arguments=(x,))
    with pytest.raises(TypeError, match="got dict; expected StableHLOExportOptions"):
        exported_program_to_stablehlo(torch.export.export(model, (x,)), {})  # type: ignore[arg-type]


def test_an_exported_program_draws_other_numbers_in_each_call(tmp_path: Path) -> None:
    x = torch.ones(64)
    module = exported_program_to_stablehlo(torch.export.export(torch.nn.Dropout(), (x,)))
    module.save(tmp_path)
    for drop in (module, module.load(tmp_path)):
        torch.manual_seed(1)
        first, second = drop(x).cpu(), drop(x).cpu()
        torch.manual_seed(1)
        assert {*first.tolist()} == {0.0, 2.0} and not torch.equal(first, second)
        assert torch.equal(first, drop(x).cpu())


def test_a_sample_generator_starts_again() -> None:
    samples = xu.SampleGenerator("batch", 3)
    assert len(samples) == 3
    assert [*samples] == [*samples] == ["batch"] * 3


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.module}:{' '.join(row.names)}")
def test_each_name_of_the_table_exists(row: Row) -> None:
    module = importlib.import_module(f"tenax.compat.{row.module}")
    assert all(hasattr(module, name) and (name in vars(module) or row.status == NOT) for name in row.names)


REFUSED = [path for row in ROWS if row.status == NOT for path in row.paths]


@pytest.mark.parametrize("path", REFUSED)
def test_what_cannot_be_had_says_what_is_there_instead(path: str) -> None:
    module, _, name = path.rpartition(".")
    refused = getattr(importlib.import_module(f"tenax.compat.{module}"), name)
    with pytest.raises(NotImplementedError, match="expected"):
        refused()


def test_the_printed_table_has_every_name() -> None:
    lines = markdown().splitlines()
    assert len(lines) == len(ROWS) + 2
    assert all(f"{name}`" in line for line, row in zip(lines[2:], ROWS, strict=True) for name in row.names)


SCRIPT = """
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met, torch_xla.distributed.spmd
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP
device = xm.xla_device()
xm.RateTracker().add(3)
xm.mark_step()
print(met.metrics_report(), xm.get_stablehlo([]))
torch_xla.distributed.spmd.mark_sharding(x, mesh, spec)
xm.mark_stop()
"""


def test_doctor_lists_what_a_script_uses(tmp_path: Path) -> None:
    found = {use.name.removeprefix("torch_xla."): (use.line, use.runs) for use in uses(SCRIPT)}
    assert found == {
        "distributed.fsdp.XlaFullyShardedDataParallel": (4, True),
        "core.xla_model.xla_device": (5, True),
        "core.xla_model.RateTracker": (6, True),
        "core.xla_model.mark_step": (7, True),
        "debug.metrics.metrics_report": (8, True),
        "core.xla_model.get_stablehlo": (8, True),
        "distributed.spmd.mark_sharding": (9, True),
        "core.xla_model.mark_stop": (10, False),
    }
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    from tenax.cli import app

    result = CliRunner().invoke(app, ["doctor", "--xla", str(path)], env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert "did you mean torch_xla.core.xla_model.mark_step?" in result.output
    path.write_text("import torch_xla\nprint(torch_xla.__version__, torch_xla.runtime.global_runtime_device_count())\n")
    result = CliRunner().invoke(app, ["doctor", "--xla", str(path)], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert "…" not in result.output
