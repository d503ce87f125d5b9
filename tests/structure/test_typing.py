"""What a type checker knows of tenax in a program."""

from __future__ import annotations

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
reveal_type(tenax.to_jax(x))
reveal_type(x.sum())

@tenax.jit
def step(x: torch.Tensor, y: int) -> torch.Tensor:
    return x * y

step("x", 1)
tenax.jt(step)
"""
EXPECTED = """
program.py:6: note: Revealed type is "Any"
program.py:7: note: Revealed type is "torch._tensor.Tensor"
program.py:13: error: Argument 1 to "step" has incompatible type "str"; expected "Tensor"  [arg-type]
program.py:14: error: Module has no attribute "jt"; maybe "j2t" or "jit"?  [attr-defined]
Found 2 errors in 1 file (checked 1 source file)
"""


@pytest.mark.slow
def test_mypy_knows_tenax_and_keeps_the_hints_of_torch(tmp_path: Path) -> None:
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
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", tmp_path / "venv" / "bin" / "python", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == EXPECTED.strip(), done.stderr
