"""The three paths of examples/paths, as far as they run without a network, in this environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATHS = ROOT / "examples" / "paths"
PAGE = ROOT / "docs" / "tutorials" / "paths.md"


def run(name: str) -> str:
    done = subprocess.run(
        ["sh", PATHS / f"{name}.sh"], env={**os.environ, "PYTHON": sys.executable}, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_lightning_module_trains_on_the_device_as_on_the_cpu() -> None:
    losses = dict(re.findall(r"^(\S+(?: \S+)?) +loss (\S+)$", run("lightning"), re.MULTILINE))
    assert set(losses) == {"cpu", "jax", "jax jax_compiled"}
    assert len(set(losses.values())) == 1


@pytest.mark.slow
def test_a_checkpoint_of_torch_is_used_from_jax() -> None:
    said = run("checkpoint")
    (difference,) = re.findall(r"ArrayImpl of \(2, 16, 1\); largest difference (\S+)", said)
    assert float(difference) < 1e-5
    assert "28 gradients" in said


def test_the_path_of_a_contributor_is_that_of_the_guide() -> None:
    """It needs an installation of its own; tests/codegen/test_contributing.py runs the same commands in a copy."""
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    script = (PATHS / "operator.sh").read_text()
    commands = [line for line in script.splitlines() if re.match(r"(python -m tenax\.codegen|tenax coverage)", line)]
    assert len(commands) == 4
    for command in commands:
        assert command.removesuffix(" --jobs 1") in guide
    assert "jnp: jnp.hypot(self, other)" in guide and "jnp: jnp.hypot(self, other)" in script


@pytest.mark.parametrize("path", sorted(PATHS.glob("*.sh")), ids=lambda path: path.stem)
def test_a_path_is_a_valid_script_with_a_place_on_the_page(path: Path) -> None:
    assert not subprocess.run(["sh", "-n", path]).returncode
    assert f"examples/paths/{path.name}" in PAGE.read_text()
