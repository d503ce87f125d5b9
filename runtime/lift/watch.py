"""What a function reaches in Python: its variables, modules, optimizers and containers.

A compiled program stands for one run of the function, so it holds as long as what that run could read is the same; and
what the run changed there must be done again by every call. So the content of these containers is compared before a
call, and noted before and after a trace.

Objects are followed through attributes, lists, dicts, closures and the globals that a function names; of classes and of
modules of Python's, what the code of the functions names. In libraries only modules, optimizers, objects and functions
are followed: what a library keeps in its classes seldom changes, and guarding it would take longer than a small model.
Hooks of all modules and all optimizers are reached from every function.
"""

from __future__ import annotations

import argparse
import enum
import functools
import io
import operator
import sys
import sysconfig
import threading
import types
import weakref
from collections import ChainMap, UserDict, UserList
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import torch
from torch.amp import GradScaler as Scaler
from torch.nn import Module
from torch.nn.modules import module as modules
from torch.optim import Optimizer
from torch.optim import optimizer as optimizers
from torch.optim.lr_scheduler import LRScheduler as Scheduler

from .chance import GENERATORS
from .hooks import tables_of
from .memory import ARRAYS, Memory, content_of
from .named import Names, names_of
from .places import MISSING, SEQUENCES, SIMPLE, Change, Held, Place, entry, same, text_of
from .reads import Reads
from .slots import Class, Context, Slots, slots_of

# Tables of hooks that every module or optimizer calls.
_HOOKS: dict[str, Any] = {
    f"{place.__name__}.{name}": table
    for place in (modules, optimizers)
    for name, table in vars(place).items()
    if name.startswith("_global_") and name.endswith("_hooks")
}
_MOST = 100_000  # objects that are followed
# Libraries whose objects hold no state of a program.
_CLOSED = {"torch", "jax", "jaxlib", "numpy", "tenax", "torchgen", "sympy", "functools", *sys.stdlib_module_names}
_CLOSED -= {"__main__"}
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
# Classes of theirs whose objects do.
_RECORDS = (
    *(types.SimpleNamespace, argparse.Namespace, threading.local, UserDict, UserList, ChainMap),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet),
)
# What stands in a class and is none of its data; and its methods that are called without being named, as `__call__` is.
_METHODS = (
    *(types.FunctionType, staticmethod, classmethod, property, functools.cached_property, functools.partialmethod),
    *(types.MemberDescriptorType, types.GetSetDescriptorType, type),
)
_UNNAMED = {"forward", "backward", "setup_context", "vmap", "jvp"}


class Watch:
    """The containers reached from some roots, and what they held when this was made."""

    def __init__(self, reads: Reads | None = None, **roots: Any) -> None:
        """With `reads`, only those attributes of modules and plain objects count that were read."""
        self.reads = reads
        self.objects: list[Any] = []  # that are neither containers nor of torch
        self._slots: dict[int, Slots | Class | Context] = {} if reads is None else reads.slots
        self.held: list[Held] = []
        self.tensors: dict[int, tuple[str, torch.Tensor]] = {}
        self.modules: list[tuple[str, Module]] = []
        self.optimizers: list[Optimizer] = []
        self.schedulers: list[Any] = []
        self.scalers: list[Any] = []
        self.generators: list[tuple[str, Any]] = []  # of random numbers on the host
        self.memory: list[Memory] = []
        self.iterators: list[str] = []  # the paths of those that no call could advance again
        self._caches: list[tuple[Any, int]] = []  # of functions, and how often they had not held what was asked for
        self.tables: set[int] = set()  # the ids of dicts of torch's own, whose keys go with their values
        self._seen: dict[int, Any] = {}
        self._entries: set[tuple[int, str]] = set()  # of classes and of modules of Python's, that are held
        self._named: set[str] = set()  # by the code of the functions
        self._stored: set[str] = set()  # and set as attributes
        self._unnamed: dict[str, list[tuple[Held, Any]]] = {}  # what classes have by other names
        pending = [*_HOOKS.items(), *roots.items()]
        while pending:
            path, value = pending.pop()
            if isinstance(value, SIMPLE) or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            pending.extend(self._visit(path, value))
            if len(self._seen) > _MOST:
                raise RuntimeError(f"tenax.jit: more than {_MOST} objects are reached from the function, by {path}")
        for held in self.held:
            if isinstance(held.container, Class):
                held.keys = (*(held.keys or ()), *(self._stored - held.container.keys()))

    def _hold(self, path: str, container: Any, keys: tuple[Any, ...] | None = None, **more: Any) -> Held:
        held = Held(path, container, None, keys, **more)
        held.content = held.items()
        self.held.append(held)
        return held

    def _visit(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, torch.Tensor):
            self.tensors[id(value)] = path, value
            yield from self._attributes(path, vars(value))
            for hooks in tables_of(value) if value.is_leaf else ():
                yield f"the hooks of {path}", hooks
            return
        if isinstance(value, dict):
            held = self._hold(path, value)
            for key, item in held.content.items():
                yield f"{path}[{text_of(key)}]", item
                if not isinstance(key, SIMPLE):
                    yield f"a key of {path}", key
            yield from self._subclass(path, value)
        elif isinstance(value, SEQUENCES):
            self._hold(path, value)
            for i, item in enumerate(value):
                yield f"{path}[{i}]", item
            yield from self._subclass(path, value)
        elif isinstance(value, (tuple, frozenset)):
            for i, item in enumerate(value):
                yield f"{path}[{i}]", item
            yield from self._subclass(path, value)
        elif isinstance(value, GENERATORS):
            self.generators.append((path, value))
        elif isinstance(value, ARRAYS):
            self.memory.append(Memory(path, value, content_of(value)))
        elif isinstance(value, Iterator) and not isinstance(value, io.IOBase) and not _is_open(type(value).__module__):
            self.iterators.append(path)
        elif isinstance(value, functools.partial):
            yield from ((path, value.func), (path, value.args), (path, value.keywords))
        elif isinstance(value, types.MethodType):
            yield from ((path, value.__func__), (path, value.__self__))
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, ContextVar):
            held = self._hold(path, self._slots.setdefault(id(value), Context(value)), ("value",))
            yield from ((path, item) for item in held.content.values())
        elif isinstance(value, weakref.ref):
            yield path, value()
        elif isinstance(value, type):
            if is_own(value.__module__) and not issubclass(value, enum.Enum):
                yield from self._class(value)
        elif isinstance(value, Module):
            self.modules.append((path, value))
            yield from self._module(path, value)
        elif isinstance(value, Optimizer):
            self.optimizers.append(value)
            yield from self._optimizer(path, value)
        elif isinstance(value, (Scheduler, Scaler)):
            (self.schedulers if isinstance(value, Scheduler) else self.scalers).append(value)
            self._hold(path, value.__dict__, kind="script")
            for state in _private(value):
                self._hold(path, state, kind="private")
            for name, item in list(value.__dict__.items()):
                if isinstance(item, (torch.Tensor, Optimizer, Scheduler)) or name == "_schedulers":
                    yield f"{path}.{name}", item
        elif "__wrapped__" in getattr(value, "__dict__", ()):
            yield from self._wrapper(path, value)
        elif isinstance(value, _RECORDS) or (
            _is_open(type(value).__module__) and not isinstance(value, types.ModuleType)
        ):
            yield from self._object(path, value)

    def _attributes(self, path: str, attributes: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """What a program has put on a tensor; in the end that of it which the code names."""
        if self.reads is None:
            held = self._hold(path, attributes)
        else:
            made = self.reads.made.get(id(attributes), [])
            keys = [k for k in attributes if k in self.reads.named]
            if not keys and not made:
                return
            held = self._hold(path, attributes, tuple(keys))
            held.absent = tuple(k for k in made if k not in attributes)
        yield from ((f"{path}.{name}", item) for name, item in held.content.items())

    def _subclass(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        """What a container of a class of the program's own has beside its elements."""
        if is_own(type(value).__module__):
            yield from self._object(path, value)

    def _object(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        read = None if self.reads is None else self.reads.of(value)
        attributes = getattr(value, "__dict__", None)
        containers: list[Any] = [attributes] if isinstance(attributes, dict) else []
        if slots_of(type(value)):
            containers.append(self._slots.setdefault(id(value), Slots(value)))
        if containers:
            self.objects.append(value)
        for container in containers:
            if read is None:
                held = self._hold(path, container, None if isinstance(container, dict) else tuple(container))
            else:
                held = self._hold(path, container, tuple(k for k in container if k in read))
                if isinstance(container, dict):
                    held.absent = self._absent(value, read - container.keys())
            for name, item in held.content.items():
                yield f"{path}.{name}", item
        yield path, type(value)

    def _class(self, cls: type) -> Iterator[tuple[str, Any]]:
        held = self._hold(cls.__qualname__, self._mapping(cls), ())
        for name, item in list(vars(cls).items()):
            dunder = name.startswith("__") and name.endswith("__")
            if dunder and not isinstance(item, _METHODS):
                continue
            if dunder or name in _UNNAMED or name in self._named:
                yield from self._member(held, name, item)
            else:
                self._unnamed.setdefault(name, []).append((held, item))
        yield from ((base.__qualname__, base) for base in cls.__bases__)

    def _mapping(self, cls: type) -> Class:
        found = self._slots.setdefault(id(cls), Class(cls))
        assert isinstance(found, Class)
        return found

    def _member(self, held: Held, name: str, item: Any) -> Iterator[tuple[str, Any]]:
        if not isinstance(item, _METHODS) and (id(held.container.owner), name) not in self._entries:
            self._entries.add((id(held.container.owner), name))
            held.keys = (*(held.keys or ()), name)
            held.content[name] = item
        path = f"{held.path}.{name}"
        if isinstance(item, (staticmethod, classmethod)):
            yield path, item.__func__
        elif isinstance(item, property):
            yield from ((path, f) for f in (item.fget, item.fset, item.fdel))
        elif isinstance(item, (functools.cached_property, functools.partialmethod)):
            yield path, item.func
        else:
            yield path, item

    def _wrapper(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        """A function that is an object around another one, such as a compiled one."""
        yield path, value.__wrapped__
        if isinstance(value, functools._lru_cache_wrapper):
            self._caches.append((value, value.cache_info().misses))
        attributes = getattr(value, "__dict__", {})
        own = getattr(type(value), "__dataclass_fields__", {}).keys() | {*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"}
        held = self._hold(path, attributes, tuple(k for k in attributes if k not in own))
        yield from ((f"{path}.{name}", item) for name, item in held.content.items())

    def _module(self, path: str, module: Module) -> Iterator[tuple[str, Any]]:
        state = module.__dict__
        read = None if self.reads is None else self.reads.of(module)
        if self.reads is None:
            held = self._hold(path, state, hidden=_PRIVATE)
        else:
            held = self._hold(path, state, tuple(k for k in state if k not in _PRIVATE and (read is None or k in read)))
            held.absent = tuple(self.reads.made.get(id(state), ())) if read is None else ()
        tables = [state[name] for name in _TABLES]
        self.tables.update(map(id, tables))
        if read is not None:
            held.absent = self._absent(module, read - state.keys() - _PRIVATE - set().union(*tables))
        for table in tables:
            self._hold(path, table)
            for key, item in table.items():
                yield f"{path}.{key}", item
        for name, item in held.content.items():
            yield f"{path}.{name}", item
        cls = type(module)
        forward = getattr(cls, "forward", None)
        if not is_own(cls.__module__) and _is_open(cls.__module__) and isinstance(forward, types.FunctionType):
            yield f"{path}.forward", forward
        yield path, cls

    def _absent(self, value: Any, names: Iterable[str]) -> tuple[str, ...]:
        """The names that an object may yet get as attributes; what its class has by them counts too."""
        found = []
        for name in sorted(names):
            base = next((b for b in type(value).__mro__ if name in vars(b)), None)
            if base is not Module:  # whose own methods nobody replaces
                found.append(name)
            if base is not None and _is_open(base.__module__) and (id(base), name) not in self._entries:
                self._entries.add((id(base), name))
                self._hold(base.__qualname__, self._mapping(base), (name,))
        return tuple(found)

    def _optimizer(self, path: str, optimizer: Optimizer) -> Iterator[tuple[str, Any]]:
        own = set(optimizer.__dict__) - _OPTIMIZER if _is_open(type(optimizer).__module__) else set()
        held = self._hold(path, optimizer.__dict__, ("state", "param_groups", *_STEP_HOOKS, *sorted(own)))
        for name, item in held.content.items():
            yield f"{path}.{name}", item
        self.tables.update(map(id, (optimizer.state, *optimizer.state.values(), *optimizer.param_groups)))

    def _function(self, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            held = self._hold(name, cell)
            yield from ((name, v) for v in held.content.values())
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            yield f"a default of {function.__name__}", value
        if wrapped := getattr(function, "__wrapped__", None):
            yield function.__name__, wrapped
        if not _is_open(function.__module__):
            return
        names = names_of(function.__code__)
        if vars(function):
            yield function.__name__, vars(function)
        yield from self._scope("", function.__globals__, names.globals)
        named = [sys.modules.get(name) for name in names.imported]
        named += [function.__globals__.get(name) for name in names.globals]
        for module in named:
            if isinstance(module, types.ModuleType):
                yield from self._namespace(module, names)
        self._stored.update(names.stored)
        for name in names.attributes:
            if name not in self._named:
                self._named.add(name)
                for held, item in self._unnamed.pop(name, ()):
                    yield from self._member(held, name, item)

    def _scope(self, path: str, scope: dict[str, Any], names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        keys = tuple(name for name in names if (id(scope), name) not in self._entries)
        if keys:
            self._entries.update((id(scope), name) for name in keys)
            held = self._hold(path, scope, keys)
            held.absent = tuple(name for name in keys if path and name not in scope)
            yield from ((entry(path, scope, name), item) for name, item in held.content.items())

    def _namespace(self, module: types.ModuleType, names: Names) -> Iterator[tuple[str, Any]]:
        """What a function names, or sets, of a module of Python's."""
        scope = vars(module)
        if not is_own(module.__name__):
            return
        for path, item in self._scope(
            module.__name__, scope, [n for n in names.attributes if n in scope or n in names.stored]
        ):
            yield path, item
            if isinstance(item, types.ModuleType):
                yield from self._namespace(item, names)

    def reached(self) -> set[int]:
        """The ids of all that was reached."""
        return set(self._seen)

    def read(self) -> Reads:
        """What is read of its modules and objects from now on."""
        return Reads([*self.objects, *(m for _, m in self.modules)], self._slots, self._named)

    def contents(self) -> list[dict[Any, Any]]:
        """What the containers hold now."""
        return [held.items() for held in self.held]

    def changes(self, since: list[dict[Any, Any]] | None = None) -> list[Change]:
        """What is no longer as it was, or as it was when `since` was asked for by `contents`. A dict in another order
        is one that was emptied and filled anew."""
        found = []
        contents = [held.content for held in self.held] if since is None else since
        for held, before in zip(self.held, contents, strict=True):
            if held.kind == "private":
                continue
            now = held.items()
            kept = [*(k for k in before if k in now), *(k for k in now if k not in before)]
            moved = held.is_dict() and list(now) != kept
            pairs = [(k, before[k], MISSING) for k in before] if moved else []
            pairs += [(k, before.get(k, MISSING), now.get(k, MISSING)) for k in (now if moved else {**before, **now})]
            for key, old, new in pairs:
                if moved or not same(old, new):
                    found.append(Change(Place(held.container, key, entry(held.path, held.container, key)), old, new))
        return found

    def before(self, place: Place) -> Any:
        """What stood at a place."""
        held = (h.content for h in self.held if h.container is place.container)
        return next((content[place.key] for content in held if place.key in content), MISSING)

    def staying(self, changed: set[tuple[int, Any]]) -> Iterator[torch.Tensor]:
        """The tensors that are also elsewhere than at the changed places, each an id of a container and a key."""
        places: dict[int, list[bool]] = {}
        for held in self.held:
            for key, value in held.content.items():
                if isinstance(value, torch.Tensor):
                    places.setdefault(id(value), []).append((id(held.container), key) in changed)
        yield from (t for i, (_, t) in self.tensors.items() if not all(places.get(i, [False])))

    def scripted(self) -> set[int]:
        """The ids of the containers that schedulers and scalers keep."""
        return {id(h.container) for h in self.held if h.kind == "script"}

    def restore(self) -> None:
        """Put every container back as it was, and forget what functions keep of a trace."""
        for cached, misses in self._caches:
            if cached.cache_info().misses != misses:
                cached.cache_clear()
        for memory in self.memory:
            if memory.changed():
                memory.restore()
        for held in self.held:
            if not _unchanged(held.content, held.items()):
                held.restore()


# What `nn.Module` keeps in tables of its own, and what it keeps to itself.
_TABLES = (
    *("_parameters", "_buffers", "_modules"),
    *("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"),
)
_PRIVATE = frozenset(torch.nn.Module().__dict__) - {"training"}

# Of an optimizer: what its step calls, and what all have, with what a scheduler notes there.
_STEP_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
_OPTIMIZER = frozenset(torch.optim.SGD([torch.empty(0)]).__dict__) | {"step", "_opt_called", "_step_count"}


def _private(scaler: Any) -> list[Any]:
    """What a scaler notes of the optimizers between `unscale_` and `update`."""
    states = scaler.__dict__.get("_per_optimizer_states", {})
    return [states, *states.values()]


def _unchanged(before: dict[Any, Any], now: dict[Any, Any]) -> bool:
    return (
        len(before) == len(now) and all(map(operator.is_, before.values(), now.values())) and list(before) == list(now)
    )


def _is_open(module: str | None) -> bool:
    return (module or "").partition(".")[0] not in _CLOSED


def is_own(module: str | None) -> bool:
    """Whether it is a module of the program, and not of a library that is installed."""
    return _is_open(module) and not _is_installed((module or "").partition(".")[0])


@functools.lru_cache(maxsize=1 << 10)
def _is_installed(package: str) -> bool:
    spec = getattr(sys.modules.get(package), "__spec__", None)
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(place.startswith(_LIBRARIES) for place in places)
