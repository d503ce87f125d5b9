"""Reach: the overloads that an entry calls, found by watching torch's dispatcher."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .entries import Entry
from .programs import call
from .samples import Sample, pick

SAMPLES = 4


class _Watch(TorchDispatchMode):
    """Collects the overload, such as `add.Tensor`, of every aten call below autograd."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "aten":
            self.seen.add(str(func).removeprefix("aten.").removesuffix(".default"))
        return func(*args, **(kwargs or {}))


def reached(entry: Entry, dtype: torch.dtype) -> list[str]:
    """Overloads that the entry's first samples reach on CPU torch, sorted; incomplete if CPU torch cannot run it."""
    if entry.suite in ("module_db", "optim_db"):
        return []
    watch = _Watch()
    try:
        samples = [Sample.of(raw) for raw in entry.info.sample_inputs("cpu", dtype, requires_grad=False)]
        for sample in pick(samples, SAMPLES):
            copied = sample.on("cpu")
            with watch:
                call(entry.info.op, copied)
    except Exception:  # an entry of another backend: keep the overloads seen so far
        pass
    return sorted(watch.seen)
