"""What the nodes of an FX graph of aten ops say: devices, shapes, random draws."""

from __future__ import annotations

import operator

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from tenax.generated.table import ROWS

from .._torch import pytree
from ..aten.registry import signature_of

_hop = torch.ops.higher_order


def device_of(module: fx.GraphModule) -> int | None:
    """The index of the device on which a graph computes; None where none of its tensors is on device jax.

    Raises:
        NotImplementedError: there are several.
    """
    found = {x.device.index or 0 for n in module.graph.nodes for x in tensors_of(n) if x.device.type == "jax"}
    if len(found) > 1:
        names = ", ".join(f"jax:{i}" for i in sorted(found))
        raise NotImplementedError(
            f"torch.compile(backend='tenax'): a graph on the devices {names}; expected one. Move tensors between "
            "devices outside of the compiled function"
        )
    return next(iter(found), None)


def has_open_results(module: fx.GraphModule) -> bool:
    """Whether the shape of a result depends on data, as torch captures it where it is asked to."""
    return any(free_unbacked_symbols(x) for n in module.graph.nodes for x in tensors_of(n))


def tensors_of(node: fx.Node) -> list[torch.Tensor]:
    """What torch traced in the place of a node's results."""
    return [x for x in pytree.tree_leaves(node.meta.get("val")) if isinstance(x, torch.Tensor)]


def is_on_host(node: fx.Node) -> bool:
    """Whether a result belongs on the CPU. A random state does not: torch takes it for the CPU's, here it is a key."""
    if node.target is operator.getitem and node.args[0].target is _hop.run_and_save_rng_state:  # type: ignore[union-attr]
        return False
    return any(x.device.type == "cpu" for x in tensors_of(node))


def is_steady(node: fx.Node) -> bool:
    """Whether an input is always a tensor of the device of one shape."""
    value = node.meta.get("val")
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == "jax"
        and all(isinstance(n, int) for n in (*value.size(), *value.stride()))
    )


def is_random(node: fx.Node) -> bool:
    """Whether a node of a graph draws."""
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
    """The graph with every device in it that of the operands, and the tensors that it holds, now further inputs.

    Raises:
        NotImplementedError: it draws random numbers on the CPU.
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
    device = torch.device("jax", 0)
    for node in nodes:
        if node in env:
            continue
        if is_random(node) and node.target is not _hop.run_and_save_rng_state and is_on_host(node):
            raise NotImplementedError(
                f"torch.compile(backend='tenax'): {node.target} draws random numbers on the CPU in a graph of device "
                "'jax'; draw them on the device, or outside of the compiled function"
            )
        copy = env[node] = graph.node_copy(node, env.__getitem__)
        for field in ("args", "kwargs"):
            moved = fx.node.map_aggregate(getattr(copy, field), lambda x: device if isinstance(x, torch.device) else x)
            setattr(copy, field, moved)
    return fx.GraphModule(module, graph), constants
