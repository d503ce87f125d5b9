"""Visitors of functions, classes and Python modules in a state graph; they follow the names in the bytecode of
functions (globals, attributes, modules), which are all that the code can read or write.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .libraries import is_own, may_hold_state, module_of, replacements
from .settings import flag_of
from .snapshots import StateSnapshot
from .sources import MISSING, entry_path, text_of
from .state_graph import Edge, StateGraph, StateNode
from .state_in_c import CachedFunction, FunctionCache, cached_results, is_unbounded, table_of

# Class members that are not data.
_METHODS = (
    *(types.FunctionType, staticmethod, classmethod, property, functools.cached_property, functools.partialmethod),
    *(functools.singledispatchmethod, types.MemberDescriptorType, types.GetSetDescriptorType, type),
)
_IMPORTERS = {"modules", "import_module", "__import__"}
_BY_COMPUTED_NAME = {"getattr", "vars", "__dict__", "attrgetter"}
_CALLED_BY_NAME = {"forward", "backward", "setup_context", "vmap", "jvp"}  # methods that torch calls itself
_CALLS = ("PRECALL", "CALL")  # after `type` as the last argument, as in `isinstance(x, type)`
_EVALUATORS = {"eval", "exec"}  # run the code in a string


class Names(NamedTuple):
    """The names in the bytecode of a function and of its inner functions, in order."""

    globals: tuple[str, ...]
    attributes: tuple[str, ...]  # and strings that are identifiers, for `getattr`
    stored: tuple[str, ...]  # attributes that are set
    imported: tuple[str, ...]  # modules
    typed: tuple[str, ...]  # what the code may pass to `type`, except for the object of a method and its class


@functools.lru_cache(maxsize=1 << 14)
def names_of(code: types.CodeType) -> Names:
    """The names in a code object."""
    scope: dict[str, None] = {}
    attributes: dict[str, None] = dict.fromkeys(code.co_names)
    stored: dict[str, None] = {}
    imported: dict[str, None] = {}
    typed: dict[str, None] = {}
    steps = [*dis.get_instructions(code)]
    for step, following in zip(steps, steps[1:] + steps[-1:], strict=True):
        if step.opname.endswith(("_GLOBAL", "_NAME")):
            if step.argval.startswith("@"):  # added by pytest's rewriting of asserts
                continue
            (imported if step.opname == "IMPORT_NAME" else scope)[step.argval] = None
            if step.argval == "type" and following.opname not in _CALLS and following.argval not in ("self", "cls"):
                typed[following.argrepr] = None
        elif step.opname == "STORE_ATTR":
            stored[step.argval] = None
        elif step.opname == "MATCH_CLASS":
            attributes["__match_args__"] = None
    constants = [*code.co_consts]
    if not _EVALUATORS.isdisjoint(scope):
        constants += filter(None, map(_compiled, constants))
    for constant in constants:
        if isinstance(constant, str) and all(map(str.isidentifier, constant.split("."))):  # module names have dots
            attributes[constant] = None
        elif isinstance(constant, types.CodeType):
            for own, inner in zip((scope, attributes, stored, imported, typed), names_of(constant), strict=True):
                own.update(dict.fromkeys(inner))
    return Names(*map(tuple, (scope, attributes, stored, imported, typed)))


def _compiled(source: Any) -> types.CodeType | None:
    """The code of a string that `eval` may run; None if it is no Python."""
    try:
        return compile(source, "<string>", "exec") if isinstance(source, str) else None
    except (SyntaxError, ValueError):
        return None


def visit_function(graph: StateGraph, node: StateNode) -> None:
    """Follow a function's closure, defaults, and the names that its code uses."""
    function: types.FunctionType = node.value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        node.snapshots.append(snapshot := StateSnapshot(name, cell))
        node.edges += [(snapshot, None, name, value) for value in snapshot.content.values()]
    for value in (*(function.__defaults__ or ()), function.__kwdefaults__):
        node.edges.append((None, None, f"a default of {function.__name__}", value))
    if wrapped := getattr(function, "__wrapped__", None):
        node.edges.append((None, None, function.__name__, wrapped))
    if not may_hold_state(function.__module__):
        return
    names = names_of(function.__code__)
    graph.asks_types = graph.asks_types or bool(names.typed)
    if vars(function):
        node.edges.append((None, None, function.__name__, vars(function)))
    scope = function.__globals__
    words = [w for w in names.attributes if w in scope] if "globals" in names.globals else []
    if not _EVALUATORS.isdisjoint(names.globals):
        words += [name for name, value in scope.items() if _is_variable(value) and not name.startswith("__")]
    _follow_names(graph, node, "", scope, [*dict.fromkeys((*names.globals, *words))])
    _follow_names(graph, node, "builtins", vars(builtins), [n for n in names.globals if n not in scope])
    variables = [edge[3] for edge in node.edges]
    # `sys.modules["name"]` and `importlib.import_module("name")`
    by_name = names.attributes if not _IMPORTERS.isdisjoint((*names.attributes, *names.globals)) else ()
    imports = dict.fromkeys((*names.imported, *by_name))
    for value in (*map(sys.modules.get, imports), *map(scope.get, names.globals), *variables):
        if isinstance(value, types.ModuleType):
            _follow_module(graph, node, value, names, set())
        elif names.stored and isinstance(value, types.FunctionType):  # it may later get its first attribute
            node.edges.append((None, None, value.__name__, vars(value)))
    imported = [name for name in names.imported if name in sys.modules]
    _follow_names(graph, node, "sys.modules", sys.modules, imported)
    graph.stored.update(names.stored)
    node.named = names.attributes


def _follow_names(graph: StateGraph, node: StateNode, path: str, scope: dict[str, Any], names: Iterable[str]) -> None:
    if names:
        snapshot = graph.namespace(path, scope)
        node.edges += [(snapshot, name, entry_path(path, scope, name), scope.get(name, MISSING)) for name in names]


def _follow_module(graph: StateGraph, node: StateNode, module: types.ModuleType, names: Names, seen: set[int]) -> None:
    """Follow the attributes of a module that a function names or sets.

    In an installed library, only names that the function itself uses are followed; the rest seldom changes.
    """
    if id(module) in seen:
        return
    seen.add(id(module))
    graph.modules.add(id(module))
    scope = vars(module)
    # In a module of the program, also names that it does not have yet.
    absent = names.attributes if is_own(module.__name__) else names.stored
    named = [name for name in names.attributes if name in scope or name in absent]
    if is_own(module.__name__) and not _BY_COMPUTED_NAME.isdisjoint((*names.globals, *names.attributes)):
        named += [name for name, value in scope.items() if _is_variable(value) and not name.startswith("__")]
    if "__getattr__" in scope:
        named.append("__getattr__")
    _follow_names(graph, node, module.__name__, scope, named)
    owners: list[Any] = [] if type(module) is types.ModuleType else [module]
    owners += [x for x in map(scope.get, named) if type(x).__module__.startswith("torch.backends")]
    flags = {(owner, name): flag_of(owner, name) for owner in owners for name in names.attributes}
    node.edges += [(None, None, f"{module.__name__}.{name}", f) for (_, name), f in flags.items() if f is not None]
    for name in named:
        if isinstance(inner := scope.get(name), types.ModuleType):
            _follow_module(graph, node, inner, names, seen)


def visit_module_object(graph: StateGraph, node: StateNode) -> None:
    """Follow the attributes, which functions name, of a module of the program that an argument or an object holds."""
    module: types.ModuleType = node.value
    if is_own(module.__name__) and id(module) not in graph.modules:
        node.namespace = snapshot = graph.namespace(module.__name__, vars(module))
        node.snapshots.append(snapshot)
        for name, value in vars(module).items():
            edge: Edge = (snapshot, name, f"{module.__name__}.{name}", value)
            if name == "__getattr__":  # which Python calls implicitly
                node.edges.append(edge)
            else:
                node.members[name] = [edge]


def _is_variable(value: Any) -> bool:
    """Whether a module's attribute is data. Functions and iterators are followed only where code names them."""
    return not isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, Iterator))


def visit_class(graph: StateGraph, node: StateNode) -> None:
    """Follow the members of a class of the program that functions name, and its bases."""
    cls: type = node.value
    if not is_own(module_of(cls)):
        if cls not in (object, type):
            node.edges += [(None, None, path, function) for path, function in replacements(cls)]
            node.edges += [(None, None, base.__qualname__, base) for base in cls.__bases__]
        return
    if issubclass(cls, enum.Enum):
        node.edges += [(None, None, str(member), member) for member in cls]
        return
    node.snapshots.append(snapshot := graph.class_attributes(cls))
    for name, item in list(vars(cls).items()):
        if name == "__annotate_func__":  # Python 3.14 makes annotations with it; its closure has the dict of the class
            continue
        # Python calls special methods implicitly.
        special = name.startswith("__") and name.endswith("__") and isinstance(item, _METHODS)
        path = f"{cls.__qualname__}.{name}"
        edges: list[Edge] = [] if isinstance(item, types.GetSetDescriptorType) else [(snapshot, name, path, item)]
        if isinstance(item, _METHODS):
            edges += [(None, None, path, function) for function in _functions_of(item)]
        if special or name in _CALLED_BY_NAME:
            node.edges += edges
        else:
            node.members[name] = edges
    node.edges += [(None, None, base.__qualname__, base) for base in (*cls.__bases__, type(cls))]


def _functions_of(item: Any) -> tuple[Any, ...]:
    """The functions behind a method."""
    if isinstance(item, (staticmethod, classmethod)):
        return (item.__func__,)
    if isinstance(item, property):
        return item.fget, item.fset, item.fdel
    if isinstance(item, (functools.cached_property, functools.partialmethod)):
        return (item.func,)
    if isinstance(item, functools.singledispatchmethod):
        return item.func, item.dispatcher
    return (item,)


def visit_wrapper(graph: StateGraph, node: StateNode) -> None:
    """Follow an object that wraps a function, such as a compiled one."""
    value = node.value
    node.edges.append((None, None, node.path, value.__wrapped__))
    if isinstance(value, CachedFunction) and (table := table_of(value)) is not None:
        if is_unbounded(value):
            path = f"the cache of {node.path}"
            snapshot = node.hold(table, owner=value)
            node.edges += [(snapshot, key, f"{path}[{text_of(key)}]", item) for key, item in table.items()]
        else:
            cache = FunctionCache(node.path, table, value, value.cache_info().misses)
            graph.reached.caches[id(value)] = cache
            node.edges += [(None, None, f"a result of {node.path}", result) for result in cached_results(value)]
    attributes = getattr(value, "__dict__", {})
    own = getattr(type(value), "__dataclass_fields__", {}).keys() | {*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"}
    node.follow(node.hold(attributes, keys={k: None for k in attributes if k not in own}))
