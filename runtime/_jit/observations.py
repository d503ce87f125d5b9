"""Observations: the record of the Python state that a traced run read.

Each observation says where a value was read, and its kind says how to read it again. A guard is built from observations
alone, so exactly what is observed here is guarded.
"""

from __future__ import annotations

import functools
import inspect
import io
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, call, eq
from typing import Any, NamedTuple

import torch

from ..errors import TraceError
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of
from ..trace import data_swaps
from . import tensor_hooks
from .call_description import changed
from .container_adapters import ClassAttributes
from .host_script import HostScript
from .libraries import is_own, module_of, namespaces_of
from .lines import line_naming
from .rebound_state import ReboundState
from .restriction import ObservedEntries, Restriction
from .settings import reader_of
from .sources import MISSING, BuiltinElements, EntryId, argument_path, entry_path, is_plain, methods_of, same_value
from .state_graph import StateGraph
from .state_in_c import content_of
from .tensor_hooks import hooks_of, tables_of
from .traced_step import TracedStep
from .wrappers import is_wrapper

SIZE = object()  # as a key, stands for the number of entries of a dict

Read = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], list[Any]]
Reason = Callable[["Observation", Any, Any, Any], str]  # old value, new value, and the key if it is one of several


@dataclass(frozen=True, eq=False, slots=True)
class Kind:
    """How observations of one kind are read again and compared."""

    read: Read  # takes owners, keys and the arguments of a call; entries of dicts are read in guards.py
    reason: Reason
    same: Callable[[Any, Any], bool] = same_value  # of values that are not the same object; `eq` is faster
    spreads: bool = False  # whether an observation is a sequence of values
    counter: Callable[[], int] | None = None  # nothing needs to be read while this count is unchanged


class Observation(NamedTuple):
    """One value that was read."""

    kind: Kind
    owner: Any
    key: Any
    value: Any
    name: str  # of the owner, for messages

    def path(self, key: Any = None) -> str:
        """The place, for messages; `key` selects one of several values."""
        key = self.key if key is None else key
        return self.name if key is None else entry_path(self.name, self.owner, key)


def describe_change(observation: Observation, old: Any, new: Any, key: Any = None) -> str:
    """Describe a changed value; `key` selects one of several values."""
    before, now, path = _text(old), _text(new), observation.path(key)
    return f"{path} is another {type(new).__name__}" if now == before else changed(path, before, now)


def _text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{type(value).__name__} of shape {list(value.shape)}"
    shown = is_plain(value) or value is MISSING or (type(value) is tuple and all(map(is_plain, value)))
    return repr(value) if shown else f"of class {type(value).__name__}"


def _gradient_reason(o: Observation, old: bool, new: bool, key: Any = None) -> str:
    return f"the gradient of {o.name} was {'' if old else 'not '}None and is {'not ' if old else ''}None"


def _of_leaf(tensor: torch.Tensor) -> tuple[list[Any], bool]:
    """The hooks of a leaf, and whether it has no gradient."""
    return hooks_of(tensor), tensor.grad is None


def _leaf_reason(o: Observation, old: Any, new: Any, _: Any) -> str:
    return f"{o.name} has other hooks" if old[0] != new[0] else _gradient_reason(o, old[1], new[1])


def _data(tensor: torch.Tensor) -> tuple[Any, TensorSpec | None, int]:
    """The cell, geometry and storage size of a tensor; (None, None, 0) if the tensor has left the device."""
    cell = getattr(tensor.untyped_storage(), "cell", None)
    return (None, None, 0) if cell is None else (cell, TensorSpec.of(tensor), cell.nbytes)


def _data_reason(old: Any, new: Any) -> str:
    if old[0] is not new[0]:
        return "other data (.data was set, or it was swapped or moved)"
    if old[1] == new[1]:
        return f"a storage of another size: it was {old[2]} bytes and is {new[2]}"
    return f"another geometry: it was {_geometry(old[1])} and is {_geometry(new[1])}"


def _geometry(spec: TensorSpec) -> str:
    return f"{list(spec.size)} with strides {list(spec.stride)} from {spec.offset}"


def _flat(owners: Sequence[Iterable[Any]], *_: Any) -> list[Any]:
    return [*chain.from_iterable(owners)]


def _of_each(get: Callable[[Any], Any]) -> Read:
    """How a value of each owner is read."""
    return lambda owners, *_: [*map(get, owners)]


SETTING = Kind(_of_each(call), describe_change)
TYPE = Kind(_of_each(type), lambda o, *_: f"{o.name} is of another class")
ATTRIBUTE = Kind(lambda owners, keys, _: [*map(getattr, owners, keys)], describe_change)
EMPTY = Kind(
    lambda owners, *_: [True] if any(owners) else [], lambda o, *_: f"{o.name} is no longer empty", spreads=True
)
ENTRY, NAMESPACE = (Kind(_flat, describe_change) for _ in range(2))
ELEMENTS = Kind(_flat, describe_change, spreads=True)
ORDER = Kind(_flat, lambda o, *_: f"the keys of {o.name} are in another order", spreads=True)
ITEM = Kind(lambda owners, keys, _: [x.get(k, MISSING) for x, k in zip(owners, keys, strict=True)], describe_change)
ANNOTATIONS = Kind(
    lambda owners, *_: _flat([item for o in owners for item in inspect.get_annotations(o).items()]),
    lambda o, *_: f"{o.name} has other annotations",
    spreads=True,
)
HOST_ARRAY = Kind(_of_each(content_of), lambda o, *_: f"{o.name} holds other values", eq)
SUBCLASSES = Kind(_of_each(type.__subclasses__), lambda o, *_: f"{o.name} has other subclasses", eq)
REBOUND, CHOICES = (  # each says itself what changed
    Kind(lambda owners, keys, arguments: [o.difference(arguments) for o in owners], lambda _, old, new, key: new)
    for _ in range(2)
)
HOST_TENSOR = Kind(
    lambda owners, *_: [t._version for t in owners], lambda o, *_: f"{o.name}, on the CPU, was written", eq
)
DATA = Kind(
    _of_each(_data),
    lambda o, old, new, _: f"{o.name} has {_data_reason(old, new)}",
    eq,
    counter=lambda: data_swaps.count,
)
REQUIRES_GRAD = Kind(_of_each(attrgetter("requires_grad")), describe_change, eq)
GRADIENT = Kind(lambda owners, *_: [t.grad is None for t in owners], _gradient_reason, eq)
HOOKS = Kind(
    lambda owners, *_: [len(tables_of(t)) for t in owners],
    lambda o, *_: f"a hook was registered on {o.name}",
    eq,
    counter=lambda: tensor_hooks.count,
)
ARGUMENT = Kind(lambda owners, keys, arguments: [_of_leaf(arguments[i]) for i in owners], _leaf_reason, eq)
# In order of comparison, after those of dicts.
KINDS = (
    *(SETTING, TYPE, ATTRIBUTE, EMPTY, ELEMENTS, ORDER, ITEM, ANNOTATIONS, HOST_ARRAY, SUBCLASSES, REBOUND),
    *(CHOICES, HOST_TENSOR, DATA, REQUIRES_GRAD, GRADIENT, HOOKS, ARGUMENT),
)
# Attributes of objects in C that their `__dict__` lacks, and those of functions and classes that matter if code names
# them; other attributes of classes are entries of their dict.
ATTRIBUTES: dict[type, tuple[str, ...]] = {
    types.FunctionType: ("__code__", "__defaults__", "__kwdefaults__"),
    functools.partial: ("keywords",),
    BaseException: ("args", "__cause__"),
    defaultdict: ("default_factory",),
}
FUNCTION_WORDS = ("__name__", "__qualname__", "__doc__", "__module__")
CLASS_WORDS = ("__name__", "__qualname__")


def _attributes_of(owner: Any, path: str, names: Iterable[str]) -> list[Observation]:
    """Observe attributes of an object by name."""
    return [Observation(ATTRIBUTE, owner, name, getattr(owner, name), path) for name in names]


def observe(
    step: TracedStep,
    owners: Sequence[tuple[str, torch.Tensor]],
    stable: Sequence[tuple[str, torch.Tensor]],
    leaves: Sequence[tuple[torch.Tensor, torch.Tensor | None]],
    free: set[EntryId],
    restriction: Restriction,
    rebound: ReboundState,
) -> list[Observation]:
    """Collect the observations of a run.

    Args:
        step: the run.
        owners: tensors that are the same in every call, with their paths; the run read or wrote their cells.
        stable: all device tensors that the run could read and that are the same in every call.
        leaves: the leaves whose gradients the run read or changed, with these gradients.
        free: entries whose values each call looks up again.
        restriction: the part of the Python state that the run read.
        rebound: the containers that each call looks up again.

    Raises:
        TraceError: the run reads an iterator, or another object whose content a program cannot follow.
    """
    for i, (path, value) in step.state.reached.streams.items():
        if i in restriction.nodes:
            line = line_naming(step.state, path.rpartition(".")[2])
            if isinstance(value, Iterator) and not isinstance(value, io.IOBase):
                raise TraceError(
                    f"a compiled function reaches {path}, an iterator, which its program would not advance{line}: "
                    "call next() outside and pass what it gives, or pass a list"
                )
            raise TraceError(
                f"a compiled function reaches {path}, a {type(value).__name__}, whose content its program could not "
                f"follow{line}: read it outside and pass what it gives"
            )
    values = [step.state.nodes[i].value for i in restriction.nodes if i not in rebound.objects]
    classes = [value for value in values if isinstance(value, type) and is_own(module_of(value))]
    # First, because from Python 3.14 on, reading the annotations of a class adds an entry to its dict.
    observations = [o for cls in classes for o in _annotations_of(step.state, cls, cls.__qualname__)]
    for entries in restriction.entries.values():
        if entries.snapshot.kind in ("", "read") and id(entries.snapshot.container) not in rebound.containers:
            observations += _of_entries(entries, free)
    if rebound:
        observations.append(Observation(REBOUND, rebound, None, "", ""))
    for i in restriction.nodes:
        node = step.state.nodes[i]
        if i in rebound.objects:
            continue
        value, named = node.value, step.state.named
        names = next((names for cls, names in ATTRIBUTES.items() if isinstance(value, cls)), None)
        if names is not None:
            observations += _attributes_of(value, node.path, names)
            if isinstance(value, types.FunctionType):
                observations += _attributes_of(value, node.path, (word for word in FUNCTION_WORDS if word in named))
                observations += _annotations_of(step.state, value, node.path)
        elif isinstance(value, type):
            if is_own(module_of(value)):
                words = [word for word in CLASS_WORDS if word in named]
                observations += _attributes_of(value, value.__qualname__, ("__mro__", *words))
                if "__subclasses__" in named:
                    subclasses: list[type] = type.__subclasses__(value)
                    observations.append(Observation(SUBCLASSES, value, None, subclasses, value.__qualname__))
        elif i in step.state.reached.modules or i in step.state.reached.objects:
            observations.append(Observation(TYPE, value, None, type(value), node.path))
        if (reader := reader_of(node.value)) is not None:
            path = f"{node.path}()" if callable(value) else node.path
            observations.append(Observation(SETTING, reader, None, reader(), path))
        if (cache := step.state.reached.caches.get(i)) is not None:
            observations += [Observation(ENTRY, cache.table, k, v, cache.path) for k, v in cache.table.items()]
    typed = step.state.reached.typed
    used = (step.state.nodes[i].value for i in restriction.nodes if i in typed)
    observations += [Observation(NAMESPACE, scope, None, content, n) for n, scope, content in namespaces_of(used)]
    for i, (path, array) in step.state.reached.arrays.items():
        if i in restriction.nodes:
            observations.append(Observation(HOST_ARRAY, array.array, None, array.content, path))
    script: HostScript = step.inputs.script
    if script.choices:
        observations.append(Observation(CHOICES, script, None, "", ""))
    paths = {i: path for i, (path, _) in step.state.reached.tensors.items()}
    observations += [Observation(HOST_TENSOR, t, None, t._version, paths[id(t)]) for t in step.inputs.host_tensors]
    numbers = {id(x): i for i, x in enumerate(step.arguments)}
    owned = {id(t) for _, t in owners}
    placed = {id(t): (path, t) for path, t in (*stable, *owners) if id(t) in owned or id(t) in restriction.nodes}
    for path, tensor in placed.values():
        if id(tensor) not in numbers:
            cell_of(tensor).observed = True
            observations.append(Observation(DATA, tensor, None, _data(tensor), path))
    # Observe the flag of each: the run may have set it to the value that it already had.
    wrappers = [(path, t) for i, (path, t) in step.state.reached.tensors.items() if is_wrapper(t)]
    flagged = [*placed.values(), *wrappers] if torch.is_grad_enabled() else []
    flips = {id(effect.tensor) for effect in step.effects.flags}
    flagged += [(path, t) for path, t in stable if id(t) in flips and id(t) not in placed]
    observations += [
        Observation(REQUIRES_GRAD, t, None, t.requires_grad, f"{path}.requires_grad") for path, t in flagged
    ]
    replaced = step.reads.cleared & {id(effect.tensor) for effect in step.effects.gradients}
    for tensor, gradient in leaves:
        number, none = numbers.get(id(tensor)), gradient is None
        if number is None:
            if id(tensor) not in replaced:
                observations.append(Observation(GRADIENT, tensor, None, none, paths[id(tensor)]))
            observations.append(Observation(HOOKS, tensor, None, len(tables_of(tensor)), paths[id(tensor)]))
        else:
            observations.append(Observation(ARGUMENT, number, None, _of_leaf(tensor), argument_path(number)))
    return observations


def _annotations_of(state: StateGraph, owner: Any, path: str) -> list[Observation]:
    """Observe the annotations of a function or class, if code reads annotations."""
    if state.named.isdisjoint({"__annotations__", "get_type_hints"}):
        return []
    items = (*chain.from_iterable(inspect.get_annotations(owner).items()),)
    return [Observation(ANNOTATIONS, owner, None, items, path)]


def _of_entries(entries: ObservedEntries, free: set[EntryId]) -> list[Observation]:
    """The observations of one container."""
    snapshot, container, name = entries.snapshot, entries.snapshot.container, entries.snapshot.path
    content, whole = snapshot.content, entries.keys is None
    counted = content if entries.keys is None else entries.keys
    keys = [k for k in counted if k in content and (id(container), k) not in free] if content else []
    if isinstance(container, types.CellType):
        return [Observation(ATTRIBUTE, container, "cell_contents", content[key], name) for key in keys]
    elements = container if methods_of(container) is type(container) else BuiltinElements(container)
    if whole and not content:
        return [Observation(EMPTY, elements, None, (), name)]
    if isinstance(container, dict):
        observations = [Observation(ENTRY, container, key, content[key], name) for key in keys]
        observations += [Observation(ENTRY, container, key, MISSING, name) for key in entries.absent]
        if whole:
            observations.append(Observation(ENTRY, container, SIZE, len(content), name))
        if whole and not snapshot.table:  # a dict of the program: its order matters
            observations.append(Observation(ORDER, elements, None, (*content,), name))
        return observations
    if whole:
        return [Observation(ELEMENTS, elements, None, (*content.values(),), name)]
    if isinstance(container, ClassAttributes):
        observations = [Observation(ENTRY, container.dict, key, content[key], name) for key in keys]
        return [*observations, Observation(ENTRY, container.dict, SIZE, len(container), name)]
    found = (*((key, content[key]) for key in keys), *((key, MISSING) for key in entries.absent))
    return [Observation(ITEM, container, key, value, name) for key, value in found]
