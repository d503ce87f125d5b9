"""torch's autograd: its engine, the running node, saved-tensor hooks, forward-mode AD, and the property `grad`."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import torch
from torch.autograd import Variable, forward_ad

from ..releases import private_names
from .functorch import are_transforms_active

with private_names("torch", torch.__version__):
    ENGINE_CLASS: Any = type(Variable._execution_engine)
    GRAD: Any = torch._C.TensorBase.grad  # the property that `torch.Tensor.grad` inherits
    keeps_graph = torch._C._autograd._get_current_graph_task_keep_graph  # whether the running backward retains it
    current_node = torch._C._current_autograd_node  # the node that backward is running on this thread, or None
    # (ignore_is_tracing: bool): the innermost pair of `saved_tensors_hooks`, or None.
    saved_tensors_hooks = torch._C._autograd._top_saved_tensors_default_hooks
    # Whether an `autograd.Function` defines `setup_context`, given that attribute.
    defines_setup_context = torch.autograd.function._is_setup_context_defined
    # (tensors): a context in which writes do not increment their version counters.
    preserved_versions: Any = torch.autograd._unsafe_preserve_version_counter  # type: ignore[attr-defined]
    forward_ad._current_level  # noqa: B018 (checked here, read below)
    _delayed_error: Any = torch._C._functions.DelayedError

_PLAIN = torch.Tensor, torch.nn.Parameter


def in_forward_mode() -> bool:
    """Whether a level of forward-mode AD is active."""
    return forward_ad._current_level >= 0


def forward_class(node: Any) -> type:
    """The `autograd.Function` class that created a graph node."""
    return type(node)._forward_cls


def accumulators_of(tensors: Iterable[torch.Tensor]) -> Any:
    """What keeps the nodes that accumulate the gradients of the leaves among some tensors alive; None in a process of
    one thread.

    Where `Function.apply` makes such a node, it waits for the lock of the leaf and holds Python's. If another thread
    makes the node, in an operator, it holds the lock of the leaf and waits for Python's, to ask the device guard. Here
    they are made without Python's lock.
    """
    if threading.active_count() < 2 or are_transforms_active():
        return None
    leaves = [t for t in tensors if t.__class__ in _PLAIN and t.requires_grad and t.is_leaf]
    return _delayed_error("", len(leaves))(*leaves) if leaves else None


def queue_callback(function: Any) -> None:
    """Call a function at the end of the running backward pass."""
    with private_names("torch", torch.__version__):
        engine: Any = torch.autograd.Variable._execution_engine
    engine.queue_callback(function)
