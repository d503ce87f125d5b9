"""The entry point: `import torch` gives the device, and survives when it cannot."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import tenax_autoload


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A stand-in for tenax that notes its import, and a torch without an accelerator."""
    noted: list[str] = []
    (tmp_path / "tenax.py").write_text("import sys\nsys.modules['noted'].append('tenax')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "noted", noted)
    monkeypatch.delitem(sys.modules, "tenax")
    _accelerator(monkeypatch, "cpu")
    monkeypatch.delenv("TENAX_AUTOLOAD", raising=False)
    return noted


def _accelerator(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A torch of that build; `cuda without a GPU` is PyPI's on most laptops."""
    compiled = None if kind == "cpu" else SimpleNamespace(type="cuda")

    def current_accelerator(check_available: bool = False) -> SimpleNamespace | None:
        return None if check_available and kind == "cuda without a GPU" else compiled

    accelerator = SimpleNamespace(current_accelerator=current_accelerator)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(accelerator=accelerator))


@pytest.mark.parametrize(
    ("kind", "wanted", "loads"),
    [
        ("cpu", "", True),
        ("cpu", "0", False),
        ("cuda", "", False),
        ("cuda", "1", True),
        ("cuda without a GPU", "", True),
    ],
)
def test_the_device_is_registered_unless_it_would_displace_another(
    kind: str, wanted: str, loads: bool, imported: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _accelerator(monkeypatch, kind)
    monkeypatch.setenv("TENAX_AUTOLOAD", wanted)
    tenax_autoload.autoload()
    assert imported == (["tenax"] if loads else [])


def test_an_import_of_tenax_under_way_is_left_alone(imported: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tenax", SimpleNamespace())
    tenax_autoload.autoload()
    assert imported == []


def test_a_failing_import_of_tenax_is_logged(
    imported: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "tenax.py").write_text("raise OSError('no jax here')\n")
    tenax_autoload.autoload()
    assert caplog.messages == ["device 'jax' could not be registered: no jax here"]
