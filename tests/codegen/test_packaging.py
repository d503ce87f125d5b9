"""The package: every folder of it is in the wheel, and the generator stands on its own."""

from __future__ import annotations

import fnmatch
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tenax.codegen

ROOT = Path(tenax.codegen.__file__).parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="an installed package has no pyproject")


def settings() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def folders() -> dict[str, Path]:
    """Each listed package and the folder it maps to."""
    held = settings()
    roots = {package: ROOT / folder for package, folder in held["package-dir"].items()}
    found = {}
    for package in held["packages"]:
        name = max((r for r in roots if package == r or package.startswith(f"{r}.")), key=len)
        found[package] = roots[name].joinpath(*package.removeprefix(name).split(".")[1:])
    return found


def test_every_folder_of_modules_is_a_listed_package() -> None:
    listed = set(folders().values())
    roots = [ROOT / folder for folder in settings()["package-dir"].values()]
    held = {path.parent for root in roots for path in root.rglob("*.py")}
    assert held <= listed, f"not in pyproject.toml: {sorted(str(p) for p in held - listed)}"
    assert all((folder / "__init__.py").exists() for folder in listed)


def test_every_data_file_is_matched_by_package_data() -> None:
    patterns = settings()["package-data"]
    missing = []
    for package, folder in folders().items():
        below = [f for f in folders().values() if f != folder and f.is_relative_to(folder)]
        for path in folder.rglob("*"):
            if not path.is_file() or path.suffix in (".py", ".pyc") or any(path.is_relative_to(f) for f in below):
                continue
            name = str(path.relative_to(folder))
            if "site" not in path.parts and not any(fnmatch.fnmatch(name, p) for p in patterns.get(package, [])):
                missing.append(f"{package}: {name}")
    assert not missing


@pytest.mark.parametrize("folder", ["codegen", "generated", "ops_spec"])
def test_a_folder_is_not_imported_under_its_own_name(folder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert f"ImportError: import this package as tenax.{folder}, not {folder}" in done.stderr


def test_the_generator_imports_no_jax_and_nothing_it_writes() -> None:
    # An empty parent in place of the runtime, which does import torch.
    code = (
        "import sys, types; tenax = sys.modules['tenax'] = types.ModuleType('tenax'); tenax.__path__ = [];"
        "import importlib.util as u; spec = u.spec_from_file_location('tenax.codegen', sys.argv[1]);"
        "sys.modules['tenax.codegen'] = tenax.codegen = u.module_from_spec(spec);"
        "import tenax.codegen.cli;"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'jax', 'torch'}), 'tenax.generated' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "codegen" / "__init__.py")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[] False\n"
