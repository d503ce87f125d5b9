"""The counters and metrics of PyTorch/XLA, for lazy, eager and compiled operations."""

from __future__ import annotations

import importlib
from typing import Any

import torch

import tenax
import tenax.compat.torch_xla as torch_xla
import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.debug.metrics as met
import tenax.compat.torch_xla.distributed.spmd as xs
from tenax.xla.program import EagerProgram
from tests.helpers.agreement import close

device = xm.xla_device()
extension: Any = importlib.import_module("tenax.compat.torch_xla._XLAC")


def samples(name: str) -> int:
    data = met.metric_data(name)
    return 0 if data is None else data[0]


def test_eager_operations_are_counted_and_timed() -> None:
    x = torch.rand(11, 13, device=device)
    tenax.synchronize()
    met.clear_all()
    for _ in range(3):
        y = torch.logsumexp(x * 2.5, 0)
    tenax.synchronize()
    close(y.cpu(), torch.logsumexp(x.cpu() * 2.5, 0))
    counters = {name: met.counter_value(name) for name in met.counter_names()}
    assert counters["xla::mul"] == 3
    assert samples("EagerOpExecuteTime") >= 6 and samples("ExecuteTime") == 0
    assert samples("EagerOpCompileTime") == samples("EagerOpExecuteTime") // 3  # only the first round compiles
    assert counters["CachedCompile"] == samples("EagerOpExecuteTime") - samples("EagerOpCompileTime")
    assert counters["UncachedCompile"] == samples("CompileTime") > 0
    times = met.metric_data("EagerOpExecuteTime")
    assert times is not None and 1e3 < times[1] < 60e9  # nanoseconds
    close(times[1], sum(value for _, value in times[2]))
    assert not [name for name in counters if name.startswith("aten::")]


def test_optimizer_steps_and_gradients_of_eager_mode_are_counted() -> None:
    layer = torch.nn.Linear(5, 3).to(device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    met.clear_all()
    for _ in range(2):
        optimizer.zero_grad()
        layer(torch.ones(2, 5, device=device)).sum().backward()
        optimizer.step()
    tenax.synchronize()
    assert met.counter_value("xla::mm") == met.counter_value("xla::addmm") == 2
    assert "Counter: CachedCompile" in met.short_metrics_report()


def test_operations_on_a_mesh_and_on_other_devices_are_counted() -> None:
    mesh = xs.get_1d_mesh("data")
    x = xs.mark_sharding(torch.ones(mesh.size(), 7, device=device), mesh, ("data", None))
    for y in x, torch.ones(3, 7, device="jax:1"):
        met.clear_all()
        for _ in range(3):
            y = torch.atan(y * 3.25)
        y.add_(1)
        assert samples("EagerOpExecuteTime") == 7 and samples("EagerOpCompileTime") == 3
        assert met.counter_value("xla::atan") == 3 and met.counter_value("xla::add_") == 1


def test_reading_a_value_is_the_only_operation_of_the_host() -> None:
    x = torch.ones(3, device=device)
    met.clear_all()
    x.tolist()
    assert met.executed_fallback_ops() == []
    assert x.sum().item() == 3
    if x[0] > 0:
        x += 1
    assert met.counter_value("aten::_local_scalar_dense") == 2
    for report in (met.metrics_report(), met.short_metrics_report()):
        assert "Counter: aten::_local_scalar_dense\n  Value: 2\n" in report


def test_counters_and_metrics_are_cleared_apart() -> None:
    extension._xla_increment_counter("Mine", 3)
    torch.ones(3).to(device)
    met.clear_counters()
    assert met.counter_names() == [] and "TransferToDeviceTime" in met.metric_names()
    extension._xla_increment_counter("Mine", 3)
    met.clear_metrics()
    assert met.counter_value("Mine") == 3 and met.metric_names() == []


def test_an_operation_within_a_compiled_function_is_no_eager_one() -> None:
    function = torch_xla.compile(lambda x: (x @ x).sum())
    x = torch.ones(7, 7, device=device)
    function(x)
    met.clear_all()
    function(x)
    assert samples("ExecuteTime") == 1 and samples("EagerOpExecuteTime") == 0
    assert met.counter_value("CachedCompile") == 1


def test_eager_dispatch_pays_nothing_where_nobody_observes() -> None:
    observer, EagerProgram.observer = EagerProgram.observer, None
    try:
        x = torch.ones(17, 19, device=device)
        met.clear_all()
        (x * 3.5).sum()
        assert samples("EagerOpExecuteTime") == 0
    finally:
        EagerProgram.observer = observer
