"""`torchax.checkpoint`: trees of tensors and other values as Orbax checkpoints."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import os
import sys
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from math import isfinite
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..._torch import NAME, pytree
from ...trace.transfer import from_jax, to_jax

_KEYS = "$keys"  # the keys of a dict with non-string keys, which Orbax would convert to strings
_CLASS = "$class"  # the class of a named tuple without fields, which Orbax does not store, or of an OrderedDict
_ORDERED = "collections:OrderedDict"


def save_checkpoint(state: Any, path: str, step: int | None = None) -> None:
    """Write a tree of tensors, arrays, numbers and strings with Orbax into the directory `path`.

    With a step, it is written to a subdirectory of that name. An existing checkpoint is replaced.

    Raises:
        ImportError: orbax-checkpoint is not installed.
        TypeError: a key of a dict is not a string, finite number, boolean or None.
    """
    place = path if step is None else os.path.join(path, str(step))
    with _checkpointer() as checkpointer:
        checkpointer.save(os.path.abspath(place), to_jax(_with_string_keys(state)), force=True)


def load_checkpoint(path: str) -> Any:
    """Load the latest step of `save_checkpoint`, or a file of `torch.save`, with arrays as device tensors.

    Tuples, numbers, strings and dict keys are restored exactly. So are named tuples (optax states), if the module of
    their class has been imported; otherwise they have their fields but not their class.

    Raises:
        FileNotFoundError: `path` has no checkpoint.
        ImportError: orbax-checkpoint is not installed.
    """
    if os.path.isfile(path):
        with torch.serialization.safe_globals(_states_of_optax()):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
        return pytree.tree_map_only(torch.Tensor, lambda x: x.to(NAME), loaded)
    place = os.path.abspath(path)
    if not os.path.exists(os.path.join(place, "_METADATA")):
        steps = [name for name in os.listdir(place) if name.isdigit()]
        if not steps:
            raise FileNotFoundError(f"load_checkpoint: there is no checkpoint in {place}")
        place = os.path.join(place, max(steps, key=int))
    orbax = _orbax()
    with _checkpointer() as checkpointer:
        # Arrays are read to the host, so that loading does not require the devices that wrote the checkpoint.
        kinds = checkpointer.metadata(place).item_metadata.tree
        as_array, as_written = orbax.RestoreArgs(restore_type=np.ndarray), orbax.RestoreArgs()
        options = jax.tree.map(lambda k: as_array if type(k) is orbax.metadata.ArrayMetadata else as_written, kinds)
        loaded = checkpointer.restore(place, restore_args=options)
    arrays = jax.tree.map(lambda x: jnp.asarray(x, x.dtype) if isinstance(x, np.ndarray) else x, loaded)
    return _with_own_keys(from_jax(arrays))


def _with_string_keys(tree: Any) -> Any:
    """The tree with string keys in all dicts; dicts with other keys store a list of these."""
    if isinstance(tree, dict):
        values = [_with_string_keys(v) for v in tree.values()]
        ordered = {_CLASS: _ORDERED} if type(tree) is OrderedDict else {}
        if all(isinstance(k, str) for k in tree) and not {_KEYS, _CLASS} & set(tree) and not ordered:
            return dict(zip(tree, values, strict=True))
        for key in tree:
            if not isinstance(key, (str, int, float, type(None))) or (isinstance(key, float) and not isfinite(key)):
                raise TypeError(
                    f"save_checkpoint: got the key {key!r}; expected a string, finite number, boolean or None"
                )
        return {_KEYS: json.dumps([repr(k) for k in tree]), **ordered, **{str(i): v for i, v in enumerate(values)}}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        if not tree:
            return {_CLASS: f"{type(tree).__module__}:{type(tree).__name__}"}
        return type(tree)(*map(_with_string_keys, tree))
    return type(tree)(map(_with_string_keys, tree)) if isinstance(tree, (list, tuple)) else tree


def _with_own_keys(tree: Any) -> Any:
    """The inverse of `_with_string_keys`."""
    if isinstance(tree, dict):
        if list(tree) == [_CLASS]:
            module, _, name = tree[_CLASS].partition(":")
            return _named_tuple(module, name, ())()
        if _KEYS not in tree:
            return {k: _with_own_keys(v) for k, v in tree.items()}
        keys = map(ast.literal_eval, json.loads(tree[_KEYS]))
        made = {key: _with_own_keys(tree[str(i)]) for i, key in enumerate(keys)}
        return OrderedDict(made) if tree.get(_CLASS) == _ORDERED else made
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return _own_class(type(tree))(*map(_with_own_keys, tree))
    return type(tree)(map(_with_own_keys, tree)) if isinstance(tree, (list, tuple)) else tree


def _named_tuple(module: str, name: str, fields: tuple[str, ...]) -> Callable[..., Any]:
    """The named tuple class of an imported module, or else a new one of the same name."""
    found = getattr(sys.modules.get(module), name, None)
    if isinstance(found, type) and issubclass(found, tuple) and getattr(found, "_fields", None) == fields:
        return found
    return namedtuple(name, fields)


def _own_class(cls: Any) -> Callable[..., Any]:
    """The original of a class that Orbax recreated, whose name has the module, the class and the number of fields."""
    for module in list(sys.modules):
        prefix = module.replace(".", "_") + "_"
        if cls.__name__.startswith(prefix):
            name = cls.__name__.removeprefix(prefix).rpartition("_")[0]
            if name and hasattr(sys.modules[module], name):
                return _named_tuple(module, name, cls._fields)
    made: Callable[..., Any] = cls
    return made


def _states_of_optax() -> list[Any]:
    """The named tuples of optax, if it has been imported: they hold values and run no code."""
    modules = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] == "optax"]
    found = {id(c): c for m in modules for c in vars(m).values() if isinstance(c, type) and hasattr(c, "_fields")}
    return list(found.values())


def _checkpointer() -> Any:
    """A checkpointer that records which containers are tuples."""
    orbax = _orbax()
    # The class of this argument has no public name.
    options = inspect.signature(orbax.PyTreeCheckpointHandler).parameters["pytree_metadata_options"].default
    rich = dataclasses.replace(options, support_rich_types=True)
    return orbax.Checkpointer(orbax.PyTreeCheckpointHandler(pytree_metadata_options=rich))


def _orbax() -> Any:
    try:
        import orbax.checkpoint
    except ImportError as error:
        raise ImportError("orbax is not installed; expected: pip install orbax-checkpoint") from error
    return orbax.checkpoint
