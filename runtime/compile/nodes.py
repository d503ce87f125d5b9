"""Queries on the nodes of an FX graph of aten ops: devices, shapes, randomness."""

from __future__ import annotations

import operator
import re

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from tenax.generated.table import ROWS

from .._torch import NAME, pytree
from ..aten.registry import signature_of

_hop = torch.ops.higher_order


def device_of(module: fx.GraphModule) -> int | None:
    """The index of the device on which a graph computes; None if none of its tensors is on device jax.

    Raises:
        NotImplementedError: its tensors are on several devices.
    """
    found = {x.device.index or 0 for n in module.graph.nodes for x in tensors_of(n) if x.device.type == NAME}
    if len(found) > 1:
        names = ", ".join(f"{NAME}:{i}" for i in sorted(found))
        raise NotImplementedError(
            f"torch.compile(backend='tenax'): a graph on the devices {names}; expected one. Move tensors between "
            "devices outside of the compiled function"
        )
    return next(iter(found), None)


def has_open_results(module: fx.GraphModule) -> bool:
    """Whether any result has a data-dependent shape, which torch captures only if told to."""
    return any(free_unbacked_symbols(x) for n in module.graph.nodes for x in tensors_of(n))


def tensors_of(node: fx.Node) -> list[torch.Tensor]:
    """The fake tensors that torch traced as a node's results."""
    return [x for x in pytree.tree_leaves(node.meta.get("val")) if isinstance(x, torch.Tensor)]


def line_of(node: fx.Node) -> str:
    """The user's source line of a node as text, or nothing if torch does not know it."""
    found = re.findall(r'File "(.+)", line (\d+), in (.+)', node.meta.get("stack_trace") or "")
    return " ({}:{}, in {})".format(*found[-1]) if found else ""


def is_on_host(node: fx.Node) -> bool:
    """Whether a result belongs on the CPU. A random state, a CPU tensor in torch, is a key here and does not."""
    if node.target is operator.getitem and node.args[0].target is _hop.run_and_save_rng_state:  # type: ignore[union-attr]
        return False
    return any(x.device.type == "cpu" for x in tensors_of(node))


def is_steady(node: fx.Node) -> bool:
    """Whether an input is always a device tensor with the same sizes and strides."""
    value = node.meta.get("val")
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == NAME
        and all(isinstance(n, int) for n in (*value.size(), *value.stride()))
    )


def is_random(node: fx.Node) -> bool:
    """Whether a node draws random numbers."""
    if node.target is _hop.run_and_save_rng_state:
        return True
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    name = node.target.name().removeprefix("aten::")  # type: ignore[union-attr]
    if name not in ROWS:
        return True
    found = signature_of(name)
    return not found.is_idle(found.bind(node.args, node.kwargs))


def on_device(module: fx.GraphModule) -> tuple[fx.GraphModule, list[torch.Tensor]]:
    """Copy a graph with all devices as "jax:0" and its tensor constants as extra inputs; also return those constants.

    Raises:
        NotImplementedError: the graph draws random numbers on the CPU.
    """
    graph, env, constants = fx.Graph(), dict[fx.Node, fx.Node](), list[torch.Tensor]()
    nodes = list(module.graph.nodes)
    for node in nodes:
        if node.op == "placeholder":
            env[node] = graph.node_copy(node)
    for node in nodes:
        if node.op == "get_attr" and isinstance(value := getattr(module, node.target), torch.Tensor):
            constants.append(value)
            env[node] = graph.placeholder(node.name)
    device = torch.device(NAME, 0)
    for node in nodes:
        if node in env:
            continue
        if is_random(node) and node.target is not _hop.run_and_save_rng_state and is_on_host(node):
            raise NotImplementedError(
                f"torch.compile(backend='tenax'): {node.target} draws random numbers on the CPU in a graph of device "
                f"{NAME!r}; draw them on the device, or outside of the compiled function"
            )
        copy = env[node] = graph.node_copy(node, env.__getitem__)
        for field in ("args", "kwargs"):
            moved = fx.node.map_aggregate(getattr(copy, field), lambda x: device if isinstance(x, torch.device) else x)
            setattr(copy, field, moved)
    return fx.GraphModule(module, graph), constants
