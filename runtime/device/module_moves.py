"""`module.to("jax")` keeps the parameter objects, as `.to("cuda")` does.

Between devices of different kinds torch creates new parameters, which unties tied weights and leaves optimizers with
the old ones. Here each parameter object keeps its identity, class, attributes and hooks, and takes over the moved
tensor.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..storage.ordinals import NAME, device_index

Conversion = Callable[[torch.Tensor], torch.Tensor]


def _crosses(module: nn.Module, fn: Conversion) -> bool:
    """Whether `fn` moves tensors of the module to or from the device."""
    kinds = {t.device.type for t in (*module.parameters(), *module.buffers())}
    try:
        with torch.no_grad():
            if kinds - {NAME, "meta"} and fn(torch.empty(0, device="cpu")).device.type == NAME:
                return True
            return NAME in kinds and fn(torch.empty(0, device=NAME)).device.type != NAME
    except Exception:
        return False  # `fn` does not convert plain tensors; if it is wrong, it raises again in torch's own code


def _apply(plain: Callable[..., Any], self: nn.Module, fn: Conversion, recurse: bool = True) -> Any:
    """Replacement for `nn.Module._apply` that keeps the parameters if a module moves to or from the device."""
    if not _crosses(self, fn):
        return plain(self, fn, recurse)
    if isinstance(self, torch.jit.ScriptModule):
        return _with_new_parameters(self, fn)
    fn = fn if isinstance(fn, _Once) else _Once(fn)
    if recurse:
        for child in self.children():
            child._apply(fn)
    for parameter in self._parameters.values():
        if parameter is not None:
            _move(parameter, fn)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = fn(buffer)
    return self


def _with_new_parameters(module: nn.Module, fn: Conversion) -> nn.Module:
    """Move a script module, whose parameters live in C++. They become new objects; tied parameters stay tied."""
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


def save(plain: Callable[..., Any], module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """Replacement for a script module's `save` that saves a CPU copy: C++ would find no bytes in device storages."""
    ours = any(t.device.type == NAME for t in (*module.parameters(), *module.buffers()))
    return plain(copy.deepcopy(module).to("cpu") if ours else module, *args, **kwargs)


save_to_buffer = save


class _Once:
    """Memoizes a conversion by tensor, so that shared buffers stay shared."""

    def __init__(self, fn: Conversion) -> None:
        self.fn = fn
        self.moved: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # by id of the buffer, which is kept alive here

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        """Convert a tensor."""
        if isinstance(tensor, nn.Parameter) or tensor.grad_fn is not None:
            return self.fn(tensor)
        if id(tensor) not in self.moved:
            self.moved[id(tensor)] = tensor, self.fn(tensor)
        return self.moved[id(tensor)][1]


def _move(parameter: nn.Parameter, fn: Conversion) -> None:
    from ..trace.data_swaps import swap

    with torch.no_grad():
        moved = fn(parameter)
        grad = None if parameter.grad is None else fn(parameter.grad).requires_grad_(parameter.grad.requires_grad)
    if moved is parameter:  # a tied parameter that has already moved
        return
    hooks, late_hooks = parameter._backward_hooks, parameter._post_accumulate_grad_hooks
    if parameter.requires_grad and parameter._use_count() > 1:  # type: ignore[attr-defined, unused-ignore]
        # A graph holds the old tensor; backward would accumulate into it, where no one can read the gradient.
        torch.autograd.graph.get_gradient_edge(parameter).node.register_prehook(_refuse)
    moved = moved.detach().requires_grad_(parameter.requires_grad)
    swap(parameter, moved)
    parameter.grad = grad
    if hooks:
        parameter._backward_hooks = hooks
    if late_hooks:
        parameter._post_accumulate_grad_hooks = late_hooks


def _refuse(grad_outputs: Any) -> None:
    raise RuntimeError(
        "backward through a module that was moved to another device after its forward; expected the move before "
        "forward or after backward"
    )


def jax(plain: Callable[..., Any], self: nn.Module, device: Any = None) -> nn.Module:
    """Replacement for `nn.Module.jax`, which calls `Tensor.jax`: `self.to("jax")`, or to device `jax:<device>`."""
    return self.to(torch.device(NAME, device_index(device)))
