"""What programs of PyTorch/XLA see after `install()`: devices, constants of graphs, channels and missing names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.torch_xla.test_scripts import assert_passes

pytestmark = pytest.mark.slow

CONSTANTS = """
import torch, torch_xla, torch.distributed as dist
import torch_xla.core.xla_model as xm, torch_xla.runtime as xr, torch_xla.distributed.data_parallel as dp

NAMES = (
    "world_size global_ordinal local_ordinal device_type is_spmd using_pjrt process_count process_index host_index "
    "addressable_device_count global_device_count global_runtime_device_count local_device_count local_process_count"
).split()

def numbers(x):
    found = [getattr(xr, name)() for name in NAMES]
    return x / xm.xrt_world_size(), *found, xm.get_ordinal(), xm.get_local_ordinal(), xm.is_master_ordinal()

def scaled(x):
    return x * xr.world_size() + xr.global_ordinal()

def main(index):
    x = torch.full((2,), 8.0, device="xla")
    plain, found = numbers(x), torch.compile(numbers, backend="openxla", fullgraph=True)(x)
    assert torch.equal(plain[0], found[0]) and plain[1:] == found[1:], (plain, found)
    compiled = torch.compile(scaled, backend="openxla", fullgraph=True)
    assert compiled(x).tolist() == [16.0 + index] * 2
    dist.init_process_group("xla", init_method="xla://")
    assert compiled(x).tolist() == [16.0 + index] * 2

def threads():
    parts = torch.compile(scaled, backend="openxla")
    whole = torch.compile(lambda x: scaled(x), backend="openxla", fullgraph=True)
    def step(model, loader, device, context):
        x = torch.ones(2, device=device)
        assert device == x.device == context.device, (device, x.device)
        return parts(x).tolist()
    found = dp.DataParallel(torch.nn.Linear(1, 1), ["xla:0", "xla:1"])(step, [torch.ones(1)] * 2)
    assert found == [[2, 2], [3, 3]], found
    try:
        whole(torch.ones(2, device="xla"))
    except RuntimeError as error:
        assert "differs among the threads of DataParallel" in str(error)
    else:
        raise AssertionError

if __name__ == "__main__":
    torch_xla.launch(main)
    threads()
"""


DEVICES = """
import torch, torch_xla, torch_xla.core.xla_model as xm, torch_xla.distributed.data_parallel as dp
from torch._dynamo.utils import counters

def created(x):
    a, b = torch.ones(2, device=xm.xla_device()), x.to(torch_xla.device())
    assert xm.is_xla_tensor(a) and torch_xla.device_count() == len(torch_xla.devices()) == 2
    return (a + b) * (2 if a.device == torch_xla.device() else 3), xm.xla_device(), torch_xla.device(1)

def place(x):
    return torch.ones(1, device=torch_xla.device()) * 2

compiled = torch.compile(created, backend="openxla", fullgraph=True)
for index in (0, 1, 0):
    torch.jax.set_device(index)
    sum_, device, other = compiled(torch.ones(2))
    assert sum_.tolist() == [4.0, 4.0] and sum_.device == device == torch.device("xla", index), (sum_.device, device)
    assert other == torch.device("xla", 1)
assert counters["stats"]["unique_graphs"] == 2 and not counters["graph_break"], counters
torch.jax.set_device(0)

def step(model, loader, device, context):
    return parts(torch.ones(1)).device == device

parts = torch.compile(place, backend="openxla")
assert dp.DataParallel(torch.nn.Linear(1, 1), ["xla:0", "xla:1"])(step, [torch.ones(1)] * 2) == [True, True]
"""


CONFIGURED = """
import os, torch_xla, torch_xla.core.xla_model as xm, torch_xla.distributed.spmd as xs, torch_xla.runtime as xr

os.environ |= {"PJRT_DEVICE": "CPU", "CPU_NUM_DEVICES": "3"}
xr.use_spmd()
assert os.environ["XLA_USE_SPMD"] == "1"
assert xs.get_1d_mesh().mesh_shape == (3,)
assert xr.global_runtime_device_count() == len(torch_xla.devices()) == 3
xm.set_replication(torch_xla.device(), torch_xla.devices())  # as Accelerate does
"""


def test_the_environment_is_read_at_the_first_use_of_a_device(tmp_path: Path) -> None:
    assert_passes(tmp_path, CONFIGURED)


def test_devices_are_constants_of_a_compiled_graph(tmp_path: Path) -> None:
    assert_passes(tmp_path, DEVICES, CPU_NUM_DEVICES="2")


def test_ordinals_and_counts_are_constants_of_a_compiled_graph(tmp_path: Path) -> None:
    assert_passes(tmp_path, CONSTANTS, CPU_NUM_DEVICES="2")


SHOWN = """
import copy, io, torch, torch_xla, torch_xla.core.xla_model as xm

x = torch.ones(2, device="xla")
assert x.device.type == "xla" and str(x.device) == "xla:0" and x.is_xla and repr(x).endswith("device='xla:0')")
assert x.device == xm.xla_device() == torch_xla.device() == torch_xla.devices()[0] == torch.device("xla:0")
assert not torch.ones(1).is_xla and torch.ones(1).device == torch.device("cpu")
for y in (torch.nn.Parameter(x), torch.zeros(2, device=x.device), torch.ones(2).to(x.device), x.new_ones(1)):
    assert y.device.type == "xla", y.device
assert x.to(x.device) is x and xm.is_xla_tensor(x)
model = torch.nn.Linear(2, 2).to(xm.xla_device())
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
for _ in range(2):
    with torch.autocast(device_type=x.device.type):
        assert model(x).dtype == torch.bfloat16
    model(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
scaler = torch.amp.GradScaler(x.device.type)
scaler.scale(model(x).sum()).backward()
scaler.step(optimizer)
scaler.update()
file = io.BytesIO()
torch.save(copy.deepcopy(model).state_dict(), file)
file.seek(0)
assert torch.load(file, map_location=x.device)["weight"].device == x.device
assert torch.randn(2, generator=torch.Generator(device=x.device), device=x.device).is_xla
with torch.device(x.device):
    assert torch.ones(1).is_xla

def branch(x):
    return x + torch.ones(2, device="xla") if x.device.type == "xla" else x - torch.zeros(2, device=x.device)

def moved(x):
    return x.to("xla:0") + torch.arange(2, device=x.device) + torch.tensor([1.0, 2.0]).to(x.device)

for function in (branch, moved):
    expected = function(x).tolist()
    for backend in ("openxla", "tenax", "eager"):
        torch._dynamo.reset()
        assert torch.compile(function, backend=backend, fullgraph=True)(x).tolist() == expected, backend
    assert torch_xla.compile(function)(x).tolist() == expected
"""


@pytest.mark.parametrize("lazy", ["0", "1"])
def test_programs_see_devices_of_type_xla(lazy: str, tmp_path: Path) -> None:
    assert_passes(tmp_path, SHOWN, TENAX_LAZY=lazy)


PROCESSES = """
import torch, torch_xla, torch_xla.runtime as xr
import torch_xla.experimental.pjrt_backend, torch.distributed as dist
from torch_xla._internal import pjrt

def group(offset):
    dist.init_process_group("xla", init_method="pjrt://")
    dist.all_reduce(x := torch.ones(1, device="xla"))
    return xr.global_ordinal() + offset, x.cpu()

if __name__ == "__main__":
    results = pjrt.run_multiprocess(group, 5)
    assert {rank: (n, x.item()) for rank, (n, x) in results.items()} == {0: (5, 3.0), 1: (6, 3.0), 2: (7, 3.0)}
"""


def test_processes_return_their_results(tmp_path: Path) -> None:
    assert_passes(tmp_path, PROCESSES, CPU_NUM_DEVICES="3")


MISSING = """
import sys
import torch_xla, torch_xla.core.xla_model as xm
import torch_xla.experimental.plugins as plugins, torch_xla.experimental.pallas_kernels.quantized_matmul_kernel
from torch_xla.core.xla_builder import Op
from torch_xla.experimental import triton, xla_marker
from torch_xla.experimental.custom_kernel import trace_pallas

def refused(path, use):
    try:
        use()
    except NotImplementedError as error:
        assert str(error).startswith(f"torch_xla.{path}: tenax lacks") and "expected" in str(error), error
    else:
        raise AssertionError(path)

class Plugin(plugins.DevicePlugin):
    pass

refused("experimental.plugins.DevicePlugin", plugins.DevicePlugin)
refused("experimental.plugins.DevicePlugin", Plugin)
refused("experimental.custom_kernel.trace_pallas", lambda: trace_pallas(1))
refused("core.xla_builder.Op", lambda: Op(1))
refused("experimental.triton.triton_call", lambda: triton.triton_call(1))
refused("core.xla_model.XLA_LIB", lambda: xm.XLA_LIB.define("f(Tensor x) -> Tensor"))
assert plugins is sys.modules["torch_xla.experimental.plugins"] is torch_xla.experimental.plugins
for module in (plugins, xm, torch_xla):
    assert not hasattr(module, "nothing")
import torch_xla.torch_xla, torch_xla.version
from torch_xla.experimental.distributed_checkpoint.manager import CheckpointManager
from torch_xla.amp.syncfree.adamw import AdamW
assert torch_xla.torch_xla.sync is torch_xla.sync and torch_xla.version.__version__ == torch_xla.__version__
"""


def test_a_name_that_is_missing_can_be_imported_and_raises_when_it_is_used(tmp_path: Path) -> None:
    assert_passes(tmp_path, MISSING)
