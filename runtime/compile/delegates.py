"""Functions of torch.compile that behave differently for the device: inductor's entry, and TorchDynamo's captures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx

from .._torch import NAME, pytree
from .._torch.dynamo import list_mode_options
from ..storage import random


def compile_fx(
    inductor: Callable[..., Any],
    module: fx.GraphModule,
    inputs: Sequence[Any],
    *args: Any,
    config_patches: Mapping[str, Any] | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """`torch._inductor.compile_fx.compile_fx`, as `inductor`, for `torch.compile(f)` without a backend.

    Graphs of device tensors go to tenax, all others to inductor. torch.compile's mode and options are in
    `config_patches`.

    Raises:
        ValueError: an option is inductor's, and the graph has tensors of the device.
    """
    if not _is_on_device(module, inputs):
        return inductor(module, inputs, *args, config_patches=config_patches, **options)
    _refuse_options(config_patches or {})
    from .backend import backend

    return backend(module, inputs)


def _is_on_device(module: fx.GraphModule, inputs: Sequence[Any]) -> bool:
    """Whether a graph takes or makes tensors of the device."""
    made = (node.meta.get("example_value") for node in module.graph.nodes)
    tensors = (x for x in pytree.tree_leaves([*inputs, *made]) if isinstance(x, torch.Tensor))
    return any(x.device.type == NAME for x in tensors)


def _refuse_options(config: Mapping[str, Any]) -> None:
    """Raise for options of inductor that no mode sets; all modes mean the same on the device."""
    if not config:
        return
    of_modes = {name for options in list_mode_options().values() for name in options}
    if unknown := sorted(config.keys() - of_modes):
        raise ValueError(
            f"the options {unknown} are inductor's, and the program computes on device {NAME!r}; expected "
            'torch.compile(function, backend="tenax", options=...), or tenax.export for a program that is saved'
        )


def trace_frame(plain: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """`torch._dynamo.convert_frame.trace_frame`, as `plain`, after which the random state of the device is as before.

    Operators without a Meta kernel (those of Dirichlet and binomial distributions) run on zeros there, for the shapes
    of their results. torch restores the states of the CPU and of CUDA.
    """
    before = random.state()
    try:
        return plain(*args, **options)
    finally:
        random.restore(before)
