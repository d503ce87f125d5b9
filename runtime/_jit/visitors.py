"""The table of visitors, which follow the objects of each type in a state graph."""

from __future__ import annotations

import argparse
import enum
import functools
import logging
import os
import queue
import random
import threading
import types
import weakref
from array import array
from collections import ChainMap, OrderedDict, UserDict, UserList, deque
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch.amp import GradScaler
from torch.optim.lr_scheduler import LRScheduler

from .._torch.device import CPU_GENERATOR
from .._torch.modules import GLOBAL_HOOKS
from .code_visitors import visit_class, visit_function
from .container_visitors import (
    visit_builtin,
    visit_cell,
    visit_context_variable,
    visit_dict,
    visit_enum,
    visit_exception,
    visit_host_array,
    visit_host_generator,
    visit_memoryview,
    visit_method,
    visit_nothing,
    visit_object,
    visit_other,
    visit_partial,
    visit_proxy,
    visit_reference,
    visit_referents,
    visit_sequence,
    visit_stream,
    visit_tuple,
)
from .host_arrays import C_DATA
from .library_namespaces import replaced_functions
from .lines import module_called_by
from .sources import argument_path
from .state_graph import StateGraph, Visitor
from .torch_visitors import visit_module, visit_optimizer, visit_scheduler, visit_tensor

_EMPTY: tuple[dict[Any, Any], ...] = ({}, OrderedDict())
_VIEWS = [view for empty in _EMPTY for view in (empty.keys(), empty.values(), empty.items())]
# The visitor of a class is that of the first class in its MRO that has an entry.
VISITORS: dict[type, Visitor] = {
    torch.Tensor: visit_tensor,
    torch.nn.Module: visit_module,
    torch.optim.Optimizer: visit_optimizer,
    LRScheduler: visit_scheduler,
    GradScaler: visit_scheduler,
    dict: visit_dict,
    list: visit_sequence,
    deque: visit_sequence,
    set: visit_sequence,
    tuple: visit_tuple,
    frozenset: visit_tuple,
    logging.Logger: visit_nothing,
    random.Random: visit_host_generator,
    np.random.Generator: visit_host_generator,
    np.random.RandomState: visit_host_generator,
    CPU_GENERATOR: visit_host_generator,
    np.ndarray: visit_host_array,
    bytearray: visit_host_array,
    array: visit_host_array,
    memoryview: visit_memoryview,
    **dict.fromkeys(C_DATA, visit_host_array),
    types.MappingProxyType: visit_referents,
    **dict.fromkeys(map(type, _VIEWS), visit_referents),
    types.BuiltinMethodType: visit_builtin,
    types.MethodWrapperType: visit_builtin,
    enum.Enum: visit_enum,
    type(os.environ): visit_object,
    functools.partial: visit_partial,
    types.MethodType: visit_method,
    types.FunctionType: visit_function,
    type: visit_class,
    ContextVar: visit_context_variable,
    types.CellType: visit_cell,
    weakref.ref: visit_reference,
    weakref.ProxyType: visit_proxy,
    weakref.CallableProxyType: visit_proxy,
    # Standard library classes whose objects hold state of a program.
    types.SimpleNamespace: visit_object,
    argparse.Namespace: visit_object,
    threading.local: visit_object,
    threading.Event: visit_object,
    threading.Semaphore: visit_object,
    queue.Queue: visit_object,
    queue.SimpleQueue: visit_stream,
    BaseException: visit_exception,
    UserDict: visit_object,
    UserList: visit_object,
    ChainMap: visit_object,
    weakref.WeakKeyDictionary: visit_object,
    weakref.WeakValueDictionary: visit_object,
    weakref.WeakSet: visit_object,
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
