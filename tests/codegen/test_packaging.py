"""The package: every folder of it is in the wheel, and the generator stands on its own."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import tenax.codegen
from tenax.codegen.schema import releases
from tenax.doctor import cuda_faults

ROOT = Path(tenax.codegen.__file__).parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="an installed package has no pyproject")


def settings() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def bounds(package: str) -> SpecifierSet:
    """What the metadata admits of a dependency."""
    return next(r.specifier for r in map(Requirement, project()["dependencies"]) if r.name == package)


def pins(python: str) -> dict[str, str]:
    """The versions that constraints.txt states for an interpreter."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = [Requirement(line) for line in lines if not line.startswith("#")]
    taken = [r for r in pinned if r.marker is None or r.marker.evaluate({"python_version": python})]
    assert len(taken) == len({r.name for r in taken})
    return {r.name.lower(): str(r.specifier).removeprefix("==") for r in taken}


def workflow() -> dict:
    return yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]


def matrix() -> list[dict[str, str]]:
    """What the hosted tests run on: python, torch and jax of each job."""
    return workflow()["test"]["strategy"]["matrix"]["include"]


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


def test_the_metadata_admits_the_torch_releases_that_the_specs_are_held_against() -> None:
    supported = releases()  # such as 2.13
    major, last = map(int, supported[-1].split("."))
    assert bounds("torch") == SpecifierSet(f">={supported[0]},<{major}.{last + 1}")


def test_hosted_tests_run_each_interpreter_and_torch_release_that_the_metadata_admits() -> None:
    classified = {c.rpartition(" ")[2] for c in project()["classifiers"] if re.search(r":: 3\.\d+$", c)}
    assert {row["python"] for row in matrix()} == classified
    assert set(workflow()["wheel"]["strategy"]["matrix"]["python"]) == classified
    assert {row["torch"].rpartition(".")[0] for row in matrix()} == set(releases())
    for row in matrix():
        assert row["torch"] in bounds("torch")
        assert row["jax"] in bounds("jax")


def test_an_interpreter_that_is_not_classified_is_not_admitted() -> None:
    admitted = SpecifierSet(project()["requires-python"])
    tested = {row["python"] for row in matrix()}
    assert {f"3.{minor}" for minor in range(9, 20) if f"3.{minor}.5" in admitted} == tested


def test_the_pinned_versions_are_admitted_and_tested() -> None:
    for row in matrix():
        pinned = pins(row["python"])
        for requirement in map(Requirement, project()["dependencies"]):
            assert pinned[requirement.name] in requirement.specifier, (row, requirement)
        assert any((r["torch"], r["jax"]) == (pinned["torch"], pinned["jax"]) for r in matrix()), row


def test_every_make_target_that_a_hook_or_a_workflow_names_exists() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", text, re.M))
    runs = [step["run"] for job in workflow().values() for step in job["steps"] if "run" in step]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    runs += [hook["entry"] for repo in hooks for hook in repo["hooks"] if "entry" in hook]
    named = {word for run in runs if run.startswith("make ") for word in run.split() if re.fullmatch(r"[a-z-]+", word)}
    named.remove("make")
    assert named >= {"check", "lint", "types", "pytest", "wheel", "coverage"}
    assert named <= targets


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="torch brings CUDA's libraries on Linux")
@pytest.mark.parametrize("release", releases())
def test_the_extra_for_gpus_and_the_cuda_build_of_torch_share_one_cuda(release: str, tmp_path: Path) -> None:
    """Resolved by pip from the package index, and not installed."""
    report, python = tmp_path / "report.json", f"{sys.version_info.major}.{sys.version_info.minor}"
    wanted = [*project()["optional-dependencies"]["cuda"], f"jax=={pins(python)['jax']}", f"torch=={release}.*"]
    local = {"PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"}  # which may have a build for CPUs
    environment = {k: v for k, v in os.environ.items() if k not in local} | {"PIP_CONFIG_FILE": os.devnull}
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", *wanted]
    done = subprocess.run([*command, f"--report={report}"], env=environment, capture_output=True, text=True)
    if "ConnectionError" in done.stderr:
        pytest.skip("there is no package index")
    assert done.returncode == 0, done.stderr
    found = [package["metadata"] for package in json.loads(report.read_text())["install"]]
    packages = {package["name"].lower(): package["version"] for package in found}
    assert {"nvidia-cudnn-cu13", "jax-cuda13-plugin"} <= packages.keys()
    assert not cuda_faults(packages, None)
