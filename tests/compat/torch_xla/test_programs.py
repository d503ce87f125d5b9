"""Programs for PyTorch/XLA that `tenax xla` runs; they also compute the losses that CPU torch gives."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.compat.torch_xla.test_scripts import SCRIPTS, run
from tests.helpers.agreement import close
from tests.helpers.tolerances import LOSSES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("script", "arguments", "devices"),
    [
        ("resume", ["xm"], 2),
        ("resume", ["xser"], 1),
        ("resume", ["torch"], 1),
        ("mixed_precision", ["float32"], 1),
        ("mixed_precision", ["bfloat16"], 1),
        ("launched", [], 1),
        ("launched", [], 4),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value),
)
def test_a_program_trains_as_on_the_cpu(script: str, arguments: list[str], devices: int, tmp_path: Path) -> None:
    done = run(str(SCRIPTS / f"{script}.py"), str(tmp_path), *arguments, CPU_NUM_DEVICES=str(devices))
    assert done.returncode == 0, done.stderr
    results = torch.load(tmp_path / "losses.pt", weights_only=True)
    found, expected = results["losses"], results["expected"]
    if script != "mixed_precision":
        assert len(found) == 20 if script == "resume" else len(found) == 2 * 20 // devices
        close(found, expected, LOSSES)
        return
    for name, losses in found.items():
        assert losses.isfinite().tolist() == [step != 7 for step in range(20)]
        if arguments == ["float32"]:
            close(losses, expected[name], LOSSES, nan=True)
        else:
            close(losses.bfloat16(), expected[name].bfloat16(), nan=True)


FAILING = """
import sys, torch, torch_xla, torch_xla.core.xla_model as xm, torch_xla.distributed.parallel_loader as pl

def loader(index):
    def batches():
        for i in range(4):
            if i == 2 and index == 1:
                raise OSError("the disk of rank 1")
            yield torch.ones(2)
    for x in pl.MpDeviceLoader(batches(), xm.xla_device()):
        xm.all_reduce("sum", [x])

def closure(index):
    def bad(x):
        raise KeyError(f"a closure of rank {index}")
    for i in range(3):
        x = torch.ones(2, device="xla") * i
        if index == 1:
            xm.add_step_closure(bad, args=(x,))
        xm.all_reduce("sum", [x])
        xm.mark_step()

def shapes(index):
    x = torch.ones(2 + index, device="xla")
    xm.all_reduce("sum", [x])
    x.tolist()

def ended(index):
    if index == 0:
        sys.exit(3)
    xm.mesh_reduce("x", 1.0, sum)

if __name__ == "__main__":
    torch_xla.launch({"loader": loader, "closure": closure, "shapes": shapes, "ended": ended}[sys.argv[1]])
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("loader", "OSError: the disk of rank 1"),
        ("closure", "KeyError: 'a closure of rank 1'"),
        ("shapes", "expected the same collective, with the same shapes, on every rank"),
        ("ended", "process 0 terminated with exit code 3"),
    ],
)
def test_a_failure_of_one_process_ends_the_program(name: str, text: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FAILING)
    done = run(str(script), name, CPU_NUM_DEVICES="2", TENAX_XLA_TIMEOUT="60")
    assert done.returncode == 1
    assert text in done.stderr
