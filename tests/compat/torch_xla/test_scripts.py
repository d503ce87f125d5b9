"""Scripts that were written for PyTorch/XLA run unmodified by `tenax xla`, with the losses of CPU torch."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.compat.torch_xla.scripts.models import trained_on_the_cpu
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED, LOSSES

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).with_name("scripts")
RUN = "from tenax.cli import app; import sys; app(sys.argv[1:], prog_name='tenax')"


def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`tenax xla` with arguments, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", RUN, "xla", *args]
    flags = [f for f in os.environ.get("XLA_FLAGS", "").split() if "device_count" not in f]  # the variables say it
    env = {**os.environ, "XLA_FLAGS": " ".join(flags), **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)


def assert_passes(folder: Path, text: str, **environment: str) -> None:
    """Run a script that checks its own results."""
    script = folder / "script.py"
    script.write_text(text)
    done = run(str(script), **environment)
    assert done.returncode == 0, done.stderr


@functools.cache
def reference(name: str) -> dict[str, Any]:
    return trained_on_the_cpu(name)


@pytest.mark.parametrize(
    ("script", "model", "how", "devices", "lazy"),
    [
        ("single_device", "bert", [], 1, True),
        ("single_device", "bert", [], 1, False),
        ("processes", "mnist", ["spawn"], 2, True),
        ("processes", "mnist", ["spawn"], 4, True),
        ("processes", "resnet", ["launch"], 1, True),
        ("data_parallel", "mnist", [], 4, True),
        ("data_parallel", "mnist", [], 4, False),
        ("spmd", "llama", ["mark"], 4, True),
        ("spmd", "llama", ["fsdp"], 4, True),
        ("process_group", "mnist", ["ddp"], 2, True),
        ("process_group", "mnist", ["fsdp"], 1, True),
        ("fsdp_checkpoint", "llama", [], 2, True),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value),
)
def test_a_script_trains_as_on_the_cpu(
    script: str, model: str, how: list[str], devices: int, lazy: bool, tmp_path: Path
) -> None:
    path = tmp_path / "trained.pt"
    arguments = str(SCRIPTS / f"{script}.py"), model, str(path), *how
    done = run(*arguments, CPU_NUM_DEVICES=str(devices), TENAX_LAZY=str(int(lazy)))
    assert done.returncode == 0, done.stderr
    found, expected = torch.load(path, weights_only=True), reference(model)
    close(found["losses"], expected["losses"], LOSSES)
    close(dict(found["model"]), dict(expected["model"]), ACCUMULATED)


FAILING = """
import sys, torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_multiprocessing as xmp

def bad(index):
    if index == 1:
        raise ValueError("rank 1 is bad")
    xm.rendezvous("never")

def missing(index):
    if index == 0:
        xm.rendezvous("here")

if __name__ == "__main__":
    torch_xla.launch({"bad": bad, "missing": missing}[sys.argv[1]])
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [("bad", "ValueError: rank 1 is bad"), ("missing", "rank 1 called")],
)
def test_a_rank_that_fails_or_does_not_come_is_an_error(name: str, text: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FAILING)
    done = run(str(script), name, CPU_NUM_DEVICES="2", TENAX_XLA_TIMEOUT="30")
    assert done.returncode == 1
    assert text in done.stderr


def test_a_script_that_raises_shows_its_own_traceback(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import torch_xla.core.xla_model as xm\nimport sys\nprint(sys.argv)\nxm.xla_device(99)\n")
    done = run(str(script), "--flag", "x")
    assert done.returncode == 1
    assert done.stdout == f"['{script}', '--flag', 'x']\n"
    first, line, *_ = done.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert line == f'  File "{script}", line 4, in <module>'
    assert "invalid device ordinal 99" in done.stderr


def test_without_install_torch_xla_is_not_there() -> None:
    code = "import torch, tenax.compat.torch_xla, torch_xla"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'torch_xla'\n")


SHARDED = """
import torch, torch_xla
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP

def main(index):
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3, affine=False))
    weight, x = layer[0].weight.detach().clone(), torch.randn(6, 4)
    model = FSDP(layer, compute_dtype=torch.bfloat16, buffer_dtype=torch.float32, fp32_reduce_scatter=True)
    model.eval()
    y = model(x.to("xla"))
    assert y.dtype == torch.bfloat16, y.dtype
    assert model.module[1].running_mean.dtype == torch.float32
    y.sum().backward()
    (parameter, _) = model.parameters()
    assert parameter.dtype == parameter.grad.dtype == torch.float32
    half = weight.bfloat16().requires_grad_()
    bias = torch.zeros(3, dtype=torch.bfloat16)
    expected = torch.autograd.grad(torch.nn.functional.linear(x.bfloat16(), half, bias).sum(), half)[0].float()
    torch.testing.assert_close(parameter.grad.full_tensor().cpu(), expected, rtol=2e-2, atol=2e-2)
    half = FSDP(torch.nn.BatchNorm1d(3), compute_dtype=torch.bfloat16)
    assert half.module.running_mean.dtype == torch.bfloat16

if __name__ == "__main__":
    torch_xla.launch(main)
"""


def test_fsdp_computes_in_the_dtype_that_it_is_given(tmp_path: Path) -> None:
    assert_passes(tmp_path, SHARDED, CPU_NUM_DEVICES="2")


FACTORS = """
import torch, torch_xla
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer

def gradients(model):
    model(torch.ones(2, 4, device="xla")).sum().backward()
    return [p.grad.full_tensor().cpu() for p in model.parameters()]

def main(index):
    torch.manual_seed(0)
    def made():
        return FSDP(torch.nn.Sequential(FSDP(torch.nn.Linear(4, 2)), torch.nn.Linear(2, 2)))
    averaged = gradients(made())
    for recursive in (True, False):
        torch.manual_seed(0)
        model = made()
        model.set_gradient_divide_factors(2.0, 4.0, recursive=recursive)
        for i, (found, mean) in enumerate(zip(gradients(model), averaged, strict=True)):
            torch.testing.assert_close(found, mean / 4 if recursive or i > 1 else mean)
    layer = torch.nn.Linear(2, 2).to("xla")
    optimizer = ZeroRedundancyOptimizer(layer.parameters(), torch.optim.SGD, lr=0.1)
    layer(torch.ones(2, device="xla")).sum().backward()
    optimizer.zero_grad()
    assert layer.bias.grad.tolist() == [0, 0]
    optimizer.zero_grad(set_to_none=True)
    assert layer.bias.grad is None
    def closure():
        optimizer.zero_grad()
        loss = (layer(torch.ones(2, device="xla")) * (index + 1)).sum() / 100
        loss.backward()
        return loss
    before = layer.bias.detach().clone()
    assert optimizer.step(closure) is not None
    torch.testing.assert_close(layer.bias.detach(), before - 0.1 * 0.015)

if __name__ == "__main__":
    torch_xla.launch(main)
"""


def test_gradients_of_sharded_models_are_divided_and_zeroed_as_there(tmp_path: Path) -> None:
    assert_passes(tmp_path, FACTORS, CPU_NUM_DEVICES="2")


ATTRIBUTES = """
import torch_xla
torch_xla.experimental.eager_mode(True)
assert torch_xla.experimental.is_eager_mode() and torch_xla.runtime.world_size() == 1
assert torch_xla.debug.metrics.counter_value("MarkStep") is None
assert torch_xla.distributed.spmd.debugging.visualize_sharding and torch_xla.amp.syncfree.SGD
assert torch_xla.core.xla_model.xla_device() == torch_xla.device()
for module in (torch_xla, torch_xla.core, torch_xla.distributed.spmd):
    try:
        module.nothing
    except AttributeError as error:
        assert "has no attribute 'nothing'" in str(error)
    else:
        raise AssertionError
try:
    import torch_xla.core.nothing
except ModuleNotFoundError as error:
    assert error.name == "torch_xla.core.nothing" and "tenax doctor --xla" in str(error)
else:
    raise AssertionError
try:
    from torch_xla.core import nothing
except ImportError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError
assert torch_xla._XLAC._xla_get_devices()

import torch
function = torch.compile(lambda x: (x @ x).sum(), backend="openxla")
torch_xla.debug.metrics.clear_all()
for _ in range(3):
    function(torch.ones(5, 5, device="xla"))
assert torch_xla.debug.metrics.metric_data("ExecuteTime")[0] == 3
"""


def test_submodules_are_attributes(tmp_path: Path) -> None:
    assert_passes(tmp_path, ATTRIBUTES)


COMPILED = """
import torch, torch_xla, torch_xla.core.xla_model as xm, torch_xla.distributed.data_parallel as dp

def compiled(function, fullgraph):
    return torch.compile(function, backend="openxla", fullgraph=fullgraph)

def refused(function, error, text):
    try:
        function(x)
    except error as raised:
        assert text in str(raised), raised
    else:
        raise AssertionError

def reduced(x):
    return xm.all_reduce("sum", x, 0.5) * 4

x = torch.ones(2, device="xla", requires_grad=True)
for fullgraph in (True, False):
    result = compiled(reduced, fullgraph)(x)
    assert result.tolist() == [2, 2] and not result.requires_grad and x.tolist() == [1, 1]
assert compiled(lambda x: xm.all_gather(x) + 1, False)(x).tolist() == [2, 2]
refused(compiled(lambda x: xm.all_gather(x) + 1, True), RuntimeError, "expected torch.compile without fullgraph=True")
refused(compiled(lambda x: xm.all_reduce("no", x), False), ValueError, "reduce_type 'no'; expected one of sum")
refused(compiled(lambda x: xm.all_reduce("sum", x, groups=[[3]]), False), ValueError, "have ordinal 0 0 times")

module = torch.nn.Linear(1, 1)
whole, parts = compiled(reduced, True), compiled(reduced, False)
assert whole(x).tolist() == parts(x).tolist() == [2, 2]
found = {}
def step(model, loader, device, context):
    x = torch.full((2,), torch.device(device).index + 1.0, device=device)
    found[device] = parts(x).tolist()
dp.DataParallel(module, ["xla:0", "xla:1"])(step, [torch.ones(1)] * 2)
assert [*found.values()] == [[6, 6], [6, 6]], found  # the same compiled function, among two threads now
refused(whole, RuntimeError, "in a program without DataParallel")
"""


def test_a_reduction_is_a_node_of_a_compiled_graph(tmp_path: Path) -> None:
    assert_passes(tmp_path, COMPILED, CPU_NUM_DEVICES="2")


GROUPS = """
import torch, torch.distributed as dist, torch_xla, torch_xla.core.xla_model as xm, torch_xla.runtime as xr

def main(index):
    device = torch_xla.device()
    assert (xr.world_size(), xr.global_ordinal(), xm.get_local_ordinal()) == (2, index, index)
    assert not dist.is_initialized()  # the ordinals need no group
    dist.init_process_group("xla", rank=index, world_size=2)  # through the environment, as in the guide of DDP
    dist.all_reduce(x := torch.ones(1, device=device))
    assert x.item() == 2
    dist.destroy_process_group()
    xm.rendezvous("downloaded")  # makes a group, which the program's own replaces
    dist.init_process_group("xla", init_method="xla://")
    assert xm.all_reduce("sum", torch.ones(1, device=device)).item() == 2
    try:
        dist.init_process_group("xla", init_method="xla://")
    except ValueError as error:
        assert "twice" in str(error)
    else:
        raise AssertionError

if __name__ == "__main__":
    torch_xla.launch(main)
"""


def test_a_program_makes_its_group_before_or_after_other_collectives(tmp_path: Path) -> None:
    assert_passes(tmp_path, GROUPS, CPU_NUM_DEVICES="2")


PARTS = """
import torch, torch_xla, torch_xla.core.xla_model as xm, torch_xla.runtime as xr

assert xr.device_type() == "CPU"  # before the processes start, as with PyTorch/XLA

def main(index):
    mine = [2, 0] if index % 2 == 0 else [1, 3]
    for _ in range(2):
        assert xm.rendezvous("half", b"%d" % index, mine) == [b"%d" % i for i in mine]
    assert len(xm.rendezvous("all")) == 4
    x, parts = torch.arange(8.0, device="xla").view(2, 4), torch.ones(2, 4, device="xla")
    assert xm.reduce_scatter("sum", x, 0.25, 1, 4, output=parts) is parts
    assert parts.tolist() == [[index], [4 + index]]
    assert xm.all_gather(parts, 1, output=torch.ones(3, device="xla")).tolist() == x.tolist()

if __name__ == "__main__":
    torch_xla.launch(main)
"""


def test_some_replicas_meet_and_results_have_other_shapes(tmp_path: Path) -> None:
    assert_passes(tmp_path, PARTS, CPU_NUM_DEVICES="4", PJRT_DEVICE="CPU")


EARLY = """
import torch, torch_xla
x = torch.ones(2, device="xla").sum().item()

def main(index):
    pass

if __name__ == "__main__":
    torch_xla.launch(main)
"""


def test_a_device_that_is_used_on_import_is_an_error_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(EARLY)
    done = run(str(script), CPU_NUM_DEVICES="2")
    assert done.returncode == 1
    assert "a new process has used the device before it joined the others" in done.stderr
    assert "expected tensors and devices inside functions" in done.stderr


def test_a_script_that_does_not_exist_is_an_error() -> None:
    done = run("nowhere.py")
    assert done.returncode == 2 and "there is no such script" in done.stderr and "Traceback" not in done.stderr


def test_a_module_of_pytorch_xla_runs_as_a_program(tmp_path: Path) -> None:
    state = {"model": {"weight": torch.ones(2)}}
    metadata = {"shard_info": {"weight": {"name": "weight"}}, "world_size": 1, "rank": 0}
    torch.save(state | {"shard_metadata": metadata}, tmp_path / "of_rank-0.pth")
    prefix = str(tmp_path / "of")
    name = "torch_xla.distributed.fsdp.consolidate_sharded_ckpts"
    done = run("-m", name, "--ckpt_prefix", prefix, "--ckpt_suffix", "_rank-*.pth")
    assert done.returncode == 0, done.stderr
    assert torch.load(f"{prefix}_consolidated.pth")["model"]["weight"].tolist() == [1, 1]


ACCELERATED = """
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator()
assert str(accelerator.device) == "xla:0"
losses = []
for prepare, x in ((accelerator.prepare, torch.ones(4, 3, device="xla")), (lambda *x: x, torch.ones(4, 3))):
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    model, optimizer = prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(x).square().sum()
        accelerator.backward(loss)
        optimizer.step()
    losses.append(loss.detach().cpu())
torch.testing.assert_close(*losses)
"""


def test_a_program_of_accelerate_runs(tmp_path: Path) -> None:
    assert_passes(tmp_path, ACCELERATED)


@pytest.mark.parametrize("script", ["trainer", "sharded_trainer"])
def test_a_program_of_transformers_runs(script: str, tmp_path: Path) -> None:
    done = run(
        str(SCRIPTS / f"{script}.py"), str(tmp_path), CPU_NUM_DEVICES="4" if script == "sharded_trainer" else "1"
    )
    assert done.returncode == 0, done.stderr


TRAINED_BY_LIGHTNING = """
from importlib.metadata import version
import lightning, torch, torch_xla
from torch.utils.data import DataLoader

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def training_step(self, batch, index):
        return self.layer(batch).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

assert version("torch_xla") == version("torch-xla") == torch_xla.__version__
options = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
weights = []
for accelerator in ("cpu", "jax"):
    torch.manual_seed(0)
    model = Model()
    trainer = lightning.Trainer(accelerator=accelerator, devices=1, max_epochs=1, **options)
    trainer.fit(model, DataLoader(torch.ones(8, 4), batch_size=4))
    weights.append(model.layer.weight.detach().cpu())
torch.testing.assert_close(*weights)
"""


def test_a_program_of_lightning_runs(tmp_path: Path) -> None:
    assert_passes(tmp_path, TRAINED_BY_LIGHTNING)


SAVED_AND_SHARDED = """
import os, torch, torch_xla
import torch_xla.core.xla_env_vars as xenv, torch_xla.core.xla_model as xm
import torch.distributed as dist, torch_xla.distributed.parallel_loader as pl, torch_xla.distributed.xla_backend as xbn
from torch_xla.distributed import xla_dist
from transformers.pytorch_utils import id_tensor_storage

assert torch_xla.xm is xm and os.environ.get(xenv.HOST_ORDINAL) is None
x = torch.ones(3, device="xla")
assert id_tensor_storage(x) == id_tensor_storage(x.detach()) != id_tensor_storage(x + 1)

loader = pl.MpDeviceLoader([torch.ones(2)], xm.xla_device())
loader._parallel_loader_kwargs["batches_per_execution"] = 2
assert [batch.device.type for batch in loader] == ["xla"]

dist.init_process_group("xla", init_method="xla://")
assert isinstance(dist.group.WORLD, xbn.ProcessGroupXla)
try:
    xla_dist.get_args_parser()
except NotImplementedError as error:
    assert "tpu-vm ssh" in str(error)
else:
    raise AssertionError
"""


def test_names_of_accelerate_and_transformers_are_there(tmp_path: Path) -> None:
    assert_passes(tmp_path, SAVED_AND_SHARDED)
