"""An operation of the device once more on CPU torch, on copies of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils import _pytree as pytree

from ..device.cell import Cell, cell_of
from ..device.convert import from_numpy
from ..dtypes import torch_dtype
from .arguments import Plain
from .call import Derivative, Forward, backward, meaning_of
from .overload import Slot
from .whole import Original

Tensors = list[torch.Tensor]
Function = Callable[[Tensors], Tensors]

_CALL = "tenax::call"

# What stands for an operation that torch defines for the backends that override it.
_OF_BACKENDS = {
    "aten::convolution_overrideable": torch.ops.aten.convolution.default,
    "aten::convolution_backward_overrideable": torch.ops.aten.convolution_backward.default,
}

# How many results of an operation have a meaning beyond the backend that gives them.
_VISIBLE = {
    "aten::_embedding_bag": 1,
    "aten::_embedding_bag_forward_only": 1,
    "aten::_nested_tensor_from_mask_left_aligned": 0,  # whether nn.TransformerEncoder may take a road of its own
}

EXACT = {
    **dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float64),
    torch.complex64: torch.complex128,
}


class _View(NamedTuple):
    """A strided tensor of the device as it was: an operation may give it another size, or other memory."""

    cell: Cell
    dtype: torch.dtype
    size: Sequence[int]
    stride: Sequence[int]
    offset: int
    conjugate: bool
    negative: bool


class Snapshot:
    """The arguments of an operation as they are now. Tensors that share a storage share one in every copy."""

    def __init__(self, tree: Any) -> None:
        leaves, self.spec = pytree.tree_flatten(tree)
        self.leaves = [self._kept(x) for x in leaves]
        cells = dict.fromkeys(x.cell for x in self.leaves if isinstance(x, _View))
        self.arrays = {cell: np.array(cell.read()) for cell in cells}

    @staticmethod
    def _kept(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        if x.device.type != "jax" or x.layout is not torch.strided:
            return x.detach().cpu().clone()
        return _View(cell_of(x), x.dtype, x.size(), x.stride(), int(x.storage_offset()), x.is_conj(), x.is_neg())

    def copy(self, exact: bool = False) -> Any:
        """The arguments on the CPU; with `exact`, in float64 and complex128."""
        wider = EXACT if exact else {}
        storages: dict[Cell, torch.Tensor] = {}
        return pytree.tree_unflatten([self._copied(x, storages, wider) for x in self.leaves], self.spec)

    def _copied(self, x: Any, storages: dict[Cell, torch.Tensor], wider: dict[torch.dtype, torch.dtype]) -> Any:
        if isinstance(x, torch.Generator):
            return None
        if isinstance(x, torch.device):
            return torch.device("cpu") if x.type == "jax" else x
        if isinstance(x, torch.dtype):
            return wider.get(x, x)
        if isinstance(x, torch.Tensor):
            return x.to(wider.get(x.dtype, x.dtype), copy=True)
        if not isinstance(x, _View):
            return x
        dtype = wider.get(x.dtype, x.dtype)
        if x.cell not in storages:
            array = self.arrays[x.cell].reshape(-1)
            storages[x.cell] = from_numpy(array, torch_dtype(array.dtype)).view(x.dtype).to(dtype, copy=True)
        found = torch.empty(0, dtype=dtype).set_(storages[x.cell].untyped_storage(), x.offset, x.size, x.stride)
        found = torch._conj(found) if x.conjugate else found
        return torch._neg_view(found) if x.negative else found


def fetched(tensor: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU, dense, with its lazy bits resolved."""
    found = tensor.detach().cpu().resolve_conj().resolve_neg()
    found = found if found.layout is torch.strided else found.to_dense()
    return found.clone() if found._is_zerotensor() else found  # which has no memory


def name_of(op: Any, args: Any) -> str:
    """The name of an operation; of `tenax::call`, that of the operation which it computes."""
    original = _original(args[0]) if op.name() == _CALL else None
    if original is None:
        return op.name()
    derivative = "derivative of " if isinstance(meaning_of(args[0]), Derivative) else ""
    return f"{derivative}{original.overload.op.name()}"


def is_random(op: Any, args: Any) -> bool:
    """Whether the results of an operation depend on random numbers."""
    if op.name() != _CALL:
        return torch.Tag.nondeterministic_seeded in op.tags
    original = _original(args[0])
    return original is not None and original.overload.row.random


def inputs_of(op: Any) -> Tensors:
    """What an operation depends on besides its arguments: a derivative on what it is the derivative at."""
    return [*backward.inputs] if op.name() == _CALL else []


def host_op(op: Any, args: Any, inputs: Tensors) -> Callable[..., Any] | None:
    """What computes the same on CPU tensors, or None where nothing does; `inputs` is a copy of `inputs_of(op)`."""
    if op.name() != _CALL:
        return None if op.namespace == "tenax" else _OF_BACKENDS.get(op.name(), op)
    meaning = meaning_of(args[0])
    if isinstance(meaning, Derivative):
        return _derivative(meaning, inputs) if _original(args[0]) else None
    found = _original(args[0])
    return None if found is None else lambda f, xs: _results(found, xs)


def visible(op: Any, args: Any, results: Sequence[Any]) -> list[Any]:
    """The results that an operation is about; others are what a derivative needs, or were not asked for."""
    if op.name() == _CALL:
        meaning = meaning_of(args[0])
        return [*results[: meaning.outputs if isinstance(meaning, Forward) else None]]
    mask = next((a for s, a in zip(op._schema.arguments, args, strict=False) if s.name == "output_mask"), None)
    if mask is not None:
        return [x for x, asked in zip(results, mask, strict=True) if asked]
    return [*results[: _VISIBLE.get(op.name())]]


def _original(f: int) -> Original | None:
    """The operation that a function computes or is the first derivative of."""
    meaning = meaning_of(f)
    if isinstance(meaning, Derivative):
        meaning = meaning_of(meaning.split.function)
    elif isinstance(meaning, Forward):
        meaning = meaning_of(meaning.of)
    return meaning if isinstance(meaning, Original) else None


def _results(original: Original, xs: Tensors) -> Tensors:
    """The results of the operation, with their axes in the order in which the function gives them."""
    slots, rest = original.overload.slots, iter(xs)
    values = [_value(slot, form, rest) for slot, form in zip(slots, original.form, strict=True)]
    found = original.overload.op(
        *(v for s, v in zip(slots, values, strict=True) if not s.keyword),
        **{s.name: v for s, v in zip(slots, values, strict=True) if s.keyword},
    )
    found = found if isinstance(found, (tuple, list)) else (found,)
    memory = original.memory or (None,) * len(found)
    return [x if axes is None else x.permute(axes) for x, axes in zip(found, memory, strict=True)]


def _value(slot: Slot, form: Any, rest: Iterator[torch.Tensor]) -> Any:
    if form is None:
        return next(rest) if slot.kind in ("tensor", "tensors") else next(rest).item()
    return form.value if isinstance(form, Plain) else [_value(slot, f, rest) for f in form]


def _derivative(meaning: Derivative, inputs: Tensors) -> Callable[..., Tensors]:
    original = meaning_of(meaning.split.function)

    def derivative(f: int, xs: Tensors) -> Tensors:
        leaves = [x.requires_grad_() if i in meaning.wanted else x for i, x in enumerate(inputs)]
        gradients = xs[-len(meaning.given) :]
        with _above_autograd(), torch.enable_grad():
            outputs = _results(original, leaves)
            found = torch.autograd.grad(
                [outputs[i] for i in meaning.given],
                [leaves[i] for i in meaning.wanted],
                gradients,
                allow_unused=True,
                materialize_grads=True,
            )
        return [x.contiguous() for x in found]  # as the results of a function of arrays are

    return derivative


def _above_autograd() -> Any:
    """A context in which autograd sees operations again: a dispatch mode stands below it."""
    keys = torch._C._dispatch_tls_local_exclude_set()
    for key in _AUTOGRAD:
        keys = keys.remove(key)
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), keys)


_AUTOGRAD = [k for name, k in torch._C.DispatchKey.__members__.items() if name in ("AutogradCPU", "ADInplaceOrView")]
