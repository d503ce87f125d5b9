"""TENAX_DEVICE names the device, and a name that cannot be is refused."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenax.device import naming

ROOT = Path(__file__).parents[2]

TRAINING = """
import sys
import torch, tenax
name, folder = sys.argv[1:]
device = torch.device(name)
assert torch.accelerator.current_accelerator() == device
assert getattr(torch, name).device_count() >= 1
torch.manual_seed(0)
given = torch.randn(4, 3)
x = given.to(device)
assert getattr(x, f"is_{name}") and x.type() == f"torch.{name}.FloatTensor" and repr(x).endswith(f"device='{name}:0')")
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.0), torch.nn.Linear(3, 1))
reference = torch.nn.Sequential(*model)
optimizer = torch.optim.Adam(model.to(device).parameters())
@tenax.jit
def step(x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss
print([round(step(x).item(), 5) for _ in range(3)])
with torch.autocast(name):
    assert model(x).dtype == torch.float16
print([round(v, 4) for v in torch.compile(model)(x).flatten().tolist()])
assert torch.equal(tenax.to_jax(x), x.jax()) and torch.equal(tenax.from_jax(x.jax()), x)
generator = torch.Generator(device=name).manual_seed(1)
print(torch.rand(2, generator=generator, device=name).tolist())
with torch.device(name):
    assert torch.ones(1).device == torch.device(name, 0)
with torch.random.fork_rng(device_type=name):
    torch.rand(1, device=name)
torch.save({"x": x, "state": optimizer.state_dict()}, f"{folder}/{name}.pt")
tenax.checkpoint.save(f"{folder}/{name}", {"model": model, "x": x, "empty": x[:0]})
try:
    torch.ones(2, device=name) + torch.ones(2)
except RuntimeError as error:
    assert f"tensor.to('{name}:0')" in str(error), error
try:
    torch.ones(1, device=f"{name}:99")
except RuntimeError as error:
    assert f"{name} error: invalid device ordinal 99" in str(error), error
"""

LOADING = """
import sys
import torch, tenax
name, other, folder = sys.argv[1:]
for where in ("cpu", name):
    loaded = torch.load(f"{folder}/{other}.pt", map_location=where)
    assert loaded["x"].device.type == loaded["state"]["state"][0]["exp_avg"].device.type == where
    print(loaded["x"].tolist())
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.0), torch.nn.Linear(3, 1)).to(name)
rest = tenax.checkpoint.load(f"{folder}/{other}", {"model": model})
assert {value.device.type for value in rest.values()} == {name}, rest
print(model(loaded["x"]).tolist())
"""


def python(program: str, *arguments: object, name: str) -> subprocess.CompletedProcess[str]:
    """A program in a new interpreter, whose `import torch` names the device."""
    environment = {**os.environ, "TENAX_DEVICE": name}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)


def printed(program: str, *arguments: object, name: str) -> str:
    done = python(program, *arguments, name=name)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_runs_the_same_under_another_name(tmp_path: Path) -> None:
    outputs = {name: printed(TRAINING, name, tmp_path, name=name) for name in ("jax", "tpu")}
    assert outputs["jax"] == outputs["tpu"] != ""
    there = printed(LOADING, "tpu", "jax", tmp_path, name="tpu")
    back = printed(LOADING, "jax", "tpu", tmp_path, name="jax")
    assert there == back != ""


@pytest.mark.parametrize("name", ["cpu", "cuda", "xla", "nn", "abs", "privateuseone"])
def test_a_name_that_torch_uses_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "NAME", name)
    with pytest.raises(ValueError, match=f"^TENAX_DEVICE={name}: torch uses this name already; expected another"):
        naming.check()


@pytest.mark.parametrize("name", ["Tpu", "tpu:0", "a b", "for", "t2"])
def test_a_name_that_torch_cannot_parse_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "NAME", name)
    with pytest.raises(ValueError, match=f"^TENAX_DEVICE={name}: not a name of a device; expected lower-case letters"):
        naming.check()


def test_a_refused_name_stops_the_import_of_tenax_and_not_that_of_torch() -> None:
    done = python("import torch; print(torch.ones(1).item()); import tenax", name="cpu")
    assert (done.returncode, done.stdout) == (1, "1.0\n")
    assert "device 'cpu' could not be registered: TENAX_DEVICE=cpu" in done.stderr
    assert "ValueError: TENAX_DEVICE=cpu: torch uses this name already" in done.stderr


def test_the_name_is_refused_where_torch_tpu_finds_tpus(tmp_path: Path) -> None:
    (tmp_path / "torch_tpu").mkdir()
    (tmp_path / "torch_tpu" / "__init__.py").touch()
    program = f"""
import os, sys
os.environ["TENAX_AUTOLOAD"] = "0"
sys.path.insert(0, {str(tmp_path)!r})
from jax._src import hardware_utils
hardware_utils.num_available_tpu_chips_and_device_id = lambda: (CHIPS, None)
import tenax, torch
print(torch.ones(1, device="tpu").item())
"""
    done = python(program.replace("CHIPS", "4"), name="tpu")
    assert "RuntimeError: TENAX_DEVICE=tpu: torch_tpu is installed and finds TPUs; uninstall it" in done.stderr
    assert printed(program.replace("CHIPS", "0"), name="tpu") == "1.0\n"


def test_the_command_line_names_the_device_of_a_script_and_of_its_children(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, subprocess, sys, torch\n"
        "print(torch.ones(1, device='tpu').device, sys.argv[1:], os.environ['ACCELERATE_TORCH_DEVICE'], flush=True)\n"
        "subprocess.run([sys.executable, '-c', 'import torch; print(torch.accelerator.current_accelerator())'])\n"
    )
    command = [Path(sys.executable).parent / "tenax", "run", "--device-name", "tpu", script, "1", "--two"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "tpu:0 ['1', '--two'] tpu\ntpu\n", done.stderr


def literals(tree: ast.AST) -> Iterator[ast.AST]:
    """The places where a name of the device stands as a literal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith((".type", "device", "devices")):
            yield from node.comparators
        elif isinstance(node, ast.keyword) and node.arg in ("device", "device_type"):
            yield node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("torch.device", ".to", "torch.autocast", "autocast_dtype", "autocast_enabled", "init_device_mesh")
        ):
            yield from node.args
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "torch.jax":
            yield ast.Constant("jax", lineno=node.lineno)


def test_no_module_spells_the_name_of_the_device() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"  # type: ignore[attr-defined]
        for path in sorted((ROOT / "runtime").rglob("*.py"))
        for place in literals(ast.parse(path.read_text()))
        for node in ast.walk(place)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(":")[0] == "jax"
    ]
    assert not found, found
