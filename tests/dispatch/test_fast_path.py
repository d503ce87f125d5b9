"""The fast path: how few Python functions a repeated call enters, and that overloads of one shape share their code."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch

import tenax
from tenax.aten.registry import kernel_of
from tests.helpers.processes import run

RUNTIME = str(Path(tenax.__file__).parent)

CALLS: dict[str, Callable[[torch.Tensor], object]] = {
    "sin": torch.sin,
    "add": lambda x: torch.add(x, x),
    "add of a number": lambda x: torch.add(x, 2),
    "add_": lambda x: x.add_(x),
    "mm": lambda x: torch.mm(x, x),
    "addmm_": lambda x: x.addmm_(x, x),
    "clamp": lambda x: torch.clamp(x, x, None),
    "var": lambda x: torch.var(x, correction=0),
    "softmax": lambda x: torch.softmax(x, 0),
}


def functions_entered(call: Callable[[], object]) -> list[str]:
    """The functions of tenax that a call enters, in order."""
    entered = list[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(("<tenax", RUNTIME)):
            entered.append(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


def report() -> None:
    """Print the functions that each repeated call enters, by its name."""
    x, entered = torch.ones(3, 3, device="jax"), {}
    for name, call in CALLS.items():
        for _ in range(3):
            call(x)
            tenax.synchronize()  # the program is compiled
        entered[name] = functions_entered(functools.partial(call, x))
    print(json.dumps(entered))


def test_a_repeated_call_enters_few_functions() -> None:
    # In a process of its own, because meshes and observers that other tests use take calls off the fast path.
    ran = run("from tests.dispatch.test_fast_path import report; report()")
    for name, entered in json.loads(ran.stdout).items():
        assert entered[0].endswith("kernel"), (name, entered)
        # The kernel, the new cell, and those that count calls until good code takes over.
        assert len(entered) <= 5, (name, entered)


def test_overloads_of_one_shape_share_one_text() -> None:
    assert kernel_of("sub.Tensor").__code__ is kernel_of("add.Tensor").__code__
