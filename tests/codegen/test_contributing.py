"""CONTRIBUTING's worked example does what the text shows, in a copy of the tree."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tenax.codegen

ROOT = Path(tenax.codegen.__file__).parent.parent
GUIDE = ROOT / "CONTRIBUTING.md"
pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="an installed package has no CONTRIBUTING.md")

Run = Callable[[str], str]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The folders of the package, where they may be edited."""
    for name in ("runtime", "codegen", "generated", "ops_spec", "tests/coverage"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    package = tmp_path / "links" / "tenax"
    package.mkdir(parents=True)
    for path in [*(tmp_path / "runtime").iterdir(), *map(tmp_path.joinpath, ("codegen", "generated", "ops_spec"))]:
        (package / path.name).symlink_to(path)
    (package / "coverage").symlink_to(tmp_path / "tests" / "coverage")
    return tmp_path


@pytest.fixture
def run(copy: Path) -> Run:
    """Run a command of the text in the copy; all that it printed."""
    programs = {"python": [sys.executable], "tenax": [sys.executable, "-c", "import tenax.cli; tenax.cli.app()"]}

    def invoke(command: str) -> str:
        program, *arguments = command.split()
        done = subprocess.run(
            [*programs[program], *arguments],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "links")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout

    return invoke


def blocks() -> list[str]:
    """The code blocks of the section."""
    section = GUIDE.read_text().partition("## Add an operation")[2].partition("\n## ")[0]
    return re.findall(r"```\w*\n(.*?)```", section, re.DOTALL)


def same(found: str, shown: str) -> bool:
    return doctest.OutputChecker().check_output(shown, found, doctest.ELLIPSIS)


@pytest.mark.slow
def test_the_worked_example_prints_what_the_text_shows(copy: Path, run: Run) -> None:
    new, entry, generate, mistake, function, coverage = blocks()
    spec = copy / "ops_spec" / "pointwise.yaml"
    text = spec.read_text()
    start = text.index("- func: hypot(")
    spec.write_text(text[:start] + text[text.index("- func:", start + 1) :])
    run("python -m tenax.codegen")
    assert "def hypot(" not in (copy / "generated" / "pointwise.py").read_text()

    def shown(block: str) -> None:
        head, _, output = block.partition("\n")
        found = run(head.removeprefix("$ "))
        assert same(found, output), f"{head}\n{found}"

    shown(new)
    stub = new.partition("added\n")[2]
    assert spec.read_text().endswith(f"\n\n{stub}")
    spec.write_text(spec.read_text().replace(stub, entry))
    shown(generate)
    assert function in (copy / "generated" / "pointwise.py").read_text()
    spec.write_text(spec.read_text().replace("jnp.hypot(self, other)", "jnp.hypot(self, othr)"))
    shown(mistake)
    spec.write_text(spec.read_text().replace("othr", "other"))
    run("python -m tenax.codegen")
    shown(coverage)
    integers = copy / "integers.py"
    integers.write_text("import torch\nx = torch.ones(2, dtype=torch.int64, device='jax')\ntorch.hypot(x, x)\n")
    assert "NotImplementedError: \"hypot_cpu\" not implemented for 'Long'" in run("python integers.py")
