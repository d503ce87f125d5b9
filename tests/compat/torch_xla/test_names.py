"""What single names of PyTorch/XLA do, as its documentation and its signatures say."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

import tenax
import tenax.compat.statistics as statistics
import tenax.compat.torch_xla as torch_xla
import tenax.compat.torch_xla.amp as amp
import tenax.compat.torch_xla.backends as backends
import tenax.compat.torch_xla.core.dynamo_bridge as dynamo_bridge
import tenax.compat.torch_xla.core.xla_builder as xla_builder
import tenax.compat.torch_xla.core.xla_env_vars as xla_env_vars
import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.debug.metrics as met
import tenax.compat.torch_xla.distributed.spmd as xs
import tenax.compat.torch_xla.experimental.scan as scanning
import tenax.compat.torch_xla.runtime as xr
import tenax.compat.torch_xla.stablehlo as stablehlo
import tenax.compat.torch_xla.utils.dlpack as dlpack
import tenax.compat.torch_xla.utils.serialization as serialization
from tenax._lazy import programs
from tenax.compat.torch_xla.distributed import data_parallel, parallel_loader
from tenax.compat.torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
from tenax.compat.torch_xla.experimental.assume_pure import assume_pure
from tenax.compat.torch_xla.experimental.scan_layers import scan_layers
from tenax.compat.torch_xla.experimental.splash_attention import splash_attention
from tenax.compat.torch_xla.experimental.stablehlo_custom_call import place_to_device, place_to_host
from tests.helpers.agreement import close

device = xm.xla_device()

SIGNATURES: list[tuple[Any, str]] = [
    (xm.all_reduce, "reduce_type, inputs, scale=1.0, groups=None, pin_layout=True"),
    (xm.optimizer_step, "optimizer, barrier=False, optimizer_args=None, groups=None, pin_layout=True"),
    (xm.save, "data, file_or_path, master_only=True, global_master=False"),
    (met.counter_value, "name"),
    (met.metric_data, "name"),
    (scanning.scan, "fn, init, xs, partition_fn=None, is_fn_pure=False"),
    (splash_attention, "q, k, v, config, decoder_segment_ids=None, causal=True, attn_logits_soft_cap=None"),
    (place_to_host, "t"),
    (serialization.save, "data, path, master_only=True, global_master=False"),
    (xla_builder.call_jax, "jax_func, args, kwargs=None, name=None, override_hash=None, name_override=None"),
    (
        parallel_loader.ParallelLoader,
        "loader, devices, batchdim=0, batches_per_execution=1, loader_prefetch_size=16, device_prefetch_size=8, "
        "host_to_device_transfer_threads=1, input_sharding=None, fixed_batch_size=False",
    ),
    (
        ZeroRedundancyOptimizer,
        "params, optimizer_class, optimizer_dtype=None, grad_clipping=True, max_norm=None, pin_layout=True, "
        "sharding_groups=None, grad_norm_groups=None, lazy_init=False, bucket_cap_mb_all_gather=0, "
        "bucket_cap_mb_reduce_scatter=0, use_grad_acc_hook=False, save_master_weights=False, "
        "higher_cc_precision=False, defaults",
    ),
]


@pytest.mark.parametrize(("function", "expected"), SIGNATURES, ids=lambda value: getattr(value, "__name__", ""))
def test_arguments_are_those_of_pytorch_xla(function: Any, expected: str) -> None:
    found = inspect.signature(function).parameters.values()
    assert ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in found) == expected


def test_transfers_are_counted_wherever_they_are_made() -> None:
    met.clear_all()
    x = torch.ones(3).to(device)
    x.cpu(), x.sum().item(), x.numpy(force=True)
    times, sizes = met.metric_data("TransferFromDeviceTime"), met.metric_data("InboundData")
    assert times is not None and times[0] == 3
    assert sizes is not None and [size for _, size in sizes[2]] == [12, 4, 12]
    sent = met.metric_data("OutboundData")
    assert sent is not None and sent[2][0][1] == 12
    for _ in range(2000):
        statistics.record("ManySamples", 1.0)
    count, total, samples = met.metric_data("ManySamples")  # type: ignore[misc]
    assert (count, total, len(samples)) == (2000, 2000.0, 1024)
    assert "Metric: TransferToDeviceTime\n  TotalSamples: " in met.metrics_report()


def test_gradients_are_reduced_by_hand_as_the_guide_shows() -> None:
    p = nn.Parameter(torch.ones(2, device=device))
    optimizer = torch.optim.SGD([p], lr=0.5)
    assert xm._fetch_gradients(optimizer) == []
    p.grad = torch.ones_like(p)
    gradients = xm._fetch_gradients(optimizer)
    xm.all_reduce("sum", gradients, 0.5)
    close(p.grad.cpu(), torch.full((2,), 0.5))


def test_random_numbers_are_put_back() -> None:
    with xm.fork_rng():
        first = torch.rand(3, device=device)
    assert torch.equal(torch.rand(3, device=device), first)
    with xm.fork_rng(enabled=False):
        second = torch.rand(3, device=device)
    assert not torch.equal(torch.rand(3, device=device), second)


def test_the_precision_of_products_has_names_of_jax() -> None:
    before = torch.get_float32_matmul_precision()
    try:
        for name in ("default", "high", "highest"):
            backends.set_mat_mul_precision(name)
            assert backends.get_mat_mul_precision() == name
    finally:
        torch.set_float32_matmul_precision(before)
    with pytest.raises(ValueError, match=r"Invalid precision: medium\. Must be one of default, high, highest"):
        backends.set_mat_mul_precision("medium")


def test_data_parallel_passes_options_to_the_loader_and_the_loop() -> None:
    network = data_parallel.DataParallel(nn.Linear(1, 1), ["xla:0"], batches_per_execution=2)
    seen = network(lambda model, loader, device, context, scale: [scale * len(x) for x in loader], [[1], [2]], scale=3)
    assert seen == [[3, 3]]


@pytest.mark.parametrize("use_zero_grad", [False, True])
def test_a_scaler_skips_a_step_or_takes_it_with_gradients_of_zero(use_zero_grad: bool) -> None:
    parameter = nn.Parameter(torch.ones(2, device=device))
    optimizer = torch.optim.SGD([parameter], lr=0.5, weight_decay=0.5)
    scaler = amp.GradScaler(init_scale=4.0, use_zero_grad=use_zero_grad)
    scales, expected = [], 1.0
    for factor in (1.0, float("inf"), 1.0):
        optimizer.zero_grad()
        scaler.scale((parameter * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        if factor == 1:
            expected -= 0.5 * (1 + 0.5 * expected)
        elif use_zero_grad:  # weight decay alone
            expected -= 0.5 * 0.5 * expected
        close(parameter.detach(), torch.full((2,), expected))
    assert scales == [4.0, 2.0, 2.0]


def test_a_tensor_moves_to_the_memory_of_the_host_and_back() -> None:
    x = torch.arange(4.0, device=device, requires_grad=True)

    def product(x: torch.Tensor) -> torch.Tensor:
        return (place_to_device(place_to_host(x * 2)) * x).sum()  # type: ignore[operator]

    held = place_to_host(x)
    assert held is not None and held.jax().sharding.memory_kind == "pinned_host"
    close(held.detach().cpu(), x.detach().cpu())
    product(x).backward()
    close(x.grad, 4 * x.detach())
    close(tenax.jit(product)(x.detach()).cpu(), 2 * x.detach().square().sum().cpu())
    assert place_to_host(None) is None
    with pytest.raises(ValueError, match="memory_space of all inputs passed to `mul` must be the same"):
        held * x


def test_the_platform_is_chosen_before_jax_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.ones(1, device="jax").item()
    xr.set_device_type("cpu")
    for started, wanted in (("cpu", "TPU"), ("cpu", "GPU"), ("gpu", "CPU"), ("gpu", "TPU")):
        monkeypatch.setattr("jax.default_backend", lambda started=started: started)
        with pytest.raises(RuntimeError, match=f"JAX has started on {started}"):
            xr.set_device_type(wanted)
    monkeypatch.setattr("jax.default_backend", lambda: "gpu")
    xr.set_device_type("CUDA")
    with pytest.raises(ValueError, match="expected one of CPU"):
        xr.set_device_type("NPU")


def test_autocast_is_in_bfloat16_unless_it_is_told_otherwise() -> None:
    x, linear = torch.ones(2, 2, device=device), nn.Linear(2, 2).to(device)
    for context in (torch.autocast("xla"), amp.autocast(device)):
        with context:
            assert linear(x).dtype == torch.bfloat16
    with torch.autocast("xla", torch.float16), torch.autocast("xla", enabled=False):
        assert linear(x).dtype == torch.float32
    with amp.autocast(device, dtype=torch.float16):
        assert linear(x).dtype == torch.float16


def states() -> tuple[bool, torch.dtype, bool, torch.dtype]:
    of_jax = torch.is_autocast_enabled("jax"), torch.get_autocast_dtype("jax")
    return torch.is_autocast_enabled("xla"), torch.get_autocast_dtype("xla"), *of_jax


def test_the_state_of_autocast_is_that_of_type_xla() -> None:
    x = torch.ones(2, 2, device=device)
    outside = states()
    assert outside[:2] == (False, torch.bfloat16)
    for context in (torch.autocast("xla", torch.float16), amp.autocast(device, dtype=torch.float16)):
        with context:
            assert states() == (True, torch.float16) * 2
            with torch.autocast("xla", enabled=False):
                assert states() == (False, torch.float16) * 2
            assert states() == (True, torch.float16) * 2 and (x @ x).dtype == torch.float16
        assert states() == outside
    for enable in (partial(torch.set_autocast_enabled, "xla"), torch.set_autocast_xla_enabled):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            enable(True)
        assert states() == (True, torch.bfloat16) * 2 and (x @ x).dtype == torch.bfloat16
        torch.set_autocast_dtype(device_type="xla", dtype=torch.float16)
        assert (x @ x).dtype == torch.float16
        torch.set_autocast_dtype("xla", torch.bfloat16)
        torch.set_autocast_enabled("xla", False)
        assert (x @ x).dtype == torch.float32

    def scaled(x: torch.Tensor) -> Any:
        with torch.autocast("xla"):
            return x @ x, torch.is_autocast_enabled("xla")

    found, enabled = torch.compile(scaled, backend="tenax", fullgraph=True)(x)
    assert enabled and found.dtype == torch.bfloat16 and states()[0] is False


def test_a_pure_function_is_traced_again_for_other_values() -> None:
    traced: list[Any] = []

    def power(x: torch.Tensor, n: int, how: str = "up") -> torch.Tensor:
        traced.append((n, how))
        return x**n if how == "up" else x.expand(n, *x.shape)

    pure = assume_pure(power)
    x = torch.full((3,), 2.0, device=device, requires_grad=True)
    for _ in range(2):
        assert pure(x, 3).tolist() == [8] * 3
        assert pure(x, n=2, how="out").shape == (2, 3)
    (slope,) = torch.autograd.grad(pure(x, 3).sum(), x)
    assert slope.tolist() == [12] * 3
    assert traced == [(3, "up"), (2, "out")]


def test_a_pure_function_draws_from_a_seed() -> None:
    drop = assume_pure(lambda x: nn.functional.dropout(x, 0.5), add_rng_seed_argument=True)
    x = torch.ones(100, device=device)
    first, again, other = (drop(x, rng_seed=seed).tolist() for seed in (1, torch.tensor(1, device=device), 2))
    assert first == again != other and {*first} == {0, 2}
    with pytest.raises(TypeError, match="expected the keyword argument rng_seed"):
        drop(x)


def test_pure_layers_are_traced_once() -> None:
    calls: list[bool] = []

    class Layer(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            calls.append(self.training)
            return super().forward(x)

    layers = nn.ModuleList(Layer(3, 3) for _ in range(3)).to(device)
    x = torch.randn(2, 3).to(device)
    expected = layers[2](layers[1](layers[0](x)))
    calls.clear()
    with torch.no_grad():
        for _ in range(3):
            close(scan_layers(layers, x, is_layer_pure=True), expected)
        traced = len(calls)
        layers.eval()
        scan_layers(layers, x, is_layer_pure=True)
    assert traced < 3 and calls[-1] is False


def test_a_bool_after_the_batch_dimension_fixes_the_batch_size() -> None:
    batches = [torch.ones(2), torch.ones(2), torch.ones(1), torch.ones(2)]
    found = [len(x) for x in parallel_loader.ParallelLoader(batches, [device], 0, True).per_device_loader(device)]
    assert found == [2, 2]


def test_the_peak_of_the_memory_is_known() -> None:
    x = torch.ones(1000).to(device)
    info = xm.get_memory_info()
    assert info["bytes_limit"] > info["peak_bytes_used"] >= info["bytes_used"] >= x.nbytes


def test_programs_in_memory_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_programs", OrderedDict())  # other tests may have filled it to its limit
    xm.mark_step()
    counts = [xr.get_num_cached_compilation_graph()]
    for length in (711, 711, 712):
        with tenax.lazy():
            (torch.ones(length, device=device) * 2 + 1).sum().item()
        counts.append(xr.get_num_cached_compilation_graph())
    assert counts[1] > counts[0]
    assert counts[2] == counts[1] < counts[3]
    x = torch.ones(713, device=device)
    graph = make_fx(lambda x: (x * 3 - 2,))(x)
    run = dynamo_bridge.extract_compiled_graph(graph, [x])  # what torch's backend "openxla" calls
    assert run(x)[0].sum().item() == 713
    assert xr.get_num_cached_compilation_graph() == counts[3] + 1


def test_tensors_are_exchanged_by_capsules() -> None:
    x = torch.arange(6.0, device=device).view(2, 3)
    back = dlpack.from_dlpack(dlpack.to_dlpack(x))
    assert back.device == x.device and torch.equal(back, x)
    source = np.arange(3)
    array = dlpack.from_dlpack(source)
    source[0] = 7
    assert array.device == x.device and array.tolist() == [0, 1, 2]

    class Elsewhere:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    with pytest.raises(ValueError, match="currently only supports CPU"):
        dlpack.from_dlpack(Elsewhere())


def test_trees_are_converted_to_the_cpu() -> None:
    x = torch.ones(2, device=device)
    tree = {"x": x, "n": 3}
    assert xm._maybe_convert_to_cpu(tree, convert=False) is tree
    assert xm._maybe_convert_to_cpu(tree)["x"].device.type == "cpu"


def test_a_model_is_saved_by_the_package_itself(tmp_path: Path) -> None:
    model, x = nn.Linear(2, 2), torch.ones(1, 2)
    torch_xla.save_torch_model_as_stablehlo(model, (x,), str(tmp_path))
    close(stablehlo.StableHLOGraphModule.load(tmp_path)(x), model(x).to(device))
    torch_xla.save_as_stablehlo(torch.export.export(model, (x,)), tmp_path / "again")
    assert (tmp_path / "again" / "program.mlir").exists()


def test_functions_of_the_extension_module_are_there() -> None:
    extension: Any = importlib.import_module("tenax.compat.torch_xla._XLAC")
    assert torch_xla._XLAC is extension
    assert extension._xla_get_devices()[0] == extension._xla_get_default_device() == "jax:0"
    assert extension._xla_real_devices([]) == xm.xla_real_devices() == extension._xla_real_devices(["jax:0", *REST])
    assert extension._xla_num_devices() == len(xm.xla_real_devices())
    x = torch.ones(2, device="jax")
    numbers = [extension._xla_get_tensor_id(t) for t in (x, x[1:], x + 1)]
    assert numbers[0] == numbers[1] != numbers[2]
    extension._xla_set_rng_seed(3)
    assert extension._xla_get_rng_seed() == 3
    met.clear_all()
    with tenax.lazy():
        x = torch.ones(2, device=device) + 1
        assert "HloModule" in extension._get_xla_tensors_hlo([x])
        extension._xla_sync_multi([x], [])
        extension._xla_step_marker("xla:0", [])
        extension._xla_wait_device_ops([])
    assert extension._xla_counter_value("MarkStep") == 1
    mesh = xs.Mesh(np.arange(8), (8,), ("data",))
    assert extension._get_xla_sharding_spec(x) == ""
    assert extension._get_xla_sharding_spec(xs.mark_sharding(torch.ones(8, device=device), mesh, ("data",))) == (
        "{devices=[8]0,1,2,3,4,5,6,7}"
    )
    assert not hasattr(extension, "_xla_nothing")
    assert xla_env_vars.PJRT_DEVICE == "PJRT_DEVICE"


REST = [f"jax:{i}" for i in range(1, 8)]


def test_a_rendezvous_has_the_ordinals_that_it_names() -> None:
    assert xm.xla_rendezvous(b"x", [0], "tag") == xm.xla_rendezvous(b"x") == [b"x"]
    with pytest.raises(ValueError, match=r"of ordinal 0: expected an ordinal among replicas=\[1\]"):
        xm.xla_rendezvous(b"x", [1])

    def met(model: Any, loader: Any, device: torch.device, context: Any) -> list[bytes]:
        mine = [2, 0] if device.index % 2 == 0 else [1, 3]
        return xm.rendezvous(f"half {mine}", str(device.index).encode(), mine)

    halves = [[b"2", b"0"], [b"1", b"3"]] * 2
    assert data_parallel.DataParallel(nn.Linear(1, 1), [f"xla:{i}" for i in range(4)])(met, []) == halves


def test_a_random_state_is_restored_where_it_was_read() -> None:
    xm.set_rng_state(7)
    assert xm.get_rng_state() == 7
    first = torch.rand(3, device=device)
    state = xm.get_rng_state()
    second = torch.rand(3, device=device)
    xm.set_rng_state(state)
    assert torch.equal(torch.rand(3, device=device), second)
    xm.set_rng_state(7)
    assert torch.equal(torch.rand(3, device=device), first)


def test_runs_of_compiled_functions_are_metrics() -> None:
    function = torch_xla.compile(lambda x: (x @ x).sum())
    met.clear_all()
    for _ in range(3):
        function(torch.ones(5, 5, device=device))
    assert met.metric_data("ExecuteTime")[0] == 3  # type: ignore[index]
    assert met.counter_value("CachedCompile") == 2


def test_a_saved_program_is_loaded_and_called(tmp_path: Path) -> None:
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    saved = stablehlo.save_as_stablehlo(torch.export.export(model, (x,)), tmp_path)
    loaded = stablehlo.StableHLOGraphModule.load(tmp_path)
    for found in (loaded(x), loaded.evaluate("forward", (x,)), saved.evaluate("forward", [x.to(device)])):
        close(found.cpu(), model(x).detach())
    for method in (loaded.get_stablehlo_text, loaded.get_stablehlo_bytecode, lambda: loaded.save(tmp_path)):
        with pytest.raises(NotImplementedError, match="of a module that was loaded"):
            method()
    with pytest.raises(NotImplementedError, match="method 'backward'"):
        loaded.evaluate("backward", (x,))
    with pytest.raises(FileNotFoundError):
        stablehlo.StableHLOGraphModule.load(tmp_path / "none")
