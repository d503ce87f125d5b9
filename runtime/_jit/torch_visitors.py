"""Visitors of torch's objects in a state graph: tensors, modules, optimizers, schedulers and scalers."""

from __future__ import annotations

import types
from typing import Any

import torch
from torch.amp import GradScaler
from torch.nn import Module
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from .._torch.modules import SCALER_NUMBERS, SCHEDULER_MARKS
from ..errors import TraceError
from .libraries import is_own, may_hold_state, module_of
from .state_graph import StateGraph, StateNode
from .tensor_hooks import tables_of
from .wrappers import is_wrapper

# The tables of `nn.Module`, and its private attributes.
MODULE_TABLES = (
    *("_parameters", "_buffers", "_modules"),
    *("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"),
)
MODULE_PRIVATE = frozenset(torch.nn.Module().__dict__) - {"training"}
# The hooks that an optimizer's step calls; and the attributes of every optimizer, with those that schedulers set on it.
_STEP_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
_OPTIMIZER = frozenset(torch.optim.SGD([torch.empty(0, device="cpu")]).__dict__) | {"step", *SCHEDULER_MARKS}


def visit_tensor(graph: StateGraph, node: StateNode) -> None:
    """Follow the attributes that a program has set on a tensor, and its hooks."""
    tensor: torch.Tensor = node.value
    graph.reached.tensors[id(tensor)] = node.path, tensor
    node.follow(node.hold(vars(tensor), owner=None if is_wrapper(tensor) else tensor))
    node.edges.append((None, None, node.path, type(tensor)))
    if tensor.is_leaf:
        node.edges += [(None, None, f"the hooks of {node.path}", table) for table in tables_of(tensor)]


def visit_module(graph: StateGraph, node: StateNode) -> None:
    """Follow a module's tables and attributes, and its class."""
    module: Module = node.value
    if isinstance(module, torch.jit.ScriptModule):
        raise TraceError(
            f"{node.path} is a module of TorchScript, whose state a compiled function does not see; expected the "
            "module that it was made of"
        )
    graph.reached.modules[id(module)] = node.path, module
    state = module.__dict__
    graph.tables.update(id(state[name]) for name in MODULE_PRIVATE if isinstance(state.get(name), dict))
    node.follow(node.hold(state, owner=module, table=True), but=MODULE_TABLES)
    for name in MODULE_TABLES:
        snapshot = node.hold(state[name], table=True)
        node.follow(snapshot)
        if not snapshot.content or name.endswith("hooks"):
            snapshot.path += f".{name}"
    cls = type(module)
    forward = getattr(cls, "forward", None)
    if not is_own(module_of(cls)) and may_hold_state(module_of(cls)) and isinstance(forward, types.FunctionType):
        node.edges.append((None, None, f"{node.path}.forward", forward))
    node.edges.append((None, None, node.path, cls))


def visit_optimizer(graph: StateGraph, node: StateNode) -> None:
    """Follow an optimizer's groups, state and hooks, and the attributes that a class of the program adds."""
    optimizer: Optimizer = node.value
    graph.reached.optimizers[id(optimizer)] = node.path, optimizer
    own = set(optimizer.__dict__) - _OPTIMIZER | {"defaults"} if may_hold_state(module_of(type(optimizer))) else set()
    keys = dict.fromkeys(("state", "param_groups", *_STEP_HOOKS, *sorted(own)))
    node.follow(node.hold(optimizer.__dict__, keys=keys))
    graph.tables.update(map(id, (optimizer.state, vars(optimizer).get("defaults"), *optimizer.param_groups)))


def visit_scheduler(graph: StateGraph, node: StateNode) -> None:
    """Follow the objects that a scheduler or scaler refers to; each call recomputes its numbers."""
    value: Any = node.value
    reached = graph.reached.schedulers if isinstance(value, LRScheduler) else graph.reached.scalers
    reached[id(value)] = node.path, value
    node.hold(value.__dict__, kind="script")
    if isinstance(value, GradScaler):
        node.hold(value.__dict__, keys=dict.fromkeys(SCALER_NUMBERS))
    else:
        node.hold(value.__dict__, owner=value, kind="read")
    # What a scaler records about optimizers between `unscale_` and `update`.
    states = value.__dict__.get("_per_optimizer_states", {})
    for state in (states, *states.values()):
        node.hold(state, kind="private")
    # A scheduler's step runs in the trace and again in each call, so the state of its functions is restored in between.
    for function in value.__dict__.get("lr_lambdas", ()):
        for inner in StateGraph(graph.visitor_of, {node.path: function}).snapshots:
            node.hold(inner.container, keys=inner.keys, kind="private")
    for name, item in value.__dict__.items():
        if isinstance(item, (torch.Tensor, Optimizer, LRScheduler)) or name == "_schedulers":
            node.edges.append((None, None, f"{node.path}.{name}", item))
