"""Executables of compiled functions that were dropped do not use up the memory mappings of the process."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch

import tenax
from tenax.xla import mappings
from tenax.xla.totals import totals

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs the list of mappings of Linux")


@pytest.mark.slow
def test_programs_of_functions_in_cycles_are_freed_before_mappings_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(3, device="jax")
    tenax.jit(lambda y: y.exp())(x)  # starts what every compilation needs
    gc.collect()
    half = mappings.count() + 60
    monkeypatch.setattr(mappings, "most_mappings", lambda: 2 * half)
    monkeypatch.setattr(mappings, "_EVERY", 2)
    before, most = totals.pinned, 0
    gc.disable()
    try:
        for n in range(60):
            function = tenax.jit(lambda y, n=n: (y * n).exp() + n)
            function.__dict__["cycle"] = function
            function(x)
            most = max(most, totals.pinned - before)
    finally:
        gc.enable()
    assert most < 50


def test_a_process_that_holds_too_many_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mappings, "most_mappings", lambda: mappings.count() + 1)
    monkeypatch.setattr(mappings, "_EVERY", 1)
    x = torch.ones(3, device="jax")
    with pytest.raises(RuntimeError, match=r"memory mappings .*vm\.max_map_count"):
        tenax.jit(lambda y: y.sin() * 5)(x)
    monkeypatch.undo()
    assert tenax.jit(lambda y: y.sin() * 5)(x).shape == (3,)
