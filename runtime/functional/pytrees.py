"""Registers the container classes that torch programs return as JAX pytree nodes.

A class is registered when a traced function first returns an instance, if torch's pytree registry knows it
(`ModelOutput`, `torch.return_types.max`) or if it is a dataclass. Price: JAX's global registry grows by the class.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from .._torch import pytree


class _Context:
    """Makes the context of a torch pytree node hashable, as JAX requires."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Context) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def register_nodes(tree: Any) -> Any:
    """Register the classes of a tree's nodes with JAX; returns the tree."""
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
