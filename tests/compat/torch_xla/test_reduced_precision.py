"""XLA_USE_BF16 and XLA_DOWNCAST_BF16 raise, also where they are set after the imports."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tenax.compat.torch_xla as torch_xla
import tenax.compat.torch_xla.core.xla_model as xm


@pytest.mark.parametrize("name", ["XLA_USE_BF16", "XLA_DOWNCAST_BF16"])
def test_a_variable_that_asks_for_less_precision_raises(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "0")
    xm.xla_device()
    monkeypatch.setenv(name, "1")
    for call in (xm.xla_device, torch_xla.device, torch_xla.sync, xm.mark_step):
        with pytest.raises(NotImplementedError, match=rf"{name}=1: .*expected model\.to\(torch\.bfloat16\)"):
            call()


def test_the_import_raises() -> None:
    code = "import tenax.compat.torch_xla"
    variables = {**os.environ, "XLA_USE_BF16": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)
    assert "NotImplementedError: XLA_USE_BF16=1" in done.stderr
