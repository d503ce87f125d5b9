"""What a function reaches in Python: its variables, modules, optimizers and containers.

A compiled program stands for one run of the function, so it holds as long as what that run could read is the same; and
what the run changed there must be done again by every call. So the content of these containers is compared before a
call, and noted before and after a trace.

Objects are followed through attributes, lists, dicts, closures and the globals that a function names; libraries other
than modules and optimizers are not. Hooks of all modules and all optimizers are reached from every function.
"""

from __future__ import annotations

import dis
import enum
import functools
import operator
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.amp import GradScaler as Scaler
from torch.nn import Module
from torch.nn.modules import module as modules
from torch.optim import Optimizer
from torch.optim import optimizer as optimizers
from torch.optim.lr_scheduler import LRScheduler as Scheduler

from .chance import GENERATORS
from .hooks import tables_of
from .reads import Reads
from .slots import Slots, slots_of

_SIMPLE = (
    *(int, float, complex, bool, str, bytes, type(None), enum.Enum),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size),
)
SEQUENCES = (list, deque, set)
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


class Place(NamedTuple):
    """An entry of a container, and how a person would write it."""

    container: Any  # a dict, a list, or a closure's cell
    key: Any
    path: str


@dataclass(slots=True)
class Held:
    """A container and what it held; `keys` where only some of its entries count."""

    path: str
    container: Any
    content: Any
    keys: tuple[Any, ...] | None = None
    absent: tuple[Any, ...] = ()  # entries that were looked for and are not there
    kind: str = ""  # script: each call computes its numbers anew on the host; private: it is only put back

    def items(self) -> dict[Any, Any]:
        """The entries now."""
        container = self.container
        if isinstance(container, types.CellType):
            try:
                return {None: container.cell_contents}
            except ValueError:
                return {}
        if isinstance(container, SEQUENCES):
            return dict(enumerate(container))
        if self.keys is not None:
            return {k: container[k] for k in self.keys if k in container}
        return dict(dict.items(container))  # a subclass may make what it is asked for

    def is_dict(self) -> bool:
        """Whether it is a dict all of whose entries count."""
        return self.keys is None and isinstance(self.container, dict)

    def restore(self) -> None:
        """Put back what it held."""
        container, content = self.container, self.content
        if isinstance(container, types.CellType):
            if content:
                container.cell_contents = content[None]
        elif isinstance(container, SEQUENCES):
            refill(container, content.values())
        elif self.keys is not None:
            for key in self.items():
                if key not in content:
                    del container[key]
            container.update(content)
        else:
            container.clear()
            container.update(content)


def refill(sequence: Any, values: Iterable[Any]) -> None:
    """Have a list, deque or set hold these values."""
    kept = list(values)
    sequence.clear()
    (sequence.update if isinstance(sequence, set) else sequence.extend)(kept)


class Change(NamedTuple):
    """What a run did to a container: `new` stands at `place`, or is gone."""

    place: Place
    old: Any
    new: Any


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


class Watch:
    """The containers reached from some roots, and what they held when this was made."""

    def __init__(self, reads: Reads | None = None, **roots: Any) -> None:
        """With `reads`, only those attributes of modules and plain objects count that were read."""
        self.reads = reads
        self.objects: list[Any] = []  # that are neither containers nor of torch
        self._slots: dict[int, Slots] = {} if reads is None else reads.slots
        self.held: list[Held] = []
        self.tensors: dict[int, tuple[str, torch.Tensor]] = {}
        self.modules: list[tuple[str, Module]] = []
        self.optimizers: list[Optimizer] = []
        self.schedulers: list[Any] = []
        self.scalers: list[Any] = []
        self.generators: list[tuple[str, Any]] = []  # of random numbers on the host
        self.tables: set[int] = set()  # the ids of dicts of torch's own, whose keys go with their values
        self._seen: dict[int, Any] = {}
        self._classes: set[tuple[type, str]] = set()  # and names of what they give their instances
        pending = [*_HOOKS.items(), *roots.items()]
        while pending:
            path, value = pending.pop()
            if isinstance(value, _SIMPLE) or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            pending.extend(self._visit(path, value))
            if len(self._seen) > _MOST:
                raise RuntimeError(f"tenax.jit: more than {_MOST} objects are reached from the function, by {path}")

    def _hold(self, path: str, container: Any, keys: tuple[Any, ...] | None = None, kind: str = "") -> Held:
        held = Held(path, container, None, keys, kind=kind)
        held.content = held.items()
        self.held.append(held)
        return held

    def _visit(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, torch.Tensor):
            self.tensors[id(value)] = path, value
            for hooks in tables_of(value) if value.is_leaf else ():
                yield f"the hooks of {path}", hooks
            return
        if isinstance(value, dict):
            held = self._hold(path, value)
            for key, item in held.content.items():
                yield f"{path}[{_text(key)}]", item
                if not isinstance(key, _SIMPLE):
                    yield f"a key of {path}", key
        elif isinstance(value, SEQUENCES):
            self._hold(path, value)
            for i, item in enumerate(value):
                yield f"{path}[{i}]", item
        elif isinstance(value, (tuple, frozenset)):
            for i, item in enumerate(value):
                yield f"{path}[{i}]", item
        elif isinstance(value, GENERATORS):
            self.generators.append((path, value))
        elif isinstance(value, functools.partial):
            yield from ((path, value.func), (path, value.args), (path, value.keywords))
        elif isinstance(value, types.MethodType):
            yield from ((path, value.__func__), (path, value.__self__))
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
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
        elif not isinstance(value, (type, types.ModuleType)) and _is_open(type(value).__module__):
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

    def _module(self, path: str, module: Module) -> Iterator[tuple[str, Any]]:
        state = module.__dict__
        read = None if self.reads is None else self.reads.of(module)
        names = tuple(k for k in state if k not in _PRIVATE and (read is None or k in read))
        held = self._hold(path, state, names)
        tables = [state[name] for name in _TABLES]
        self.tables.update(map(id, tables))
        if read is not None:
            held.absent = self._absent(module, read - state.keys() - _PRIVATE - set().union(*tables))
        for table in tables:
            self._hold(path, table)
            for key, item in table.items():
                yield f"{path}.{key}", item
        for name in names:
            yield f"{path}.{name}", state[name]
        if _is_open(type(module).__module__):
            forward = getattr(type(module), "forward", None)
            if isinstance(forward, types.FunctionType):
                yield f"{path}.forward", forward

    def _absent(self, value: Any, names: Iterable[str]) -> tuple[str, ...]:
        """The names that an object may yet get as attributes; what its class has by them counts too."""
        found = []
        for name in sorted(names):
            base = next((b for b in type(value).__mro__ if name in vars(b)), None)
            if base is not Module:  # whose own methods nobody replaces
                found.append(name)
            if base is not None and _is_open(base.__module__) and (base, name) not in self._classes:
                self._classes.add((base, name))
                self._hold(base.__qualname__, vars(base), (name,))
        return tuple(found)

    def _optimizer(self, path: str, optimizer: Optimizer) -> Iterator[tuple[str, Any]]:
        own = set(optimizer.__dict__) - _OPTIMIZER if _is_open(type(optimizer).__module__) else set()
        held = self._hold(path, optimizer.__dict__, ("state", "param_groups", *_STEP_HOOKS, *sorted(own)))
        for name, item in held.content.items():
            yield f"{path}.{name}", item
        self.tables.update(map(id, (optimizer.state, *optimizer.state.values(), *optimizer.param_groups)))

    def _function(self, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            held = self._hold(name, cell)
            yield from ((name, v) for v in held.content.values())
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            yield f"a default of {function.__name__}", value
        if wrapped := getattr(function, "__wrapped__", None):
            yield function.__name__, wrapped
        if _is_open(function.__module__):
            scope = function.__globals__
            held = self._hold("", scope, _names(function.__code__))
            yield from held.content.items()

    def read(self) -> Reads:
        """What is read of its modules and objects from now on."""
        return Reads([*self.objects, *(m for _, m in self.modules)], self._slots)

    def changes(self) -> list[Change]:
        """What is no longer as it was. A dict in another order is one that was emptied and filled anew."""
        found = []
        for held in self.held:
            if held.kind == "private":
                continue
            before, now = held.content, held.items()
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
        content = next(h.content for h in self.held if h.container is place.container)
        return content.get(place.key, MISSING)

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
        """Put every container back as it was."""
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


def same(old: Any, new: Any) -> bool:
    """Whether a run that reads one would read the other: the same object, or equal plain values."""
    return old is new or (isinstance(old, _SIMPLE) and type(old) is type(new) and (old == new or old != old))


def is_simple(value: Any) -> bool:
    """Whether a value is a plain one, compared by value."""
    return isinstance(value, _SIMPLE)


def entry(path: str, container: Any, key: Any) -> str:
    """How a person would write an entry of a container."""
    if isinstance(container, types.CellType):
        return path
    if isinstance(container, SEQUENCES) or (
        isinstance(container, dict) and not path.isidentifier() and not isinstance(key, str)
    ):
        return f"{path}[{_text(key)}]"
    return f"{path}.{key}" if path else str(key)


def _text(key: Any) -> str:
    return repr(key) if isinstance(key, (str, int)) else type(key).__name__


def _is_open(module: str | None) -> bool:
    return (module or "").partition(".")[0] not in _CLOSED


@functools.lru_cache(maxsize=1 << 14)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The globals that a function names; the names of attributes, which `co_names` has too, are none."""
    found = {i.argval: None for i in dis.get_instructions(code) if i.opname.endswith(("_GLOBAL", "_NAME"))}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= dict.fromkeys(_names(constant))
    return tuple(found)
