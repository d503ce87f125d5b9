"""Parts of Dynamo that are cheap to import (frame evaluation, dict versions), and settings made once it is loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from .. import patches
from ..releases import private_names
from .late_modules import OPTIMIZERS, TRACE_RULES
from .meta_kernels import call_with_dynamo

with private_names("torch", torch.__version__):
    # (callback): sets this thread's frame compiler, None for none, and returns the previous one
    from torch._C._dynamo.eval_frame import set_eval_frame as set_eval_frame
    from torch._C._dynamo.guards import dict_version as dict_version  # changes with every write to the dict


def is_dynamo_loaded() -> bool:
    """Whether Dynamo has been imported; the first use of `torch.compile` imports it."""
    return "torch._dynamo" in sys.modules


VARIABLES = "torch._dynamo.variables.tensor"  # its tensors
MARKS = ("_dynamo_", "_has_dynamo_dim_marking", "_specialize_on")  # beginnings of attributes that `mark_dynamic` sets
FAKE_TENSORS = "torch._subclasses.fake_tensor"  # with which torch traces
PRINTER = "torch._tensor_str"  # which shows tensors


_ROOT = Path(__file__).parent.parent
inlined = {str(_ROOT / name) for name in ("interop/calls.py", "_torch/graph_collectives.py")}  # `compat` adds to it


def _inlined(plain: set[str]) -> set[str]:
    inlined.update(plain)
    return inlined


def skip_frames() -> None:
    """Make Dynamo skip the frames of tenax and JAX, which run while it looks for frames to compile.

    A compiled function's call of `call_jax` becomes a graph node, so Dynamo must inline that and its like.
    """
    for package in ("tenax", "tenax.generated", "jax", "jaxlib", "ml_dtypes"):
        sys.modules[TRACE_RULES].add(package)
    patches.wrap(f"{TRACE_RULES}.BUILTIN_INLINE_WHEN_CALLED", _inlined)
    call_with_dynamo()


def keep_traced_counters() -> None:
    """Make Dynamo keep the step counters of an optimizer that are already part of its graph.

    Before it traces a parameter group, it replaces all CPU counters with device copies. If the optimizer's state is
    created during the trace, the graph would then update the replaced counters of earlier groups.
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
    """Make Dynamo call a function while tracing; `torch.compiler.assume_constant_result` would import Dynamo."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]


def trace_wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make Dynamo trace the function that `function` wraps, in place of the wrapper."""
    function._torchdynamo_inline = function.__wrapped__  # type: ignore[attr-defined]
    return function
