"""Descriptions of what a traced run returns and stores: trees whose tensors are described, so that every call can
rebuild them.

A tensor is either on a storage that the run made, whose array is an output of the program, or it is an outside tensor
or a view of one.
"""

from __future__ import annotations

import copy
import functools
from collections import UserDict, UserList
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import jax
import torch
from torch.nn import Module

from .._torch import pytree
from .._torch.functorch import without_ended_levels
from ..errors import TraceError
from ..storage.cell import Cell
from ..storage.rebuild import ResultRecorder, TensorOnStorage
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of
from ..trace.core import SYMBOLIC_TYPES
from ..trace.host_numbers import HostNumber, HostNumbers
from .container_adapters import attributes_of
from .libraries import is_own, module_of
from .sources import SEQUENCES, elements_of, is_plain, methods_of
from .views import View, relation
from .visitors import reach
from .wrappers import Wrapping, is_wrapper

# Objects that hold more than their attributes.
_FUNCTIONS = (FunctionType, MethodType, functools.partial)


@dataclass(slots=True, eq=False)
class NewTensor:
    """A tensor on a storage that the run made."""

    record: TensorOnStorage
    leaf: bool | None  # `requires_grad` of a leaf; None for a tensor with a history
    is_parameter: bool
    gradient: OutputTree | None = None  # the gradient of a leaf after the run
    attributes: dict[str, OutputTree] | None = None  # attributes that the program set on the tensor
    view: View | None = None  # if it is a view of another result


@dataclass(slots=True, eq=False)
class AliasOfInput:
    """A tensor on an outside storage: one that the run found, or a view that it made."""

    like: torch.Tensor | None  # the tensor, or one like the view; None if the storage differs between calls
    found: bool  # whether it is an outside tensor itself
    spec: TensorSpec
    leaf: bool | None
    is_parameter: bool
    view: View | None = None  # if it is a view of an outside tensor that each call finds


@dataclass(frozen=True, slots=True)
class ArgumentItself:
    """An argument itself."""

    index: int


@dataclass(frozen=True, eq=False, slots=True)
class ComputedNumber:
    """A number that the run computed from host numbers."""

    number: HostNumber
    numbers: HostNumbers


@dataclass(eq=False, slots=True)
class FoundObject:
    """An outside object itself, or the one that a call finds in its place."""

    value: Any


@dataclass(slots=True, eq=False)
class NewObject:
    """An object that the run made and that is not a pytree, or a container referenced from several places: its
    attributes, and its elements if it has any."""

    like: Any
    attributes: dict[str, OutputTree]
    elements: OutputTree | None = None


@dataclass(slots=True, eq=False)
class NewWrapper:
    """A wrapper tensor, such as a DTensor, that the run made."""

    wrapping: Wrapping
    parts: dict[str, OutputTree]


@dataclass(frozen=True, slots=True)
class OutputTree:
    """A pytree whose tensors and objects are replaced by descriptions."""

    leaves: tuple[Any, ...]
    spec: Any  # None for a single leaf, `tuple` for a flat tuple


_MADE = {NewTensor, AliasOfInput, ArgumentItself, ComputedNumber, NewObject, NewWrapper}
DESCRIBED = {*_MADE, FoundObject}
# Mutable standard library objects, which every call makes even if their content is the same.
_MUTABLE = (dict, bytearray, UserDict, UserList, SimpleNamespace, *SEQUENCES)


def is_described(tree: OutputTree) -> bool:
    """Whether a call makes something for the tree; found outside objects do not count."""
    return any(map(_is_made, tree.leaves))


def _is_made(leaf: Any) -> bool:
    return leaf.__class__ in _MADE or isinstance(leaf, torch.Tensor)  # a tensor from outside is itself


def holds_tensors(tree: OutputTree) -> bool:
    """Whether a tree, or an object that the run made in it, holds something besides plain values that a call makes."""
    pending, seen = [*tree.leaves], set[int]()
    while pending:
        leaf = pending.pop()
        if not isinstance(leaf, NewObject):
            if _is_made(leaf):
                return True
        elif id(leaf) not in seen:
            seen.add(id(leaf))
            parts = [*leaf.attributes.values(), *([leaf.elements] if leaf.elements else ())]
            pending += [inner for part in parts for inner in part.leaves]
    return False


def is_device_tensor(value: Any) -> bool:
    """Whether a value is a dense device tensor with its own memory, not a wrapper."""
    dense = isinstance(value, torch.Tensor) and value.device.type == NAME and value.layout is torch.strided
    return dense and not is_wrapper(value)


@dataclass(frozen=True, slots=True)
class RunScope:
    """What a run created, and what it could reach."""

    born: Container[Cell]  # the cells that it created
    arguments: dict[int, int]  # the positions of tensor arguments, by id
    tensors: dict[int, torch.Tensor]  # the tensors that it could reach, and its arguments, by id
    moved: Container[int]  # the ids of the tensors whose data it replaced
    objects: Container[int]  # the ids of all objects that it could reach
    refuse: Callable[[torch.Tensor], None]  # raises for a host tensor that cannot be the same in every call


def _leaf_predicate(objects: Container[int], shared: Container[int]) -> Callable[[Any], bool]:
    """The predicate for pytree leaves: containers that the run could reach, or made and referenced more than once;
    `objects` and `shared` have their ids.

    It is not a method because torch's flattening keeps its predicate in a reference cycle, so the describer would keep
    the tensors of the run alive until the garbage collector runs.
    """

    def is_leaf(node: Any) -> bool:
        known = (id(node) in objects or id(node) in shared) and isinstance(node, (dict, *SEQUENCES))
        return known or isinstance(node, torch.Size)

    return is_leaf


class OutputDescriber:
    """Describes what a run returned and stored."""

    def __init__(self, scope: RunScope, numbers: HostNumbers | None = None) -> None:
        """`numbers` are the host numbers that calls can compute; None if they cannot compute any."""
        self.scope, self.numbers = scope, numbers
        self.shared: set[int] = set()  # the ids of containers that the run made and that are referenced more than once
        self.is_leaf = _leaf_predicate(scope.objects, self.shared)
        self.recorder = ResultRecorder()
        self.tensors: dict[int, tuple[torch.Tensor, NewTensor]] = {}  # by the id of the tensor
        self.aliases: dict[int, tuple[torch.Tensor, AliasOfInput]] = {}
        self.copies: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # of aliases that calls cannot make
        self.objects: dict[int, NewObject] = {}
        self.found: dict[int, FoundObject] = {}  # by the id of the object
        self.itself: set[int] = set()  # the positions of arguments that were described
        self.held: set[int] = set()  # the ids of objects held by objects that are the same in every call
        self.wrappers: dict[int, tuple[torch.Tensor, NewWrapper]] = {}
        self.differentiable: list[tuple[torch.Tensor, NewTensor | AliasOfInput]] = []

    def note_shared(self, values: Iterable[Any]) -> None:
        """Find the containers that are referenced more than once in values that will be described."""
        pending, seen, objects = [*values], set[int](), self.scope.objects
        while pending:
            value = pending.pop()
            if is_plain(value) or id(value) in objects or isinstance(value, (type, ModuleType, Module, *_FUNCTIONS)):
                continue
            if id(value) in seen:
                self.shared |= {id(value)} if isinstance(value, (dict, *SEQUENCES)) else set()
                continue
            seen.add(id(value))
            if isinstance(value, torch.Tensor):
                pending += vars(value).values()
            elif isinstance(value, dict):
                pending += dict.values(value)
            elif isinstance(value, (tuple, frozenset, *SEQUENCES)):
                pending += elements_of(value)
            elif (node := pytree.SUPPORTED_NODES.get(type(value))) is not None:
                pending += node.flatten_fn(value)[0]
            pending += attributes_of(value).values()

    def new_tensor(self, tensor: torch.Tensor) -> NewTensor | None:
        """The description of a tensor that the run made, if it was described."""
        return self.tensors[id(tensor)][1] if id(tensor) in self.tensors else None

    def describe(self, tree: Any) -> OutputTree:
        """Describe a tree.

        Raises:
            TraceError: it contains something that calls cannot make.
        """
        leaves, spec = pytree.tree_flatten(tree, self.is_leaf)
        flat = type(tree) is tuple and spec.num_leaves == spec.num_nodes - 1
        shape = tuple if flat else None if spec.is_leaf() else spec
        return OutputTree(tuple([self._leaf(leaf) for leaf in leaves]), shape)

    def _leaf(self, leaf: Any) -> Any:
        if type(leaf) in SYMBOLIC_TYPES:
            number: Any = leaf
            if self.numbers is not None and number.node.numbers is self.numbers:
                self.numbers.given = True
                return ComputedNumber(number.node.host, self.numbers)
            raise _of_a_tensor(number)
        if isinstance(leaf, jax.core.Tracer):
            raise TraceError(
                "a compiled function returns or stores a JAX array that it computes; return or store a tensor: "
                "tenax.from_jax(array)"
            )
        if isinstance(leaf, torch.Size):
            return torch.Size(map(self._known, leaf))
        if isinstance(leaf, slice):
            return slice(*map(self._known, (leaf.start, leaf.stop, leaf.step)))
        if not isinstance(leaf, torch.Tensor):
            return self._object(leaf)
        leaf = without_ended_levels(leaf)
        if id(leaf) in self.scope.arguments:
            self.itself.add(self.scope.arguments[id(leaf)])
            return ArgumentItself(self.scope.arguments[id(leaf)])
        if is_wrapper(leaf):
            return self._wrapper(leaf)
        if not is_device_tensor(leaf):
            self.scope.refuse(leaf)
            return leaf
        # An outside tensor whose `.data` the run set is on a cell of the run, but is still the outside tensor.
        if id(leaf) in self.scope.tensors or cell_of(leaf) not in self.scope.born:
            return self._alias(leaf)
        return self._new_tensor(leaf)

    def _new_tensor(self, tensor: torch.Tensor) -> NewTensor:
        if id(tensor) in self.tensors:
            return self.tensors[id(tensor)][1]
        leaf = tensor.requires_grad if tensor.is_leaf else None
        described = NewTensor(self.recorder.record(tensor), leaf, isinstance(tensor, torch.nn.Parameter))
        self.tensors[id(tensor)] = tensor, described
        if attributes := vars(tensor):
            described.attributes = {name: self.describe(value) for name, value in attributes.items()}
        if leaf is None:
            if tensor.retains_grad:
                raise TraceError(
                    "a compiled function calls retain_grad() on a tensor that it returns or stores, whose gradient "
                    "later backward passes would accumulate; return the gradient (torch.autograd.grad), or call "
                    "retain_grad() on the result"
                )
            self.differentiable.append((tensor, described))
        elif tensor.grad is not None:
            described.gradient = self.describe(tensor.grad)
        return described

    def _alias(self, tensor: torch.Tensor) -> AliasOfInput | NewTensor:
        if id(tensor) in self.aliases:
            return self.aliases[id(tensor)][1]
        found, cell, view = id(tensor) in self.scope.tensors, cell_of(tensor), None
        if not found:
            outside = (x for i, x in self.scope.tensors.items() if i not in self.scope.moved and is_device_tensor(x))
            related = relation(tensor, [x for x in outside if cell_of(x) is cell])
            if related is not None and not related.repeatable:
                _, copy = self.copies.setdefault(id(tensor), (tensor, tensor.clone()))
                return self._new_tensor(copy)
            view = related and View(self._leaf(related.base), TensorSpec.of(tensor), related.grad)
        leaf = tensor.requires_grad if tensor.is_leaf else None
        like, parameter = tensor if found else tensor.detach(), isinstance(tensor, torch.nn.Parameter)
        described = AliasOfInput(None if view else like, found, TensorSpec.of(tensor), leaf, parameter, view)
        self.aliases[id(tensor)] = tensor, described
        if not found and leaf is None and view is None:
            self.differentiable.append((tensor, described))
        return described

    def relate(self) -> None:
        """Make views of the results that share memory with another; call it after everything is described."""
        groups: dict[Cell, list[torch.Tensor]] = {}
        for tensor, _ in self.tensors.values():
            groups.setdefault(cell_of(tensor), []).append(tensor)
        for cell, group in groups.items():
            if len(group) > 1:
                bases = {id(x._base): x._base for x in group if x._base is not None and cell_of(x._base) is cell}
                for base in bases.values():
                    self._new_tensor(base)
                self._relate(
                    sorted([*{id(x): x for x in (*group, *bases.values())}.values()], key=lambda x: x.grad_fn is None)
                )
        self.differentiable = [(tensor, made) for tensor, made in self.differentiable if made.view is None]

    def _relate(self, tensors: list[torch.Tensor]) -> None:
        for i, tensor in enumerate(tensors):
            base = tensor._base
            related = relation(tensor, [x for x in tensors[:i] if x._base is None] if base is None else [base])
            if related is None:
                continue
            described = self.tensors[id(tensor)][1]
            if related.repeatable:
                described.view = View(self._new_tensor(related.base), TensorSpec.of(tensor), related.grad)
            else:
                copy = tensor.clone()
                described.record = self.recorder.record(copy)
                self.differentiable = [(copy if made is described else x, made) for x, made in self.differentiable]

    def _wrapper(self, leaf: Any) -> Any:
        if id(leaf) in self.scope.tensors:
            return leaf
        if id(leaf) not in self.wrappers:
            if not leaf.is_leaf and torch.is_grad_enabled():
                raise TraceError(
                    f"a compiled function returns or stores a {type(leaf).__name__} with a history, through which "
                    "later calls cannot be differentiated; detach it, or return .to_local() or .full_tensor()"
                )
            wrapping = Wrapping.of(leaf)
            parts = {name: self.describe(getattr(leaf, name)) for name in wrapping.names}
            self.wrappers[id(leaf)] = leaf, NewWrapper(wrapping, parts)
        return self.wrappers[id(leaf)][1]

    def _object(self, leaf: Any) -> Any:
        if is_plain(leaf) or isinstance(leaf, (type, ModuleType)):
            return leaf
        if id(leaf) in self.scope.objects:
            return self.found.setdefault(id(leaf), FoundObject(leaf))
        if id(leaf) in self.objects:
            return self.objects[id(leaf)]
        attributes, elements = attributes_of(leaf), _elements_of(leaf)
        if isinstance(leaf, (Module, *_FUNCTIONS)) or (not attributes and elements is None):
            self._refuse_holding(leaf)
            return leaf
        described = self.objects[id(leaf)] = NewObject(leaf, {})
        described.attributes = {name: self.describe(value) for name, value in attributes.items()}
        described.elements = None if elements is None else self.describe(elements)
        parts = [*described.attributes.values(), *([described.elements] if described.elements else ())]
        made = isinstance(leaf, _MUTABLE) or is_own(module_of(type(leaf))) or id(leaf) in self.shared
        if not made and not any(map(is_described, parts)):
            del self.objects[id(leaf)]
            self.held.update(id(x.value) for part in parts for x in part.leaves if isinstance(x, FoundObject))
            return leaf
        described.like = _like(leaf)
        return described

    def _known(self, value: Any) -> Any:
        """The value of a symbolic number, on which the run then depends; other values as they are.

        Raises:
            TraceError: it is the value of a tensor.
        """
        kind = SYMBOLIC_TYPES.get(type(value))
        if kind is None:
            return value
        if self.numbers is None or value.node.numbers is not self.numbers:
            raise _of_a_tensor(value)
        return kind(value)

    def _refuse_holding(self, leaf: Any) -> None:
        """Refuse an object that calls cannot recreate, if it holds a tensor that differs between calls; give the
        numbers that it holds their values."""
        graph = reach(result=leaf)
        for snapshot in graph.snapshots:
            content = snapshot.content
            if not snapshot.named and any(type(value) in SYMBOLIC_TYPES for value in content.values()):
                snapshot.content = {key: self._known(value) for key, value in content.items()}
                snapshot.restore()
        self.held |= graph.nodes.keys()
        reached = graph.reached
        for _, tensor in reached.tensors.values():
            if id(tensor) in self.scope.arguments or (is_device_tensor(tensor) and cell_of(tensor) in self.scope.born):
                raise TraceError(
                    f"a compiled function returns or stores a {type(leaf).__name__} that holds a tensor, "
                    "which later calls cannot recreate; return or store the tensor itself"
                )
        if any(isinstance(value, Iterator) for _, value in reached.streams.values()):
            raise TraceError(f"a compiled function returns or stores a {type(leaf).__name__}; return or store a list")


def _of_a_tensor(number: Any) -> TraceError:
    return TraceError(
        "a compiled function returns or stores the value of a tensor as a Python number "
        f"(.item()){number.node.where}; return or store the tensor itself, or the number of an optimizer's group as it "
        "is before scheduler.step()"
    )


def _elements_of(value: Any) -> list[Any] | None:
    """The elements of an object that is not a pytree node; None if it has none."""
    if isinstance(value, dict):
        return [*methods_of(value).items(value)]
    return [*elements_of(value)] if isinstance(value, (bytearray, *SEQUENCES)) else None


def _like(value: Any) -> Any:
    """The object that a call copies to make another; a container is emptied."""
    like = copy.copy(value)  # may add an entry to the object's class, so it must happen before the class is guarded
    if type(value) in (dict, bytearray, *SEQUENCES):
        like.clear()
    return like
