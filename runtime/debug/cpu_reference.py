"""Repeat a device operation on CPU torch, with copies of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from .._torch import pytree
from .._torch.dispatcher import DispatchKey, ForceKeys, excluded_keys, included_keys
from ..dispatch.jax_call import DerivativeOf, ForwardOf, backward, meaning_of
from ..dispatch.opaque_composite import CompositeCall
from ..dispatch.operands import StaticValue
from ..dispatch.signature import Argument
from ..dtypes import torch_dtype
from ..storage.cell import Cell
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of
from ..trace.transfer import from_numpy

Tensors = list[torch.Tensor]
Function = Callable[[Tensors], Tensors]

_CALL = "tenax::call"

# An operator without a CPU kernel, and one that computes the same.
_SAME = {"aten::convolution_overrideable": torch.ops.aten.convolution.default}
# The number of results that do not depend on the backend.
_COMPARED = {
    "aten::_embedding_bag": 1,
    "aten::_embedding_bag_forward_only": 1,
    "aten::_nested_tensor_from_mask_left_aligned": 0,
}

EXACT = {
    **dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float64),
    torch.complex64: torch.complex128,
}


class DeviceArgument(NamedTuple):
    """A strided device tensor before the operation, which may change its geometry or storage."""

    cell: Cell
    spec: TensorSpec


class Snapshot:
    """A snapshot of an operation's arguments. Tensors that share a storage also share one in every copy."""

    def __init__(self, tree: Any) -> None:
        leaves, self.structure = pytree.tree_flatten(tree)
        self.leaves = [self._recorded(x) for x in leaves]
        cells = dict.fromkeys(x.cell for x in self.leaves if isinstance(x, DeviceArgument))
        self.arrays = {cell: np.array(cell.read()) for cell in cells}

    @staticmethod
    def _recorded(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        if x.device.type != NAME or x.layout is not torch.strided:
            return x.detach().cpu().clone()
        return DeviceArgument(cell_of(x), TensorSpec.of(x))

    def copy(self, exact: bool = False) -> Any:
        """Copy the arguments to the CPU; with `exact`, in float64 and complex128."""
        wider = EXACT if exact else {}
        storages: dict[Cell, torch.Tensor] = {}
        return pytree.tree_unflatten([self._copied(x, storages, wider) for x in self.leaves], self.structure)

    def _copied(self, x: Any, storages: dict[Cell, torch.Tensor], wider: dict[torch.dtype, torch.dtype]) -> Any:
        if isinstance(x, torch.Generator):
            return None
        if isinstance(x, torch.device):
            return torch.device("cpu") if x.type == NAME else x
        if isinstance(x, torch.dtype):
            return wider.get(x, x)
        if isinstance(x, torch.Tensor):
            return x.to(wider.get(x.dtype, x.dtype), copy=True)
        if not isinstance(x, DeviceArgument):
            return x
        spec = x.spec._replace(dtype=wider.get(x.spec.dtype, x.spec.dtype))
        if x.cell not in storages:
            array = self.arrays[x.cell].reshape(-1)
            storage = from_numpy(array, torch_dtype(array.dtype)).view(x.spec.dtype)
            storages[x.cell] = storage.to(spec.dtype, copy=True)
        return spec.on(storages[x.cell])


def fetched(tensor: torch.Tensor) -> torch.Tensor:
    """A dense copy on the CPU, with its lazy bits resolved."""
    copy = tensor.detach().cpu().resolve_conj().resolve_neg()
    copy = copy if copy.layout is torch.strided else copy.to_dense()
    return copy.clone() if copy._is_zerotensor() else copy  # a zero tensor has no memory


def name_of(op: Any, args: Any) -> str:
    """The name of an operation; for `tenax::call`, the name of the operation that it computes."""
    original = _original(args[0]) if op.name() == _CALL else None
    if original is None:
        return op.name()
    derivative = "derivative of " if isinstance(meaning_of(args[0]), DerivativeOf) else ""
    return f"{derivative}{original.signature.op.name()}"


def is_random(op: Any, args: Any) -> bool:
    """Whether the results of an operation depend on random numbers."""
    if op.name() != _CALL:
        return torch.Tag.nondeterministic_seeded in op.tags
    original = _original(args[0])
    return original is not None and original.signature.row.random


def inputs_of(op: Any) -> Tensors:
    """The tensors that an operation depends on besides its arguments: for a derivative, the primal inputs."""
    return [*backward.inputs] if op.name() == _CALL else []


def host_op(op: Any, args: Any, inputs: Tensors) -> Callable[..., Any] | None:
    """The equivalent function of CPU tensors, or None. `inputs` is a copy of `inputs_of(op)`."""
    if op.name() != _CALL:
        return None if op.namespace == "tenax" else _SAME.get(op.name(), op)
    meaning = meaning_of(args[0])
    if isinstance(meaning, DerivativeOf):
        return _derivative(meaning, inputs) if _original(args[0]) else None
    original = _original(args[0])
    return None if original is None else lambda f, xs: _results(original, xs)


def visible(op: Any, args: Any, results: Sequence[Any]) -> list[Any]:
    """The results of an operation without those that are saved for its derivative or were not requested."""
    if op.name() == _CALL:
        meaning = meaning_of(args[0])
        return [*results[: meaning.outputs if isinstance(meaning, ForwardOf) else None]]
    mask = next((a for s, a in zip(op._schema.arguments, args, strict=False) if s.name == "output_mask"), None)
    if mask is not None:
        return [x for x, requested in zip(results, mask, strict=True) if requested]
    return [*results[: _COMPARED.get(op.name())]]


def _original(f: int) -> CompositeCall | None:
    """The operation that a function computes, or of which it is the first derivative."""
    meaning = meaning_of(f)
    if isinstance(meaning, DerivativeOf):
        meaning = meaning_of(meaning.split.function)
    elif isinstance(meaning, ForwardOf):
        meaning = meaning_of(meaning.of)
    return meaning if isinstance(meaning, CompositeCall) else None


def _results(original: CompositeCall, xs: Tensors) -> Tensors:
    """The results of the operation, with their axes permuted to the order in which the function returns them."""
    slots, rest = original.signature.arguments, iter(xs)
    values = [_value(slot, form, rest) for slot, form in zip(slots, original.form, strict=True)]
    results = original.signature.op(
        *(v for s, v in zip(slots, values, strict=True) if not s.keyword),
        **{s.name: v for s, v in zip(slots, values, strict=True) if s.keyword},
    )
    results = results if isinstance(results, (tuple, list)) else (results,)
    memory = original.memory or (None,) * len(results)
    return [x if axes is None else x.permute(axes) for x, axes in zip(results, memory, strict=True)]


def _value(slot: Argument, form: Any, rest: Iterator[torch.Tensor]) -> Any:
    if form is None:
        return next(rest) if slot.kind in ("tensor", "tensors") else next(rest).item()
    return form.value if isinstance(form, StaticValue) else [_value(slot, f, rest) for f in form]


def _derivative(meaning: DerivativeOf, inputs: Tensors) -> Callable[..., Tensors]:
    original = meaning_of(meaning.split.function)

    def derivative(f: int, xs: Tensors) -> Tensors:
        leaves = [x.requires_grad_() if i in meaning.wanted else x for i, x in enumerate(inputs)]
        gradients = xs[-len(meaning.given) :]
        with _above_autograd(), torch.enable_grad():
            outputs = _results(original, leaves)
            results = torch.autograd.grad(
                [outputs[i] for i in meaning.given],
                [leaves[i] for i in meaning.wanted],
                gradients,
                allow_unused=True,
                materialize_grads=True,
            )
        return [x.contiguous() for x in results]  # like the results of a function of arrays

    return derivative


def _above_autograd() -> Any:
    """A context that re-enables autograd within a dispatch mode, which runs below it."""
    keys = excluded_keys()
    for key in _AUTOGRAD:
        keys = keys.remove(key)
    return ForceKeys(included_keys(), keys)


_AUTOGRAD = [k for name, k in DispatchKey.__members__.items() if name in ("AutogradCPU", "ADInplaceOrView")]
