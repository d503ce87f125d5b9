"""Builds what a run described: the results of a call, and the tensors and objects that it stores."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import jax
import torch

from .._torch import pytree
from ..storage.rebuild import NewStorage, ResultBuilder
from .outputs import (
    DESCRIBED,
    AliasOfInput,
    ArgumentItself,
    ComputedNumber,
    FoundObject,
    NewObject,
    NewTensor,
    NewWrapper,
    OutputTree,
)
from .sources import Fetch, refill


class Outputs:
    """How the calls of a program make the tensors and objects that the run described."""

    __slots__ = ("aliases", "count", "found", "in_order", "index", "storages")

    def __init__(
        self,
        storages: Sequence[NewStorage],
        index: int,
        aliases: Sequence[tuple[AliasOfInput, Fetch]] = (),
        found: Sequence[tuple[FoundObject, Fetch]] = (),
    ) -> None:
        """
        Args:
            storages: the storages that the run made.
            index: the index of their device.
            aliases: those whose storage differs between calls, each with a function that fetches a tensor on it.
            found: the objects that each call looks up again, each with a function that fetches it.
        """
        self.storages, self.index, self.aliases, self.found = storages, index, aliases, found
        outputs = [s.source.output for s in storages]
        self.count = 1 + max((output for output in outputs if output is not None), default=-1)
        # Whether the arrays of the storages are the first outputs of the program, in the same order.
        self.in_order = outputs == list(range(self.count))

    def builder(self, results: Iterator[jax.Array], arguments: Sequence[Any]) -> OutputBuilder:
        """The builder of the tensors of a call; consumes the first of the program's results."""
        arrays = [*islice(results, self.count)]
        contents = arrays if self.in_order else [s.source.content(arrays, ()) for s in self.storages]
        builder = OutputBuilder(ResultBuilder(self.storages, contents, self.index), arguments)
        for alias, fetch in self.aliases:
            builder.alias(alias, fetch(arguments))
        for described, fetch in self.found:
            builder.objects[described] = fetch(arguments)
        return builder


class OutputBuilder:
    """Makes the tensors and objects of one call; each description is built once."""

    def __init__(self, results: ResultBuilder, arguments: Sequence[Any]) -> None:
        """`results` makes the tensors on new storages; `arguments` are the leaves of the call's arguments."""
        self.results, self.arguments = results, arguments
        self.numbers: Sequence[float] = ()  # the host numbers before the call
        self.tensors: dict[NewTensor | AliasOfInput, torch.Tensor] = {}
        self.objects: dict[NewObject | NewWrapper | FoundObject, Any] = {}  # those made or found in this call

    def make(self, tree: OutputTree) -> Any:
        """Build the tree of a description."""
        if tree.spec is None:
            (leaf,) = tree.leaves
            if leaf.__class__ is NewTensor:
                return self.tensor(leaf)
            return self._leaf(leaf) if leaf.__class__ in DESCRIBED else leaf
        leaves = [self._leaf(x) if x.__class__ in DESCRIBED else x for x in tree.leaves]
        return tuple(leaves) if tree.spec is tuple else pytree.tree_unflatten(leaves, tree.spec)

    def _leaf(self, leaf: Any) -> Any:
        if isinstance(leaf, (NewTensor, AliasOfInput)):
            return self.tensor(leaf)
        if isinstance(leaf, ArgumentItself):
            return self.arguments[leaf.index]
        if isinstance(leaf, ComputedNumber):
            return leaf.numbers.value(leaf.number, self.numbers)
        if leaf in self.objects:
            return self.objects[leaf]
        if isinstance(leaf, FoundObject):
            return leaf.value
        return self._wrapper(leaf) if isinstance(leaf, NewWrapper) else self._object(leaf)

    def _wrapper(self, described: NewWrapper) -> torch.Tensor:
        parts = {name: self.make(part) for name, part in described.parts.items()}
        new: torch.Tensor = described.wrapping.make(parts)
        self.objects[described] = new
        return new

    def _object(self, described: NewObject) -> Any:
        new = self.objects[described] = copy.copy(described.like)
        for name, value in described.attributes.items():
            object.__setattr__(new, name, self.make(value))  # also of a frozen object
        if described.elements is not None:
            refill(new, self.make(described.elements))
        return new

    def tensor(self, described: NewTensor | AliasOfInput) -> torch.Tensor:
        """The tensor of a description. `alias` has added those of aliases whose storage differs between calls."""
        tensor = self.tensors.get(described)
        if tensor is not None:
            return tensor
        view = described.view and described.view.of(self._leaf(described.view.base))
        if isinstance(described, AliasOfInput):
            like = described.like if view is None else view
            assert like is not None
            tensor = like if described.found else _as_leaf(like.detach() if view is None else like, described)
            self.tensors[described] = tensor
            return tensor
        tensor = _as_leaf(self.results.tensor(described.record) if view is None else view, described)
        self.tensors[described] = tensor
        if described.gradient is not None:
            tensor.grad = self.make(described.gradient)
        if described.attributes is not None:
            vars(tensor).update({name: self.make(value) for name, value in described.attributes.items()})
        return tensor

    def alias(self, described: AliasOfInput, base: torch.Tensor) -> None:
        """Build an alias on the storage of `base`, which replaces the traced run's tensor."""
        self.tensors[described] = base if described.found else _as_leaf(described.spec.on(base), described)


def _as_leaf(tensor: torch.Tensor, described: NewTensor | AliasOfInput) -> torch.Tensor:
    if described.is_parameter:
        return torch.nn.Parameter(tensor, bool(described.leaf))
    return tensor.requires_grad_() if described.leaf else tensor
