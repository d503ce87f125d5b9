"""Results of a traced run: trees of tensors, described so that every call can make them anew.

A tensor is a cell and a geometry. The cell is one that the run made, whose array is an output of the program, or one
from outside, of which the tensor is a view.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Container
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

import jax
import torch
from torch.nn import Module
from torch.utils import _pytree as pytree

from ..device.cell import Cell, Fill, Result, cell_of, contiguous, new_tensor, tensor_kind
from ..dispatch.arguments import SYMBOLS
from ..dtypes import torch_dtype
from ..errors import TraceError
from .places import SEQUENCES, is_simple, refill
from .slots import attributes_of, put_attributes
from .watch import Watch, is_own

# Objects whose attributes are not all that they hold.
_FUNCTIONS = (FunctionType, MethodType, functools.partial)
_META = torch._C.DispatchKey.Meta
_set = torch.ops.aten.set_.source_Storage_storage_offset._op_dk
_restride = torch.ops.aten.as_strided.default._op_dk
_create = torch._C._acc.create_empty_tensor


@dataclass(slots=True, eq=False)
class Ref:
    """A tensor on a cell that the run made; another for each tensor, though they may lie alike."""

    cell: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: torch.dtype
    bits: int  # 1: conjugated, 2: negated
    plain: bool  # all of its cell, in order
    leaf: bool | None  # of a leaf that the run made: whether it requires a gradient
    is_parameter: bool
    gradient: Described | None = None  # what the run left as the gradient of a leaf
    attributes: dict[str, Described] | None = None  # that the program has put on the tensor

    def is_contiguous(self) -> bool:
        """Whether the elements lie in order and are not seen through a lazy bit."""
        return self.stride == contiguous(self.size) and not self.bits


@dataclass(slots=True, eq=False)
class Outside:
    """A tensor on a cell from outside: one that the run found, or else a view that it made."""

    like: torch.Tensor | None  # the tensor, or one like the view, where its cell is the same in every call
    found: bool
    dtype: torch.dtype
    geometry: tuple[Any, ...]  # offset, size, stride
    bits: tuple[bool, bool]  # conjugated, negated
    leaf: bool | None  # of a view that is a leaf: whether it requires a gradient
    is_parameter: bool

    def on(self, base: torch.Tensor) -> torch.Tensor:
        """The tensor in a call that has `base` in the place of the tensor whose cell it was."""
        if self.found:
            return base
        made = _set(_META, _create((0,), self.dtype), base.untyped_storage(), *self.geometry)
        made = made.conj() if self.bits[0] else made
        return _as_leaf(made._neg_view() if self.bits[1] else made, self)

    def fixed(self) -> torch.Tensor:
        """The tensor where its cell is the same in every call."""
        assert self.like is not None
        return self.like if self.found else _as_leaf(self.like.detach(), self)


@dataclass(frozen=True, slots=True)
class Same:
    """A tensor from outside, itself."""

    tensor: torch.Tensor


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument, itself."""

    index: int


@dataclass(slots=True, eq=False)
class Made:
    """An object that the run made and that is no tree to torch: its attributes, and elements where it has any."""

    like: Any
    attributes: dict[str, Described]
    elements: Described | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """A tree of results: its leaves, those that are tensors described."""

    leaves: tuple[Any, ...]
    spec: Any  # None of a leaf, `tuple` of a tuple of leaves


class Results:
    """The cells that a run made and that its results need, in order."""

    def __init__(
        self,
        born: Container[Cell],
        arguments: dict[int, int],
        found: Container[int],
        reached: Container[int],
        refuse: Callable[[torch.Tensor], None],
    ) -> None:
        """`refuse` raises for a tensor of the host that cannot be the same in every call."""
        self.rules = born, arguments, found, reached, refuse  # of another one like this
        self.born = born  # the cells of the run
        self.reached = reached  # the ids of what the function reached before the run
        self.made: dict[int, Made] = {}  # by the id of the object
        self.refuse = refuse
        self.arguments = arguments  # the index of each argument by its id
        self.found = found  # the ids of the tensors that the run could reach
        self.cells: dict[Cell, int] = {}
        self.refs: dict[int, tuple[torch.Tensor, Ref]] = {}  # by the id of the tensor
        self.outside: dict[int, tuple[torch.Tensor, Outside]] = {}
        self.differentiable: list[tuple[torch.Tensor, Ref | Outside]] = []

    def ref(self, tensor: torch.Tensor) -> Ref | None:
        """The description of a tensor that the run made, where it was described."""
        return self.refs[id(tensor)][1] if id(tensor) in self.refs else None

    def arrays(self) -> list[jax.Array | Fill]:
        """What the cells hold; an array that no tensor shows as it is takes the shape of one that shows all of it."""
        held: list[Any] = [cell.held for cell in self.cells]
        shown = {ref.cell for _, ref in self.refs.values() if ref.plain}
        shown |= {i for i, cell in enumerate(self.cells) if cell.mixed or isinstance(held[i], Fill)}
        for _, ref in self.refs.values():
            if ref.cell not in shown and held[ref.cell].size == math.prod(ref.size) and ref.is_contiguous():
                held[ref.cell] = held[ref.cell].reshape(ref.size)
                ref.plain = True
                shown.add(ref.cell)
        return held

    def describe(self, tree: Any) -> Described:
        """A tree with each tensor of it described."""
        leaves, spec = pytree.tree_flatten(tree, self._is_whole)
        flat = type(tree) is tuple and spec.num_leaves == spec.num_nodes - 1
        shape = tuple if flat else None if spec.is_leaf() else spec
        return Described(tuple([self._leaf(leaf) for leaf in leaves]), shape)

    def _leaf(self, leaf: Any) -> Any:
        if leaf.__class__ in SYMBOLS:
            raise TraceError(
                "a compiled function gives or keeps the value of a tensor as a Python number (.item()); give the tensor"
            )
        if not isinstance(leaf, torch.Tensor):
            return self._object(leaf)
        if id(leaf) in self.arguments:
            return Argument(self.arguments[id(leaf)])
        if leaf.device.type != "jax" or leaf.layout is not torch.strided:
            self.refuse(leaf)
            return Same(leaf)
        cell = cell_of(leaf)
        if cell not in self.born:
            return self._outside(leaf)
        if known := self.ref(leaf):
            return known
        size, stride, offset = tuple(leaf.size()), tuple(leaf.stride()), int(leaf.storage_offset())
        bits = leaf.is_conj() + 2 * leaf.is_neg()
        kind = cell.kind
        plain = size == kind.shape and stride == kind.stride and not bits and not cell.mixed
        number = self.cells.setdefault(cell, len(self.cells))
        parameter = isinstance(leaf, torch.nn.Parameter)
        own = leaf.requires_grad if leaf.is_leaf else None
        ref = Ref(number, size, stride, offset, leaf.dtype, bits, plain, own, parameter)
        self.refs[id(leaf)] = leaf, ref
        if attributes := vars(leaf):
            ref.attributes = {name: self.describe(value) for name, value in attributes.items()}
        if not leaf.is_leaf:
            self.differentiable.append((leaf, ref))
        elif leaf.grad is not None:
            ref.gradient = self.describe(leaf.grad)
        return ref

    def _is_whole(self, node: Any) -> bool:
        return isinstance(node, torch.Size) or (id(node) in self.reached and isinstance(node, (dict, *SEQUENCES)))

    def _object(self, leaf: Any) -> Any:
        if is_simple(leaf) or id(leaf) in self.reached or isinstance(leaf, (type, ModuleType)):
            return leaf
        if id(leaf) in self.made:
            return self.made[id(leaf)]
        attributes, elements = attributes_of(leaf), [*leaf.items()] if isinstance(leaf, dict) else None
        if isinstance(leaf, SEQUENCES):
            elements = [*leaf]
        if isinstance(leaf, (Module, *_FUNCTIONS)) or (not attributes and elements is None):
            self._refuse_holding(leaf)
            return leaf
        made = self.made[id(leaf)] = Made(leaf, {})
        made.attributes = {name: self.describe(value) for name, value in attributes.items()}
        made.elements = None if elements is None else self.describe(elements)
        parts = [*made.attributes.values(), *([made.elements] if made.elements else ())]
        if not any(map(is_described, parts)) and not is_own(type(leaf).__module__):
            del self.made[id(leaf)]
            return leaf
        return made

    def _refuse_holding(self, leaf: Any) -> None:
        """Refuse what no call can make anew and what holds a tensor that is another one in each call."""
        watch = Watch(result=leaf)
        for _, tensor in watch.tensors.values():
            if id(tensor) in self.arguments or (is_ours(tensor) and cell_of(tensor) in self.born):
                raise TraceError(
                    f"a compiled function gives or keeps a {type(leaf).__name__} that holds a tensor, "
                    "which no call can make anew; give the tensor"
                )
        if watch.iterators:
            raise TraceError(f"a compiled function gives or keeps a {type(leaf).__name__}; give a list")

    def _outside(self, leaf: torch.Tensor) -> Outside:
        if id(leaf) in self.outside:
            return self.outside[id(leaf)][1]
        found = id(leaf) in self.found
        geometry = int(leaf.storage_offset()), tuple(leaf.size()), tuple(leaf.stride())
        bits, own = (leaf.is_conj(), leaf.is_neg()), leaf.requires_grad if leaf.is_leaf else None
        like = leaf if found else leaf.detach()
        described = Outside(like, found, leaf.dtype, geometry, bits, own, isinstance(leaf, torch.nn.Parameter))
        self.outside[id(leaf)] = leaf, described
        if not found and not leaf.is_leaf:
            self.differentiable.append((leaf, described))
        return described


def is_ours(value: Any) -> bool:
    """Whether a value is a dense tensor of the device."""
    return isinstance(value, torch.Tensor) and value.device.type == "jax" and value.layout is torch.strided


class Maker:
    """Makes the tensors of one call from the cells of its results."""

    def __init__(self, held: list[Any], leaves: list[Any], index: int) -> None:
        """`held` are the arrays, or fills, of the cells; `leaves` the arguments of the call."""
        self.held, self.index = held, index
        self.bases: dict[int, torch.Tensor] = {}
        self.leaves = leaves
        self.known: dict[Ref | Outside, torch.Tensor] = {}
        self.copies: dict[Made, Any] = {}

    def make(self, described: Described) -> Any:
        """The tree that `Results.describe` described, with new tensors."""
        leaves = [
            self.tensor(x) if x.__class__ is Ref else self.leaf(x) if x.__class__ in _DESCRIBED else x
            for x in described.leaves
        ]
        if described.spec is None:
            return leaves[0]
        return tuple(leaves) if described.spec is tuple else pytree.tree_unflatten(leaves, described.spec)

    def leaf(self, leaf: Any) -> Any:
        """The tensor of one description."""
        if isinstance(leaf, (Ref, Outside)):
            return self.tensor(leaf)
        if isinstance(leaf, Argument):
            return self.leaves[leaf.index]
        if isinstance(leaf, Same):
            return leaf.tensor
        if leaf in self.copies:
            return self.copies[leaf]
        made = self.copies[leaf] = copy.copy(leaf.like)
        put_attributes(made, {name: self.make(value) for name, value in leaf.attributes.items()})
        if leaf.elements is not None:
            refill(made, self.make(leaf.elements))
        return made

    def tensor(self, described: Ref | Outside) -> torch.Tensor:
        """The tensor of a description, the same one for the same description."""
        found = self.known.get(described)
        if found is None:
            made = described.fixed() if isinstance(described, Outside) else self._new(described)
            found = self.known[described] = made
            if isinstance(described, Ref) and described.gradient is not None:
                found.grad = self.make(described.gradient)
            if isinstance(described, Ref) and described.attributes is not None:
                vars(found).update({name: self.make(value) for name, value in described.attributes.items()})
        return found

    def _new(self, ref: Ref) -> torch.Tensor:
        base = self.bases.get(ref.cell)
        if base is None:
            held = self.held[ref.cell]
            if ref.plain:
                known = not self.index and held.__class__ is not Fill
                cell = Result(held, tensor_kind(ref.size, ref.dtype)) if known else Cell(held, self.index)
                base = self.bases[ref.cell] = new_tensor(cell, ref.size, ref.dtype)
                return _as_leaf(base, ref)
            cell = Cell(held, self.index)
            base = self.bases[ref.cell] = new_tensor(cell, cell.kind.shape, torch_dtype(cell.kind.dtype))
        else:
            cell = cell_of(base)
        if torch_dtype(cell.kind.dtype) == ref.dtype:
            tensor = _restride(_META, base, ref.size, ref.stride, ref.offset)
        else:
            tensor = _set(_META, _create((0,), ref.dtype), base.untyped_storage(), ref.offset, ref.size, ref.stride)
            cell.mix()
        if ref.bits & 1:
            tensor = tensor.conj()
        if ref.bits & 2:
            tensor = tensor._neg_view()
        return _as_leaf(tensor, ref)


def _as_leaf(tensor: torch.Tensor, described: Ref | Outside) -> torch.Tensor:
    if described.is_parameter:
        return torch.nn.Parameter(tensor, bool(described.leaf))
    return tensor.requires_grad_() if described.leaf else tensor


def is_described(described: Described) -> bool:
    """Whether there is a tensor among the leaves."""
    return any(x.__class__ in _DESCRIBED for x in described.leaves)


_DESCRIBED = {Ref, Outside, Same, Argument, Made}
