"""Programs that import torchax run unmodified by `tenax run --torchax`, with the results of CPU torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.processes import ROOT, run

SCRIPTS = Path(__file__).with_name("scripts")
RUN = "from tenax.cli import app; import sys; app(sys.argv[1:], prog_name='tenax')"


@pytest.mark.slow
@pytest.mark.parametrize("script", ["diffusion", "serving", "training"])
def test_a_script_agrees_with_the_cpu(script: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", RUN, "run", "--torchax", str(SCRIPTS / f"{script}.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_name_resolves_after_install() -> None:
    program = """
import sys
from importlib import metadata
import tenax.compat.torchax
tenax.compat.torchax.install()
import torchax, torchax.ops.mappings
from torchax.interop import shard_map
assert torchax is tenax.compat.torchax and torchax.ops.mappings is tenax.compat.torchax.ops.mappings
assert metadata.version("torchax") == torchax.__version__ == torchax.VERSION
tenax.compat.torchax.install()
assert sum(type(finder).__name__ == "LibraryFinder" for finder in sys.meta_path) == 1
try:
    import torchax.nothing
except ModuleNotFoundError as error:
    assert "tenax lacks this module of torchax" in str(error)
else:
    raise AssertionError
"""
    run(program)


def test_a_spawned_process_and_another_torchax() -> None:
    program = """
import sys, types
import tenax.compat.torchax
tenax.compat.torchax.install()
folder = sys.path[0]
del sys.modules["torchax"], sys.meta_path[0]  # as in a new process, which has the path alone
import torchax
assert torchax is tenax.compat.torchax, folder
del sys.meta_path[0]
sys.modules["torchax"] = types.ModuleType("torchax")
try:
    tenax.compat.torchax.install()
except ImportError as error:
    assert "itself has been imported" in str(error)
else:
    raise AssertionError
"""
    run(program)
