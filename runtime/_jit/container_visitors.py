"""Visitors of containers and plain objects in a state graph."""

from __future__ import annotations

import functools
import gc
import io
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from .._torch.device import CPU_GENERATOR
from .code_visitors import visit_module_object, visit_wrapper
from .container_adapters import ContextVarValue, SlotAttributes, slots_of
from .host_arrays import HostArray, content_of
from .libraries import has_state_of_programs, is_own, may_hold_state, may_hold_state_in_python, module_of
from .sources import PLAIN_TYPES, elements_of, text_of
from .state_graph import StateGraph, StateNode

# Modules whose objects deliver data from other processes, and classes whose content no attribute shows.
_STREAMS = {f"multiprocessing.{name}" for name in ("queues", "connection", "managers", "sharedctypes")}
_OPAQUE = {"xml.etree.ElementTree.Element", "mmap.mmap", "_contextvars.Context", "_io.StringIO", "_io.BytesIO"}


def visit_dict(graph: StateGraph, node: StateNode) -> None:
    """Follow the values of a dict, and keys that are not plain values."""
    path, edges = node.path, node.edges
    table = id(node.value) in graph.tables
    snapshot = node.hold(node.value, table=table)
    if node.value is sys.modules:  # whose modules are followed where code names them
        return
    for key, value in snapshot.content.items():
        edges.append((snapshot, key, f"{path}[{key!r}]" if type(key) is str else f"{path}[{text_of(key)}]", value))
        if not isinstance(key, PLAIN_TYPES):
            edges.append((None, None, f"a key of {path}", key))
        if table and isinstance(value, dict):
            graph.tables.add(id(value))
    if isinstance(node.value, defaultdict):
        edges.append((None, None, f"the default of {path}", node.value.default_factory))
    _visit_subclass(graph, node)


def visit_sequence(graph: StateGraph, node: StateNode) -> None:
    """Follow the elements of a mutable sequence: a list, deque or set."""
    snapshot, path = node.hold(node.value), node.path
    node.edges += [(snapshot, i, f"{path}[{i}]", value) for i, value in snapshot.content.items()]
    _visit_subclass(graph, node)


def visit_cell(graph: StateGraph, node: StateNode) -> None:
    """Follow the content of a closure cell that is itself a value."""
    snapshot = node.hold(node.value)
    node.edges += [(snapshot, None, node.path, value) for value in snapshot.content.values()]


def visit_tuple(graph: StateGraph, node: StateNode) -> None:
    """Follow the elements of a tuple or frozenset."""
    node.edges += [(None, None, f"{node.path}[{i}]", value) for i, value in enumerate(elements_of(node.value))]
    _visit_subclass(graph, node)


def visit_context_variable(graph: StateGraph, node: StateNode) -> None:
    """Follow the value of a context variable."""
    snapshot = node.hold(graph.adapter(node.value, ContextVarValue), keys={"value": None})
    node.edges += [(snapshot, key, node.path, value) for key, value in snapshot.content.items()]


def visit_reference(graph: StateGraph, node: StateNode) -> None:
    """Follow the referent of a weak reference."""
    node.edges.append((None, None, node.path, node.value()))


def visit_proxy(graph: StateGraph, node: StateNode) -> None:
    """Follow the referent of a `weakref.proxy`, to which the attributes of the proxy belong."""
    with suppress(ReferenceError):
        node.edges.append((None, None, node.path, node.value.__init__.__self__))


def visit_referents(graph: StateGraph, node: StateNode) -> None:
    """Follow the dict behind a view: a mapping proxy, or the keys, values or items of a dict."""
    node.edges += [(None, None, node.path, value) for value in gc.get_referents(node.value)]


def visit_memoryview(graph: StateGraph, node: StateNode) -> None:
    """Follow the object behind a memoryview."""
    node.edges.append((None, None, node.path, node.value.obj))


def visit_builtin(graph: StateGraph, node: StateNode) -> None:
    """Follow the object of a bound C method, such as `{}.get`."""
    owner = node.value.__self__
    if not isinstance(owner, (types.ModuleType, type)):
        node.edges.append((None, None, node.path, owner))


def visit_enum(graph: StateGraph, node: StateNode) -> None:
    """Follow the value of an enum member, and its attributes."""
    node.follow(node.hold(vars(node.value)))


def visit_nothing(graph: StateGraph, node: StateNode) -> None:
    """Follow nothing from an object, whose state `settings.py` reads."""


def visit_host_array(graph: StateGraph, node: StateNode) -> None:
    """Record the content of a host array; follow the elements of an object array."""
    if isinstance(node.value, np.ndarray) and node.value.dtype.hasobject:
        node.edges += [(None, None, f"{node.path}[...]", value) for value in node.value.ravel().tolist()]
    graph.reached.arrays[id(node.value)] = node.path, HostArray(node.path, node.value, content_of(node.value))


def visit_host_generator(graph: StateGraph, node: StateNode) -> None:
    """Record a host random number generator, but not one of the device, from which every call draws its keys."""
    if isinstance(node.value, CPU_GENERATOR) and type(node.value) is not CPU_GENERATOR:
        return
    graph.reached.generators[id(node.value)] = node.path, node.value


def visit_object(graph: StateGraph, node: StateNode) -> None:
    """Follow the attributes of an object, and its class."""
    value = node.value
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        graph.reached.objects[id(value)] = node.path, value
        node.follow(node.hold(attributes, owner=value))
    if slots_of(type(value)):
        graph.reached.objects[id(value)] = node.path, value
        filled = graph.adapter(value, SlotAttributes)
        node.follow(node.hold(filled, keys=dict.fromkeys(filled), owner=value))
    node.edges.append((None, None, node.path, type(value)))


def _visit_subclass(graph: StateGraph, node: StateNode) -> None:
    """Follow the attributes of a container whose class belongs to the program."""
    if is_own(module_of(type(node.value))):
        visit_object(graph, node)


def visit_other(graph: StateGraph, node: StateNode) -> None:
    """Follow an object of a class that has no entry of its own in the table of visitors."""
    value = node.value
    module = module_of(type(value))
    if module in _STREAMS or _is_opaque(value):
        visit_stream(graph, node)
    elif "__wrapped__" in getattr(value, "__dict__", ()):
        visit_wrapper(graph, node)
    elif isinstance(value, types.ModuleType):
        visit_module_object(graph, node)
    elif may_hold_state(module) or has_state_of_programs(module) or may_hold_state_in_python(module):
        visit_object(graph, node)


def _is_opaque(value: object) -> bool:
    """Whether an object's state is hidden from a program: iterators, files in memory, hashes and the like."""
    cls = type(value)
    if isinstance(value, Iterator) and not isinstance(value, io.IOBase) and not may_hold_state(module_of(cls)):
        return True
    if hasattr(cls, "hexdigest") and cls.__module__ in sys.stdlib_module_names:  # each algorithm has its own C module
        return True
    return not _OPAQUE.isdisjoint(f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__)


def visit_stream(graph: StateGraph, node: StateNode) -> None:
    """Record an object, such as an iterator, whose content a program cannot follow: reading it is refused."""
    graph.reached.streams[id(node.value)] = node.path, node.value


def visit_exception(graph: StateGraph, node: StateNode) -> None:
    """Follow the arguments of an exception, its cause, and its attributes."""
    error: BaseException = node.value
    node.edges += [(None, None, f"{node.path}.args", value) for value in error.args]
    node.edges.append((None, None, f"{node.path}.__cause__", error.__cause__))
    visit_object(graph, node)


def visit_partial(graph: StateGraph, node: StateNode) -> None:
    """Follow the function of a `functools.partial`, and its arguments."""
    partial: functools.partial[object] = node.value
    parts = (partial.func, partial.args, partial.keywords, vars(partial))
    node.edges += [(None, None, node.path, part) for part in parts]


def visit_method(graph: StateGraph, node: StateNode) -> None:
    """Follow the function of a bound method, and its object."""
    node.edges += [(None, None, node.path, part) for part in (node.value.__func__, node.value.__self__)]
