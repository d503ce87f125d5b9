"""What type checkers know of the names that tenax adds to torch."""

from __future__ import annotations

import ast
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
FOLDERS = {"codegen": "codegen", "generated": "generated", "ops_spec": "ops_spec", "coverage": "tests/coverage"}
PROGRAM = """
import torch
import tenax

x = torch.ones(2, device="jax")
reveal_type(x.jax())
reveal_type(torch.nn.Linear(2, 2).jax(0))
reveal_type(torch.jax.memory_allocated())
reveal_type(x.sum())

@tenax.jit
def step(x: torch.Tensor, y: int) -> torch.Tensor:
    return x * y

step("x", 1)
x.jacks()
torch.jax.nothing()
tenax.jt(step)
"""
EXPECTED = """
program.py:6: note: Revealed type is "Any"
program.py:7: note: Revealed type is "torch.nn.modules.linear.Linear"
program.py:8: note: Revealed type is "int"
program.py:9: note: Revealed type is "torch._tensor.Tensor"
program.py:15: error: Argument 1 to "step" has incompatible type "str"; expected "Tensor"  [arg-type]
program.py:16: error: "Tensor" has no attribute "jacks"  [attr-defined]
program.py:17: error: Module has no attribute "nothing"  [attr-defined]
program.py:18: error: Module has no attribute "jt"; maybe "j2t" or "jit"?  [attr-defined]
Found 4 errors in 1 file (checked 1 source file)
"""


@pytest.mark.slow
def test_mypy_knows_what_tenax_adds_and_keeps_the_hints_of_torch(tmp_path: Path) -> None:
    """In an environment with a folder of links, such as a strict editable install makes."""
    package = tmp_path / "links" / "tenax"
    package.mkdir(parents=True)
    for path in (ROOT / "runtime").iterdir():
        (package / path.name).symlink_to(path)
    for name, folder in FOLDERS.items():
        (package / name).symlink_to(ROOT / folder)
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "program.pth").write_text(f"{package.parent}\n{Path(torch.__file__).parents[1]}\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = tenax.mypy_plugin\nfollow_imports = silent\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", tmp_path / "venv" / "bin" / "python", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == EXPECTED.strip(), done.stderr


def test_the_stub_of_the_device_module_names_what_the_module_has() -> None:
    tree = ast.parse((ROOT / "runtime" / "torch_jax.pyi").read_text())
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    assert {name for name in names if name[0] != "_"} == {name for name in dir(torch.jax) if name[0] != "_"}
