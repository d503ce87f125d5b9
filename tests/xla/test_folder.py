"""Compiled programs: kept for later processes, within a bound of memory, and announced."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest
import torch
from typer.testing import CliRunner

import tenax
from tenax.cli import app
from tenax.xla import environment, folder, housekeeping, waiting
from tenax.xla.environment import key_of
from tenax.xla.memory import bytes_of
from tests.helpers.processes import run

# Eager, written, random and compiled; `cholesky` calls LAPACK, whose functions only a lowering finds.
STEP = """
import torch, tenax
import tenax.xla.stored as stored
found = []
load = stored.load
stored.load = lambda key: found.append(load(key)) or found[-1]
weight = torch.linspace(0, 1, 12).view(3, 4).to("jax").requires_grad_()
for _ in range(2):
    loss = torch.softmax(weight * 2, 1).square().sum()
    loss.backward()
large = torch.ones(200, 200, device="jax")
for _ in range(3):
    large[1:3] += 1
torch.manual_seed(0)
noise = torch.rand(3, device="jax")
root = torch.linalg.cholesky(torch.eye(3, device="jax") * 2)
twice = tenax.jit(lambda x: torch.linalg.cholesky(x @ x) + noise)(root)
results = [weight.grad, large.sum(), noise, root, twice]
print(*(x.float().cpu().numpy().tobytes().hex() for x in results), sum(f is not None for f in found), len(found))
"""


def step(path: Path, **environment: str) -> tuple[list[str], int, int]:
    """What STEP computes in a process of its own, how many programs it found, and how many it looked for."""
    settings = os.environ | {"TENAX_CACHE": "1", "TENAX_CACHE_DIR": str(path)} | environment
    *results, found, sought = run(STEP, env=settings).stdout.split()
    return results, int(found), int(sought)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of programs that this process uses within a test."""
    monkeypatch.setenv("TENAX_CACHE", "1")
    monkeypatch.setenv("TENAX_CACHE_DIR", str(tmp_path))
    folder.folder.cache_clear()
    yield tmp_path
    folder.folder.cache_clear()


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], int]:
    """A folder that one process has filled, what it computed, and how many programs it looked for."""
    path = tmp_path_factory.mktemp("programs")
    results, found, sought = step(path)
    assert found == 0
    return path, results, sought


def test_a_later_process_finds_the_programs_of_an_earlier_one(cold: tuple[Path, list[str], int]) -> None:
    path, results, sought = cold
    again, found, later_sought = step(path)
    assert (again, later_sought) == (results, sought)
    # All but an eager `cholesky`: it calls LAPACK, whose pointers are null in a process that has lowered nothing.
    assert sought - found == 1


FORWARD = """
import sys, torch, tenax
import tenax.dispatch.executable as executable
asked, infer = [], executable.infer
executable.infer = lambda signature, *rest: asked.append(signature.name) or infer(signature, *rest)
table, i = torch.ones(8, 4, device="jax"), torch.tensor([1, 2, 3]).to("jax")
x = torch.nn.functional.embedding(i, table) + 1.0
try:
    x + table
except RuntimeError as error:
    print(error)
torch.add(x, 1.0, out=torch.empty(0, device="jax"))
print(x.sum().item(), *asked)
"""


@pytest.mark.slow
def test_a_later_process_asks_torch_for_no_shapes(tmp_path: Path) -> None:
    settings = os.environ | {"TENAX_CACHE": "1", "TENAX_CACHE_DIR": str(tmp_path)}
    first, second = (run(FORWARD, env=settings).stdout.splitlines() for _ in range(2))
    assert first[0] == second[0]  # an error is found out anew
    assert "size of tensor" in first[0]
    assert first[1].split()[0] == second[1].split()[0]
    assert len(first[1].split()) > 4
    assert second[1].split()[1:] == ["add.Tensor"]  # the one that is refused


TRAINING = """
import torch, tenax
from tenax.xla.totals import totals
torch.manual_seed(0)
q, k, v = (torch.randn(2, 3, 8, 4).to("jax").requires_grad_() for _ in range(3))
optimizer = torch.optim.AdamW([q, k, v])
for _ in range(2):
    torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).square().sum().backward()
    optimizer.step()
print(q.sum().item(), totals.compiled)
"""


@pytest.mark.slow
def test_a_later_process_finds_derivatives_and_steps_of_optimizers(tmp_path: Path) -> None:
    settings = os.environ | {"TENAX_CACHE": "1", "TENAX_CACHE_DIR": str(tmp_path)}
    first, second = (run(TRAINING, env=settings).stdout.split() for _ in range(2))
    assert first[0] == second[0]
    assert int(first[1]) > 3
    assert second[1] == "0"


ON_A_MESH = """
import jax, numpy, tenax, torch
from jax.sharding import NamedSharding, PartitionSpec
sharding = NamedSharding(jax.sharding.Mesh(numpy.array(jax.devices()), "a"), PartitionSpec("a"))
step = tenax.jit(lambda x: tenax.call_jax(jax.lax.with_sharding_constraint, x * 2, sharding) + 1)
print(step(torch.arange(8.0, device="jax")).sum().item())
"""


def test_a_program_that_a_constraint_spreads_over_a_mesh_runs_in_later_processes(tmp_path: Path) -> None:
    settings = os.environ | {"TENAX_CACHE": "1", "TENAX_CACHE_DIR": str(tmp_path)}
    settings["XLA_FLAGS"] += " --xla_force_host_platform_device_count=2"
    assert [run(ON_A_MESH, env=settings).stdout for _ in range(2)] == ["64.0\n"] * 2


@pytest.mark.slow
def test_a_process_with_other_flags_of_the_compiler_finds_none(cold: tuple[Path, list[str], int]) -> None:
    path, _, sought = cold
    flags = os.environ["XLA_FLAGS"] + " --xla_cpu_enable_fast_min_max=true"
    assert step(path, XLA_FLAGS=flags)[1:] == (0, sought)


def test_settings_of_jax_are_part_of_the_key() -> None:
    usual = key_of("program")
    with jax.default_matmul_precision("highest"):
        assert key_of("program") != usual
    with jax.enable_x64(True):
        assert key_of("program") != usual
    assert key_of("program") == usual != key_of("another")


def test_the_sources_of_all_lowerings_are_part_of_the_key() -> None:
    root = Path(tenax.__file__).parent
    kernels = root / "kernels"
    for package in (kernels, root / "dispatch", root / "storage"):
        assert {*package.rglob("*.py")} <= {*environment.sources()}
    assert any(path.parent != kernels for path in kernels.rglob("*.py"))


@pytest.mark.slow
def test_processes_share_a_folder_with_damaged_files(cold: tuple[Path, list[str], int], tmp_path: Path) -> None:
    path, results, _ = cold
    shutil.copytree(path, tmp_path, dirs_exist_ok=True)
    for i, file in enumerate(sorted(tmp_path.glob("*/*/*"))):
        content = file.read_bytes()
        file.write_bytes((content[: len(content) // 2], b"", content[::-1])[i % 3])
    settings = os.environ | {"TENAX_CACHE": "1", "TENAX_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", STEP]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings) for _ in range(2)]
    outputs = [process.communicate()[0].split()[:-2] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs == [results, results]
    assert not list(tmp_path.glob("*/*/*.tmp"))


def test_a_file_that_was_changed_is_deleted(programs: Path) -> None:
    key = "ab" + "0" * 62
    folder.write(key, b"payload")
    assert folder.read(key) == b"payload"
    path = programs / "programs-1" / key[0] / key[1:]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert folder.read(key) is None
    assert not path.exists()


def test_the_folder_keeps_what_was_used_last(programs: Path) -> None:
    keys = [f"a{i}" + "f" * 62 for i in range(10)]
    subfolder = programs / "programs-1" / "a"
    for i, key in enumerate(keys):
        folder.write(key, bytes(1000))
        os.utime(subfolder / key[1:], (i, i))
    assert folder.read(keys[0])  # which makes it the one that was used last
    housekeeping.trim(subfolder, 5500)
    assert [key for key in keys if folder.read(key)] == [keys[0], *keys[7:]]
    housekeeping.trim(subfolder, 5500)
    assert housekeeping.usage(folder.location()).programs == 4


def test_writing_keeps_the_folder_within_its_limit(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENAX_CACHE_SIZE", "64K")
    for i in range(100):
        folder.write(f"a{i * 0x028F5C28:08x}" + "0" * 55, bytes(500))
    assert housekeeping.usage(folder.location()).bytes <= 4096 + 4096 // 16


def test_a_folder_that_others_may_write_to_is_not_used(programs: Path, caplog: pytest.LogCaptureFixture) -> None:
    (programs / "programs-1").mkdir()
    (programs / "programs-1").chmod(0o777)
    assert folder.folder() is None
    assert "others may write" in caplog.text


def test_a_folder_that_cannot_be_made_is_no_error(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (programs / "file").write_text("")
    monkeypatch.setenv("TENAX_CACHE_DIR", str(programs / "file"))
    assert folder.folder() is None
    assert (torch.arange(11.0, device="jax") + 1).sum().item() == 66


def test_the_command_shows_and_clears_the_folder(programs: Path) -> None:
    folder.write("cd" + "0" * 62, bytes(1000))
    shown = CliRunner().invoke(app, ["cache", "info"])
    assert str(programs) in shown.output.replace("\n", "")
    assert "1 program, " in shown.output
    assert "1 program, " in CliRunner().invoke(app, ["cache", "clear"]).output
    assert housekeeping.usage(folder.location()) == (0, 0)


def test_sizes_have_units(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, expected in {"5": 5, "2K": 2048, "1.5 GiB": 3 << 29, "": 7}.items():
        monkeypatch.setenv("TENAX_CACHE_SIZE", text)
        assert bytes_of("TENAX_CACHE_SIZE", 7) == expected
    monkeypatch.setenv("TENAX_CACHE_SIZE", "much")
    with pytest.raises(ValueError, match="TENAX_CACHE_SIZE: 'much'; expected a number of bytes"):
        bytes_of("TENAX_CACHE_SIZE", 7)


EVICTIONS = """
import threading, warnings
import torch, tenax
from tenax.xla import memory
from tenax.xla.totals import totals

memory._THRASHING = 4

def negated(size):
    assert torch.ones(size, device="jax").neg().tolist() == [-1.0] * size

def sizes(start):
    for size in range(start, start + 25):
        negated(size)
        before = totals.compiled
        negated(3)  # is called again and again, and so is never evicted
        again.append(totals.compiled - before)

again = []
negated(3)
sizes(10)
print("used:", sum(again), "evicted:", totals.evicted > 0, "held:", totals.held_bytes <= 5 << 20)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sizes(10)
print("warned:", [str(w.message)[:30] for w in caught if "TENAX_CODE_MEMORY" in str(w.message)])
threads = [threading.Thread(target=sizes, args=(start,)) for start in (10, 15)]
[t.start() for t in threads]
[t.join() for t in threads]
print(tenax.explain())
"""


@pytest.mark.slow
def test_executables_that_were_called_least_recently_are_evicted() -> None:
    settings = os.environ | {"TENAX_CODE_MEMORY": "5M"}
    used, warned, totals = run(EVICTIONS, env=settings).stdout.splitlines()
    assert used == "used: 0 evicted: True held: True"
    assert warned == "warned: ['tenax: the program uses more e']"
    assert "programs compiled in" in totals and totals.endswith(" evicted")


def test_long_waiting_is_announced(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.5)
    monkeypatch.setattr(waiting, "_waited", [0.0])

    def lines(seconds: float) -> int:
        with waiting.waiting_for("example"):
            time.sleep(seconds)
        return capsys.readouterr().err.count("tenax: compiling example;")

    monkeypatch.setenv("TENAX_QUIET", "1")
    assert lines(0.8) == 0
    monkeypatch.setenv("TENAX_QUIET", "0")
    assert [lines(0.3), lines(0.3), lines(0.3), lines(0.8)] == [0, 1, 0, 1]


def test_explain_without_a_function_gives_the_totals() -> None:
    before = tenax.explain()
    (torch.ones(317, device="jax") + 1).tolist()
    compiled = tenax.jit(lambda x: x * 3 + 1)
    compiled(torch.ones(317, device="jax"))
    after = tenax.explain()
    assert (after.compiled - before.compiled, after.pinned - before.pinned) == (2, 1)
    assert after.held > 0 and after.held_bytes > 200_000
    del compiled
    gc.collect()
    assert tenax.explain().pinned <= before.pinned


WITHOUT_DYNAMO = """
import sys, torch, tenax
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.GELU(), torch.nn.Softmax(-1))
model.to("jax")
with torch.no_grad():
    y = model(torch.ones(2, 4, device="jax")) + torch.arange(4, device="jax")
print(((y > 0) & (y < 1)).any().item(), "torch._dynamo" in sys.modules)
marked = list(tenax._torch.meta_kernels._marked())
print(len(marked) > 100, all(f.__dynamo_disable is f for f in marked))
import torch._dynamo
print(any(getattr(f, "__dynamo_disable", None) is f for f in marked))
print(torch.compile(lambda x: torch._refs.true_divide(x, 2), backend="tenax")(torch.ones(1, device="jax")).item())
"""


def test_an_eager_program_does_not_import_dynamo() -> None:
    assert run(WITHOUT_DYNAMO).stdout.split() == ["True", "False", "True", "True", "False", "0.5"]
