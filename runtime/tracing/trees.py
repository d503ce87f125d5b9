"""JAX learns the structures that torch programs return, so that every one of them is a tree to it.

A class that torch's own registry of trees knows (`ModelOutput`, `torch.return_types.max`) or that is a dataclass is
registered with JAX when a traced function first returns one. Price: JAX's registry is global, and grows by that class.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
from torch.utils import _pytree as pytree


class _Context:
    """What torch keeps of a node beside its children, as JAX wants it: hashable."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Context) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def known(tree: Any) -> Any:
    """The tree, after JAX has learned the classes of its nodes."""
    while new := {type(leaf) for leaf in jax.tree.leaves(tree) if _is_node(leaf)}:
        for cls in new:
            _learn(cls)
    return tree


def _is_node(leaf: Any) -> bool:
    return type(leaf) in pytree.SUPPORTED_NODES or dataclasses.is_dataclass(leaf)


def _learn(cls: type) -> None:
    node = pytree.SUPPORTED_NODES.get(cls)
    if node is None:
        jax.tree_util.register_pytree_node(cls, _fields, lambda names, values: _rebuilt(cls, names, values))
        return

    def flatten(value: Any) -> tuple[tuple[Any, ...], _Context]:
        children, context = node.flatten_fn(value)
        return tuple(children), _Context(context)

    def unflatten(context: _Context, children: Any) -> Any:
        return node.unflatten_fn(list(children), context.value)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


def _fields(value: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    names = tuple(f.name for f in dataclasses.fields(value))
    return tuple(getattr(value, n) for n in names), names


def _rebuilt(cls: type, names: tuple[str, ...], values: Any) -> Any:
    made: Any = object.__new__(cls)  # `__init__` may want arrays, where JAX puts placeholders
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made
