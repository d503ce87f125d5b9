"""Freed memory of the host is kept for later arrays."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from tenax.dispatch import process_settings

pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="mallopt is a function of glibc")

# A gradient that is accumulated in new arrays of 4 MiB.
LOOP = """
import resource
import torch, tenax

row, total = torch.ones(1024, device="jax"), torch.zeros(1024, 1024, device="jax")

def faults(calls):
    global total
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(calls):
        total = total + torch.ops.aten.select_backward(row, [1024, 1024], 0, 3)
        torch.jax.synchronize()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / calls

faults(300)
print(faults(200))
"""


@pytest.mark.slow
def test_an_operation_does_not_take_its_memory_from_the_kernel_at_each_call() -> None:
    output = subprocess.run([sys.executable, "-c", LOOP], capture_output=True, text=True, check=True).stdout
    assert float(output) < 100, "an array of 4 MiB has 1024 pages"


@pytest.mark.parametrize(
    ("name", "value"), [("MALLOC_TRIM_THRESHOLD_", "131072"), ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=131072")]
)
def test_settings_of_the_environment_take_precedence(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setattr(process_settings.ctypes, "CDLL", lambda _: pytest.fail("the allocator was changed"))
    monkeypatch.setenv(name, value)
    process_settings.keep_freed_memory()


def test_other_settings_of_the_environment_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Huge pages help besides."""
    asked: list[str | None] = []
    monkeypatch.setattr(process_settings.ctypes, "CDLL", asked.append)
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    process_settings.keep_freed_memory()
    assert asked == [None]
