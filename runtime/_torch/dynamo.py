"""Dynamo and AOTAutograd, for `torch.compile`. Importing them takes seconds, so only the backend does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    import torch._functorch.config as functorch_config
    from torch._dynamo import maybe_mark_dynamic as maybe_mark_dynamic
    from torch._dynamo.backends.common import aot_autograd as aot_autograd
    from torch._functorch._aot_autograd.utils import make_boxed_func as make_boxed_func
    from torch._functorch.partitioners import min_cut_rematerialization_partition as min_cut_rematerialization_partition
    from torch._guards import TracingContext
    from torch._inductor import list_mode_options as list_mode_options

__all__ = ["functorch_config"]


def boxed(run: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Mark a function for AOTAutograd as taking its arguments as one list, which it may clear."""

    def call(args: list[Any]) -> Any:
        return run(args)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def writes_inputs() -> bool:
    """Whether the graph that AOTAutograd compiled last, within the current capture, writes to any of its inputs."""
    context = TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return True
    return any(found.mutates_data for found in context.fw_metadata.input_info)
