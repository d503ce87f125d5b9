"""The visitors of a state graph, which follow the objects of each type, and the graph of a call."""

from __future__ import annotations

import argparse
import enum
import functools
import gc
import io
import logging
import os
import queue
import random
import sys
import threading
import types
import weakref
from array import array
from collections import ChainMap, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch.amp import GradScaler
from torch.optim.lr_scheduler import LRScheduler

from .._torch.device import CPU_GENERATOR
from .._torch.modules import GLOBAL_HOOKS
from .code_visitors import visit_class, visit_function, visit_module_object, visit_wrapper
from .container_adapters import ContextVarValue, SlotAttributes, slots_of
from .libraries import is_own, may_hold_state, may_hold_state_in_objects, module_of, replaced_functions
from .lines import module_called_by
from .sources import PLAIN_TYPES, argument_path, elements_of, text_of
from .state_graph import StateGraph, StateNode, Visitor
from .state_in_c import C_DATA, HostArray, content_of
from .torch_visitors import visit_module, visit_optimizer, visit_scheduler, visit_tensor

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


def visit_tuple(graph: StateGraph, node: StateNode) -> None:
    """Follow the elements of a tuple or frozenset."""
    node.edges += [(None, None, f"{node.path}[{i}]", value) for i, value in enumerate(elements_of(node.value))]
    _visit_subclass(graph, node)


def visit_variable(graph: StateGraph, node: StateNode) -> None:
    """Follow the value of a closure cell that is itself a value, or of a context variable."""
    of_context = isinstance(node.value, ContextVar)
    container, keys = (
        (graph.adapter(node.value, ContextVarValue), {"value": None}) if of_context else (node.value, None)
    )
    snapshot = node.hold(container, keys=keys)
    node.edges += [(snapshot, key, node.path, value) for key, value in snapshot.content.items()]


def visit_enum(graph: StateGraph, node: StateNode) -> None:
    """Follow the value of an enum member, and its attributes."""
    node.follow(node.hold(vars(node.value)))


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
    elif may_hold_state_in_objects(module):
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


def _following(referents: Callable[[Any], Iterable[Any]]) -> Visitor:
    """The visitor of objects that only refer to others, in which no entry can be replaced."""

    def visit(graph: StateGraph, node: StateNode) -> None:
        node.edges += [(None, None, node.path, value) for value in referents(node.value)]

    return visit


def _owner_of(method: Any) -> Iterable[Any]:
    """The object of a bound C method, such as `{}.get`."""
    return () if isinstance(method.__self__, (types.ModuleType, type)) else (method.__self__,)


def _referent_of(proxy: Any) -> Iterable[Any]:
    """The object to which the attributes of a `weakref.proxy` belong."""
    try:
        return (proxy.__init__.__self__,)
    except ReferenceError:
        return ()


_of_a_view = _following(gc.get_referents)
_of_a_method, _of_a_proxy = _following(_owner_of), _following(_referent_of)
_EMPTY: tuple[dict[Any, Any], ...] = ({}, OrderedDict())
_VIEWS = [view for empty in _EMPTY for view in (empty.keys(), empty.values(), empty.items())]
# The visitor of a class is that of the first class in its MRO that has an entry.
VISITORS: dict[type, Visitor] = {
    torch.Tensor: visit_tensor,
    torch.nn.Module: visit_module,
    torch.optim.Optimizer: visit_optimizer,
    **dict.fromkeys((LRScheduler, GradScaler), visit_scheduler),
    dict: visit_dict,
    **dict.fromkeys((list, deque, set), visit_sequence),
    **dict.fromkeys((tuple, frozenset), visit_tuple),
    logging.Logger: _following(lambda _: ()),  # `settings.py` reads its state
    **dict.fromkeys((random.Random, np.random.Generator, np.random.RandomState, CPU_GENERATOR), visit_host_generator),
    **dict.fromkeys((*C_DATA, np.ndarray, bytearray, array), visit_host_array),
    memoryview: _following(lambda view: (view.obj,)),
    types.MappingProxyType: _of_a_view,
    **dict.fromkeys(map(type, _VIEWS), _of_a_view),
    types.BuiltinMethodType: _of_a_method,
    types.MethodWrapperType: _of_a_method,
    enum.Enum: visit_enum,
    functools.partial: _following(lambda f: (f.func, f.args, f.keywords, vars(f))),
    types.MethodType: _following(lambda method: (method.__func__, method.__self__)),
    types.FunctionType: visit_function,
    type: visit_class,
    ContextVar: visit_variable,
    types.CellType: visit_variable,
    weakref.ref: _following(lambda reference: (reference(),)),
    weakref.ProxyType: _of_a_proxy,
    weakref.CallableProxyType: _of_a_proxy,
    # Standard library classes whose objects hold state of a program.
    **dict.fromkeys(
        (
            *(types.SimpleNamespace, argparse.Namespace, threading.local, threading.Event, threading.Semaphore),
            *(queue.Queue, UserDict, UserList, ChainMap, weakref.WeakKeyDictionary, weakref.WeakValueDictionary),
            *(weakref.WeakSet, type(os.environ)),
        ),
        visit_object,
    ),
    queue.SimpleQueue: visit_stream,
    BaseException: visit_exception,
    object: visit_other,
}


@functools.lru_cache(maxsize=1 << 12)
def visitor_of(cls: type) -> Visitor:
    """The visitor of the objects of a class."""
    return next(VISITORS[base] for base in cls.__mro__ if base in VISITORS)


def reach(**roots: Any) -> StateGraph:
    """The state graph of named roots, the global hooks of modules and optimizers, and functions that replaced
    torch's."""
    return StateGraph(visitor_of, {**GLOBAL_HOOKS, **replaced_functions(), **roots})


def reach_call(function: Any, leaves: Sequence[Any]) -> StateGraph:
    """The state graph of a function, the object that it is a method of, and the leaves of its arguments."""
    owner = function.__self__ if isinstance(function, types.MethodType) else module_called_by(function)
    arguments = {argument_path(i): x for i, x in enumerate(leaves) if not isinstance(x, torch.Tensor)}
    return reach(function=function, self=owner, **arguments)
