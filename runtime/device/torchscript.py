"""TorchScript: tracing on the device, and moving, saving and loading modules, which torch does in C++."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .. import patches
from .._torch import pytree
from .._torch.operators import CONVOLUTION
from ..storage.ordinals import NAME

Plain = Callable[..., Any]
_PACKAGE = str(Path(patches.__file__).parent)

# The arguments of torch's convolutions, in their order.
_ORDER = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_TRANSPOSED_ORDER = ("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation")
_DEFAULTS: dict[str, Any] = {"bias": None, "stride": 1, "padding": 0, "output_padding": 0, "groups": 1, "dilation": 1}


def move(module: nn.Module, fn: Callable[[torch.Tensor], torch.Tensor]) -> nn.Module:
    """Move a script module. Its parameters become new objects; tied parameters stay tied."""
    moved: dict[torch.Tensor, torch.Tensor] = {}
    for tables, is_parameter in (("_parameters", True), ("_buffers", False)):
        for tensors in [getattr(part, tables) for part in module.modules()]:
            for name, tensor in tensors.items():
                if tensor is not None and tensor not in moved:
                    with torch.no_grad():
                        new = fn(tensor)
                    moved[tensor] = nn.Parameter(new, tensor.requires_grad) if is_parameter else new
                tensors[name] = None if tensor is None else moved[tensor]
    return module


def trace(plain: Plain, func: Any, *args: Any, **kwargs: Any) -> Any:
    """Replacement for `torch.jit.trace`."""
    return _traced(plain, func, args, kwargs)


def trace_module(plain: Plain, mod: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """Replacement for `torch.jit.trace_module`."""
    return _traced(plain, mod, args, kwargs)


def _traced(plain: Plain, traced: Any, args: Any, kwargs: Any) -> Any:
    held = (*traced.parameters(), *traced.buffers()) if isinstance(traced, nn.Module) else ()
    tensors = (x for x in (*held, *pytree.tree_leaves((args, kwargs))) if isinstance(x, torch.Tensor))
    if all(t.device.type != NAME for t in tensors):
        return plain(traced, *args, **kwargs)
    with ExitStack() as undo:
        for name in ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"):
            for owner in ("torch", "torch.nn.functional"):
                undo.enter_context(patches.temporarily(f"{owner}.{name}", _recorded(name)))
        with warnings.catch_warnings(record=True) as caught:
            found = plain(traced, *args, **kwargs)
    for each in caught:
        if not _is_of_a_kernel(each.filename):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return found


def _is_of_a_kernel(file: str) -> bool:
    """Whether a warning comes from tenax's kernels: they compare sizes, which are tensors under `torch.jit.trace`."""
    return file.startswith(("<tenax", _PACKAGE))


@functools.cache
def _recorded(name: str) -> Callable[..., torch.Tensor]:
    """A convolution that calls `aten::_convolution`, so that `torch.jit.trace` records it. torch's own function calls
    it inside a kernel that the device replaces. Arguments not covered here go to torch's function."""
    plain, n, transposed = getattr(torch, name), int(name[-2]), "transpose" in name
    order = _TRANSPOSED_ORDER if transposed else _ORDER

    def convolve(*args: Any, **kwargs: Any) -> torch.Tensor:
        given = dict(zip(order, args, strict=False)) | kwargs
        known = {"input", "weight"} <= given.keys() <= {*order} and len(given) == len(args) + len(kwargs)
        if not known or isinstance(given.get("padding"), str):
            return plain(*args, **kwargs)
        every = _DEFAULTS | given
        numbers = (_spread(every[key], n) for key in ("stride", "padding", "dilation"))
        output_padding = _spread(every["output_padding"], n)
        return _convolve(
            n, every["input"], every["weight"], every["bias"], *numbers, transposed, output_padding, every["groups"]
        )

    return convolve


def _spread(value: Any, n: int) -> list[int]:
    values = [*value] if isinstance(value, (tuple, list)) else [value]
    return values * n if len(values) == 1 else values


def _convolve(n: int, input: torch.Tensor, *args: Any) -> torch.Tensor:
    batched = input.dim() > n + 1
    x = input if batched else input.unsqueeze(0)
    found: torch.Tensor = CONVOLUTION(x, *args, False, False, True, True)
    return found if batched else found.squeeze(0)


def load(plain: Plain, f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Replacement for `torch.jit.load` that loads on the CPU first: C++ would write into device memory."""
    if map_location is None or torch.device(map_location).type != NAME:
        return plain(f, map_location, *args, **kwargs)
    return plain(f, "cpu", *args, **kwargs).to(map_location)


def save(plain: Plain, module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """Replacement for a script module's `save` that saves a CPU copy: C++ would read device memory."""
    return plain(_on_host(module), *args, **kwargs)


def save_to_buffer(plain: Plain, module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """Replacement for a script module's `save_to_buffer`; see `save`."""
    return plain(_on_host(module), *args, **kwargs)


def _on_host(module: nn.Module) -> nn.Module:
    ours = any(t.device.type == NAME for t in (*module.parameters(), *module.buffers()))
    return copy.deepcopy(module).to("cpu") if ours else module
