"""A program that prints, as JSON, which attributes of torch and JAX it finds changed at each stage of a process.

It runs in a process of its own, in which tenax is not yet imported. A line is a stage, with the changed attributes:
those that are functions, classes or descriptors, and other values that name tenax.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import sys
import types
from typing import Any

import jax
import jax.export
import torch
import torch._dynamo
import torch._higher_order_ops
import torch._inductor.compile_fx
import torch.nested._internal.ops
import torch.nn.attention.flex_attention
import torch.optim._adafactor
from torch.optim.swa_utils import AveragedModel

# What torch and JAX change by themselves when they are first used has happened before the first snapshot.
cpu = torch.nn.Linear(2, 2)
torch.optim.Adam(cpu.parameters()), torch.optim.SGD(cpu.parameters())
torch.compile(cpu, backend="aot_eager")(torch.ones(2, 2)).sum().backward()
jax.jit(jax.numpy.sin)(1.0)
assert "tenax" not in sys.modules

LIBRARIES = {"torch", "jax", "jaxlib", "_signal"}
# Libraries that are imported after tenax, so that what is tenax's is known by its file alone.
TRAINERS = {
    "ACCELERATE": ("accelerate",),
    "TRANSFORMERS": ("transformers.training_args",),
    "SAFETENSORS": ("safetensors.torch",),
    "LIGHTNING": ("lightning.pytorch", "lightning.fabric", "pytorch_lightning", "lightning_fabric"),
}
ABSENT = object()
Snapshot = dict[int, tuple[str, dict[str, Any]]]


def snapshot(libraries: set[str] = LIBRARIES) -> Snapshot:
    """The attributes of every module of the libraries, and of every class that one of them names."""
    owners: Snapshot = {}
    for module in list(sys.modules.values()):
        if type(module) is types.ModuleType and module.__name__.partition(".")[0] in libraries:
            owners.setdefault(id(module), (module.__name__, dict(vars(module))))
            for value in list(vars(module).values()):
                if issubclass(type(value), type) and str(value.__module__).partition(".")[0] in libraries:
                    owners.setdefault(id(value), (f"{value.__module__}.{value.__qualname__}", dict(vars(value))))
    return owners


def is_code(value: Any) -> bool:
    return callable(value) or hasattr(value, "__get__")


def is_ours(value: Any) -> bool:
    """Whether a value comes from tenax, or names it, its folder or its device."""
    text = str(getattr(value, "pattern", value))
    modules = str(getattr(value, "__module__", "")), type(value).__module__
    folder = os.path.dirname(tenax.__file__)
    return any(name in text for name in ("tenax", "JAX", folder, re.escape(folder))) or any(
        m.partition(".")[0] == "tenax" for m in modules
    )


def changed(before: Snapshot, after: Snapshot) -> list[str]:
    found = []
    for key, (owner, old) in before.items():
        new = after[key][1] if key in after else old
        for name in old.keys() | new.keys():
            was, now = old.get(name, ABSENT), new.get(name, ABSENT)
            if was is now or isinstance(now, types.ModuleType):
                continue
            if is_ours(now) or ((is_code(was) or is_code(now)) and was is not None):  # None: a cache of the library
                found.append(f"{owner}.{name}")
    return sorted(found)


def written_by_tenax(libraries: set[str]) -> list[str]:
    """The attributes of libraries that are functions of tenax's files, but for those imported from other libraries."""
    folder, found = os.path.dirname(tenax.__file__), []
    for owner, attributes in snapshot(libraries).values():
        for name, value in attributes.items():
            code = getattr(getattr(value, "__func__", value), "__code__", None)
            own = str(getattr(value, "__module__", "")).partition(".")[0] in {"tenax", *libraries}
            if own and isinstance(code, types.CodeType) and code.co_filename.startswith(folder):
                found.append(f"{owner}.{name}")
    return sorted(found)


def report(stage: str, found: list[str]) -> None:
    print(json.dumps([stage, found]))


start = snapshot()
import tenax  # noqa: E402

imported = snapshot()
by_others = {
    "JAX": "jax",
    "DYNAMO": "torch._dynamo.",
    "INDUCTOR": "torch._inductor.compile_fx.",
    "FLEX": "torch.nn.attention.flex_attention",
    "JAGGED": "torch.nested.",
    "CONTEXT": "torch.distributed.tensor.experimental.",
}
report("IMPORT", [path for path in changed(start, imported) if not path.startswith((*by_others.values(),))])
for when, prefix in by_others.items():
    report(when, [path for path in changed(start, imported) if path.startswith(prefix)])

x = torch.ones(3, 2, device="jax")
used = snapshot()
report("TENSOR", changed(imported, used))

# A traced function has the hook take the snapshot: what it names itself would belong to its state.
inside: list[Snapshot] = []
objects: dict[str, set[str]] = {}


def own_methods() -> dict[str, set[str]]:
    """The methods that stand on the objects themselves, by class."""
    found = {}
    for value in (scheduler, scaler, averaged):
        cls = type(value)
        methods = {name for name, own in vars(value).items() if is_code(own) and hasattr(cls, name)}
        found[f"{cls.__module__}.{cls.__qualname__}"] = methods
    return found


def take(event: str, _: Any) -> None:
    if event == "tenax.snapshot":
        inside.append(snapshot())
        objects.update(own_methods())


model = torch.nn.Linear(2, 2).to("jax")
averaged = AveragedModel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scaler = torch.amp.GradScaler("jax")
sys.addaudithook(take)


@tenax.jit
def step(x: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss = model(x).square().sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    averaged.update_parameters(model)
    sys.audit("tenax.snapshot")
    return loss


report("JIT", changed(used, decorated := snapshot()))
step(x)
report("JIT_TRACE", sorted(set.intersection(*(set(changed(decorated, s)) for s in inside))))
for cls, left in own_methods().items():
    report("objects", [f"{cls}.{name}" for name in sorted(objects[cls] - left)])
report("after a trace", changed(decorated, traced := snapshot()))

inside.clear()
pure = tenax.interop.t2j(lambda x: (sys.audit("tenax.snapshot"), x.sin())[1])
jax.grad(lambda x: pure(x).sum())(jax.numpy.ones(3))
report("PURE_TRACE", changed(traced, inside[-1]))
report("after a pure function", changed(traced, transformed := snapshot()))

torch.compile(lambda x: x.sin() + 1, backend="tenax")(x)
report("COMPILE", changed(transformed, compiled := snapshot()))

torch.distributed.init_process_group("tenax", store=torch.distributed.HashStore(), rank=0, world_size=1)
torch.distributed.destroy_process_group()
torch.distributed.distributed_c10d._backend = None  # a group leaves its name there
report("GROUP", changed(compiled, grouped := snapshot()))

import tenax.compat.torchax  # noqa: E402

report("TORCHAX", changed(grouped, others := snapshot()))

from tenax.compat.torch_xla.distributed.spmd import mark_sharding  # noqa: E402, F401

report("TORCH_XLA", changed(others, named := snapshot()))

tenax.compat.torch_xla.install()
report("TORCH_XLA_INSTALL", changed(named, snapshot()))

for stage, names in TRAINERS.items():
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    report(stage, written_by_tenax({name.partition(".")[0] for name in names}))
sys.stdout.flush()
os._exit(0)  # the device's threads need not be waited for
