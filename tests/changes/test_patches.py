"""What tenax changes in torch and JAX is what its table says: no more, no less, and not for longer."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import jax
import pytest
import torch
from typer.testing import CliRunner

from tenax import patches
from tenax.changes import ENTRIES, PATCHES, When
from tenax.doctor import broken_entries, broken_names, broken_patches, cuda_faults

RECORDING = (".__getattribute__", ".__setattr__")  # what the classes of the modules that the function reaches replace


@functools.cache
def stages() -> list[tuple[str, list[str]]]:
    """What a process that uses all of tenax finds changed at each stage."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).with_name("stages.py"))],
        capture_output=True,
        text=True,
        env={**os.environ, "TENAX_AUTOLOAD": "0"},
        timeout=600,
    )
    if done.returncode:
        return [("failed", done.stderr.splitlines()[-1:])]  # kept, so that it runs once
    return [(stage, found) for stage, found in map(json.loads, done.stdout.splitlines())]


def found_at(stage: str) -> set[str]:
    assert stages()[0][0] != "failed", stages()[0][1]
    return {path for name, found in stages() if name == stage for path in found}


def listed_at(when: When) -> set[str]:
    """The attributes that the table lists, by the names that their owners give themselves."""
    listed = set()
    for patch in PATCHES:
        if when not in patch.when or patch.of != "itself" or patch.paths == ["torch.jax"] or not patch.is_installed:
            continue
        owner = resolve_name(patch.owner)
        name = f"{owner.__module__}.{owner.__qualname__}" if isinstance(owner, type) else owner.__name__
        listed |= {f"{name}.{n}" for n in patch.names.split() if not patch.optional or hasattr(owner, n)}
    return listed


@pytest.mark.parametrize("when", When, ids=lambda w: w.name)
def test_a_process_finds_changed_what_the_table_lists(when: When) -> None:

    found = found_at(when.name)
    if when is When.JIT_TRACE:  # classes of the modules that the function reaches
        found = {path for path in found if not path.endswith(RECORDING)}
    assert found == listed_at(when)


def test_classes_of_what_a_traced_function_reaches_record_reads_and_writes() -> None:
    found = {path for path in found_at("JIT_TRACE") if path.endswith(RECORDING)}
    classes = "nn.modules.linear.Linear", "optim.lr_scheduler.StepLR", "optim.swa_utils.AveragedModel"
    assert found == {f"torch.{cls}{name}" for cls in classes for name in RECORDING}


def test_methods_of_objects_are_replaced_as_the_table_lists() -> None:
    listed = {name for patch in PATCHES if patch.of == "its objects" for name in patch.names.split()}
    assert {path.rpartition(".")[2] for path in found_at("objects")} == listed


def test_a_trace_puts_back_what_it_replaced() -> None:
    assert found_at("after a trace") == found_at("after a pure function") == set()


def test_an_attribute_that_the_table_lacks_cannot_be_replaced() -> None:
    with pytest.raises(LookupError, match=r"torch\.nn\.Module\.forward is replaced, but tenax\.changes"):
        patches.replace("torch.nn.Module.forward", None)
    with pytest.raises(LookupError, match=r"step of a Linear is replaced, but tenax\.changes"):
        patches.of_object(torch.nn.Linear(1, 1), "step", None)


def test_the_command_prints_every_change() -> None:
    from tenax.cli import app

    text = CliRunner().invoke(app, ["changes"]).output
    assert all(f"`{name}`" in text for patch in PATCHES for name in (patch.owner, *patch.names.split()))
    assert all(f"| {entry.registry}: {entry.entry} |" in text for entry in ENTRIES)


def test_doctor_finds_nothing_broken() -> None:
    torch.ones(1, device="jax")
    assert broken_names() + broken_patches() + broken_entries() == []


def test_doctor_names_an_attribute_that_another_library_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenax.cli import app

    torch.ones(1, device="jax")
    monkeypatch.setattr(torch, "clear_autocast_cache", lambda: None)
    monkeypatch.delattr(torch.nn.functional, "ctc_loss")
    assert broken_patches() == [
        "torch.clear_autocast_cache: was replaced by tenax, and then by another library",
        "torch.nn.functional.ctc_loss: is missing",
    ]
    result = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "300"})
    assert result.exit_code == 1
    assert "torch.nn.functional.ctc_loss: is missing" in " ".join(result.output.split())


CPU = {"jax": "0.12.0", "jaxlib": "0.12.0", "torch": "2.15.0"}
CUDA = CPU | {"jax-cuda13-plugin": "0.12.0", "nvidia-cudnn-cu13": "9.26", "nvidia-cublas": "13.4"}


@pytest.mark.parametrize(
    ("packages", "driver", "faults"),
    [
        (CPU, None, []),
        (CUDA, "580.65.06", []),
        (CUDA, None, []),
        (CPU, "580.65.06", ["no plugin for it: pip install 'tenax\\[cuda\\]'"]),
        (CUDA | {"nvidia-cudnn-cu12": "9.10"}, None, ["CUDA 12 and 13 .* pip uninstall nvidia-cudnn-cu12"]),
        (CUDA | {"jax-cuda13-plugin": "0.11.0"}, None, ["does not fit jaxlib 0.12.0: pip install .*==0.12.0"]),
        (CUDA, "550.54", ["550.54 is too old for CUDA 13, which needs 580: update"]),
    ],
)
def test_doctor_names_cuda_packages_that_do_not_fit(
    packages: dict[str, str], driver: str | None, faults: list[str]
) -> None:
    found = cuda_faults(packages, driver)
    assert len(found) == len(faults) and all(map(re.search, faults, found)), found


def test_doctor_shows_the_accelerator_and_the_versions_of_libraries() -> None:
    from importlib.metadata import version

    from tenax.cli import app

    shown = " ".join(CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "300"}).output.split())
    where = "none: " if jax.default_backend() == "cpu" else jax.default_backend()
    assert f"accelerator {where}" in shown and f"{jax.device_count()} device" in shown
    for library in ("torch", "jax", "transformers", "flax"):
        assert f"{library} {version(library)}" in shown
    assert "JAX's default is 32 bits" in shown
