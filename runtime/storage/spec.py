"""The geometry of a tensor (size, stride, offset, dtype and lazy bits), and the operand that represents it in keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import torch

from .._torch.tensors import conj_view, meta_as_strided, meta_set, neg_view
from ..dtypes import torch_dtype
from .avals import Aval, contiguous_strides, interning

Ints = tuple[int, ...]

CONJUGATE, NEGATIVE = 1, 2  # the lazy bits of torch


class TensorSpec(NamedTuple):
    """The geometry of a tensor on its storage. Stride and offset count elements of `dtype`, as in torch."""

    size: Ints
    stride: Ints
    offset: int
    dtype: torch.dtype
    bits: int = 0  # CONJUGATE and NEGATIVE

    @classmethod
    def of(cls, tensor: torch.Tensor) -> TensorSpec:
        """The spec of a tensor."""
        offset = int(tensor.storage_offset())
        return cls(tuple(tensor.size()), tuple(tensor.stride()), offset, tensor.dtype, lazy_bits(tensor))

    @classmethod
    def contiguous(cls, size: Sequence[int], dtype: torch.dtype) -> TensorSpec:
        """The spec of `torch.empty(size, dtype=dtype)`."""
        return cls(tuple(size), contiguous_strides(size), 0, dtype)

    def resized(self, size: Sequence[int]) -> TensorSpec:
        """A contiguous spec of another size and the same dtype."""
        return TensorSpec.contiguous(size, self.dtype)

    def restrided(self, stride: Sequence[int]) -> TensorSpec:
        """This spec with other strides."""
        return self._replace(stride=tuple(stride))

    def with_strides_of(self, like: torch.Tensor) -> TensorSpec:
        """This spec with the strides of a tensor of this size, normalized for axes of size 1 if it is contiguous."""
        return self.restrided(contiguous_strides(self.size) if like.is_contiguous() else like.stride())

    @property
    def extent(self) -> int:
        """The number of elements of the storage from the tensor's first to its last."""
        return 0 if 0 in self.size else 1 + sum((n - 1) * s for n, s in zip(self.size, self.stride, strict=True))

    def is_contiguous(self) -> bool:
        """Whether the strides are those of a fresh tensor of this size, and there are no lazy bits."""
        return not self.bits and self.stride == contiguous_strides(self.size)

    def covers(self, aval: Aval) -> bool:
        """Whether the tensor is exactly an array of `aval`."""
        return (
            self.size == aval.shape
            and self.stride == aval.stride
            and not self.offset
            and not self.bits
            and self.dtype is torch_dtype(aval.dtype)
        )

    def is_expanded(self) -> bool:
        """Whether several indices share an element because a stride is 0."""
        return any(s == 0 and n > 1 for n, s in zip(self.size, self.stride, strict=True))

    def is_reshape_of(self, shape: Ints) -> bool:
        """Whether the elements, without lazy bits, are those of an array of `shape` in order, perhaps reshaped."""
        if self.offset or math.prod(self.size) != math.prod(shape):
            return False
        expected = 1
        for n, stride in zip(reversed(self.size), reversed(self.stride), strict=True):
            if n != 1 and stride != expected:
                return False
            expected *= n
        return True

    def on(self, base: torch.Tensor) -> torch.Tensor:
        """Another tensor on the storage of `base`, with this geometry and without autograd history.

        A dtype other than that of `base` takes a storage of the device off the fast path.
        """
        if base.is_cpu:
            tensor = torch.empty(0, dtype=self.dtype, device="cpu")
            tensor.set_(base.untyped_storage(), self.offset, self.size, self.stride)
        elif base.dtype is self.dtype:
            plain = with_bits(base, lazy_bits(base))
            tensor = meta_as_strided(plain, self.size, self.stride, self.offset)
        else:
            storage = base.untyped_storage()
            tensor = torch.empty(0, dtype=self.dtype, device=base.device)
            tensor = meta_set(tensor, storage, self.offset, self.size, self.stride)
            storage.cell.mix()  # type: ignore[attr-defined]
        return with_bits(tensor, self.bits)

    def viewed(self, base: torch.Tensor) -> torch.Tensor:
        """As `on`, but by views that autograd knows: with the history and the version counter of `base`."""
        plain = with_bits(base, lazy_bits(base))
        if plain.dtype is not self.dtype:
            plain = plain.as_strided((base.untyped_storage().nbytes() // base.itemsize,), (1,), 0)
            if plain.is_complex() and not self.dtype.is_complex:
                plain = torch.view_as_real(plain).view(-1)
            elif self.dtype.is_complex and not plain.is_complex():
                plain = torch.view_as_complex(plain.view(-1, 2))
            if plain.dtype is not self.dtype:  # such a view has no derivative
                plain = plain.view(self.dtype)
        return with_bits(plain.as_strided(self.size, self.stride, self.offset), self.bits)


def lazy_bits(tensor: torch.Tensor) -> int:
    """The lazy bits of a tensor: CONJUGATE and NEGATIVE, added."""
    return CONJUGATE * tensor.is_conj() + NEGATIVE * tensor.is_neg()


def with_bits(tensor: torch.Tensor, bits: int) -> torch.Tensor:
    """A view of a tensor with these lazy bits flipped."""
    if bits & CONJUGATE:
        tensor = conj_view(tensor)
    return neg_view(tensor) if bits & NEGATIVE else tensor


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Operand:
    """A tensor argument as part of an executable's key. Interned by `operand_of`, so that keys compare identities."""

    base: Aval  # of the array that is passed or overwritten
    spec: TensorSpec  # with `dynamic`, its offset is 0
    dynamic: bool  # whether the starts of the view's plan are also passed
    overwritten: bool  # written but never read: nothing is passed

    @property
    def reinterprets(self) -> bool:
        """Whether the tensor's elements differ from the array's, because of another dtype or lazy bits."""
        return bool(self.spec.bits) or self.spec.dtype is not torch_dtype(self.base.dtype)


_operands: WeakValueDictionary[tuple[int, TensorSpec, bool, bool], Operand] = WeakValueDictionary()


def operand_of(base: Aval, spec: TensorSpec, dynamic: bool = False, overwritten: bool = False) -> Operand:
    """The unique `Operand` with these fields."""
    key = id(base), spec, dynamic, overwritten  # the table must not keep an aval; its operands do
    operand = _operands.get(key)
    if operand is None:
        with interning:
            operand = _operands.setdefault(key, Operand(base, spec, dynamic, overwritten))
    return operand


def map_specs(function: Callable[[TensorSpec], Any], tree: Any) -> Any:
    """Apply a function to each spec of a tree."""
    if isinstance(tree, TensorSpec):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)([map_specs(function, t) for t in tree])
    return tree


def leaves(tree: Any) -> Iterator[TensorSpec]:
    """The specs of a tree."""
    if isinstance(tree, TensorSpec):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for branch in tree:
            yield from leaves(branch)
