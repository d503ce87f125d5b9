"""Registers the container classes that torch programs return as JAX pytree nodes.

A class is registered when a traced function first returns an instance, if torch's pytree registry knows it
(`ModelOutput`, `torch.return_types.max`), if it is a dataclass, or if it is a class of the program or of another
library whose instance holds tensors in its attributes (`transformers.DynamicCache`). The cost is that JAX's global
registry grows, and that numbers and strings in the attributes of the last kind are part of the structure.
"""

from __future__ import annotations

import dataclasses
import enum
import types
from typing import Any

import jax
import numpy as np
import torch

from .._torch import pytree

_ARRAYS = (torch.Tensor, jax.Array, np.ndarray)
# Attributes of these kinds are part of the structure.
_STATIC = (
    *(bool, int, float, complex, str, bytes, type, enum.Enum, types.FunctionType, types.MethodType),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, np.dtype, np.generic),
)
_OPAQUE = ("torch", "jax", "jaxlib", "numpy", "builtins")  # libraries whose objects are not containers


class _Context:
    """Makes the context of a torch pytree node hashable, as JAX requires."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Context) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def register_nodes(tree: Any) -> Any:
    """Register the classes of a tree's nodes with JAX; return the tree."""
    while new := {type(leaf) for leaf in jax.tree.leaves(tree) if _is_node(leaf)}:
        for cls in new:
            _learn(cls)
    return tree


def _is_node(leaf: Any) -> bool:
    return type(leaf) in pytree.SUPPORTED_NODES or dataclasses.is_dataclass(leaf) or _holds_arrays(leaf, ())


def _is_container(leaf: Any) -> bool:
    of_library = type(leaf).__module__.partition(".")[0] in _OPAQUE
    return hasattr(leaf, "__dict__") and not (of_library or isinstance(leaf, (*_ARRAYS, *_STATIC, torch.nn.Module)))


def _holds_arrays(leaf: Any, within: tuple[Any, ...]) -> bool:
    """Whether an object's attributes contain arrays, directly or nested, and do not refer back to the object."""
    if not _is_container(leaf) or any(leaf is outer for outer in within):
        return False
    found = jax.tree.leaves(vars(leaf))
    if any(x is outer for x in found for outer in (*within, leaf)):
        return False
    return any(isinstance(x, _ARRAYS) or _holds_arrays(x, (*within, leaf)) for x in found)


def _learn(cls: type) -> None:
    node = pytree.SUPPORTED_NODES.get(cls)
    if node is None:
        if dataclasses.is_dataclass(cls):
            jax.tree_util.register_pytree_node(cls, _fields, lambda names, values: _rebuilt(cls, names, values))
        else:
            jax.tree_util.register_pytree_with_keys(
                cls, _named_attributes, lambda context, values: _restored(cls, context, values), _attributes
            )
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


def _attributes(value: Any) -> tuple[tuple[Any, ...], _Context]:
    """Flatten an object's attributes: those that hold more than static values are children, the rest is context."""
    held = vars(value)
    static = {n: v for n, v in held.items() if all(isinstance(x, _STATIC) for x in jax.tree.leaves(v))}
    children = {n: v for n, v in held.items() if n not in static}
    return tuple(children.values()), _Context((tuple(children), static))


def _named_attributes(value: Any) -> tuple[Any, _Context]:
    children, context = _attributes(value)
    return [(jax.tree_util.GetAttrKey(n), v) for n, v in zip(context.value[0], children, strict=True)], context


def _restored(cls: type, context: _Context, children: Any) -> Any:
    names, static = context.value
    return _rebuilt(cls, (*names, *static), (*children, *static.values()))


def _rebuilt(cls: type, names: tuple[str, ...], values: Any) -> Any:
    made: Any = object.__new__(cls)  # `__init__` may require arrays, but JAX also passes placeholders
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made
