"""The parts of Dynamo in C++ that cost nothing to import: its frame evaluation, and the version of a dict."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from .. import patches
from ..releases import private_names

with private_names("torch", torch.__version__):
    # (callback): the one that compiles the frames of this thread, which it returns; None turns compiling off
    from torch._C._dynamo.eval_frame import set_eval_frame as set_eval_frame
    from torch._C._dynamo.guards import dict_version as dict_version  # which every write to a dict changes


def is_dynamo_loaded() -> bool:
    """Whether Dynamo was imported, as it is by the first use of `torch.compile`."""
    return "torch._dynamo" in sys.modules


# The module that decides which Python frames Dynamo compiles, and that in which it traces optimizers.
TRACE_RULES = "torch._dynamo.trace_rules"
OPTIMIZERS = "torch._dynamo.variables.optimizer"


def skip_frames() -> None:
    """Have Dynamo leave alone the frames of tenax and of JAX, which run while it watches for frames to compile.

    A call of `call_jax`, torchax's too, is a node of a graph: torch looks into it where a compiled function calls it.
    """
    for package in ("tenax", "tenax.generated", "jax", "jaxlib"):
        sys.modules[TRACE_RULES].add(package)
    root = Path(__file__).parent.parent
    calls = {str(root / name) for name in ("interop/calls.py", "compat/torchax/conversion.py")}
    patches.wrap(f"{TRACE_RULES}.BUILTIN_INLINE_WHEN_CALLED", lambda plain: {*plain, *calls})


def keep_traced_counters() -> None:
    """Have Dynamo keep the step counters of an optimizer that are part of its graph already.

    Before it traces a parameter group, it replaces all counters on the CPU by copies on the device. Where the state of
    the optimizer is made meanwhile, the graph counts the replaced ones of the groups before.
    """

    def keeping(plain: Callable[[Any], None]) -> Callable[[Any], None]:
        def move_step_if_cpu(optimizer: Any) -> None:
            states = optimizer.value.state
            traced = [
                (p, s["step"]) for p, s in states.items() if p.is_jax and s.get("step") in optimizer.tensor_to_source
            ]
            plain(optimizer)
            for parameter, counter in traced:
                states[parameter]["step"] = counter

        return move_step_if_cpu

    patches.wrap(f"{OPTIMIZERS}.OptimizerVariable.move_step_if_cpu", keeping)


def assume_constant(function: Callable[..., Any]) -> None:
    """Have Dynamo call a function while it traces; `torch.compiler.assume_constant_result` would import Dynamo."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]


def trace_wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have Dynamo trace the function that this one wraps in its place."""
    function._torchdynamo_inline = function.__wrapped__  # type: ignore[attr-defined]
    return function
