"""What torch keeps out of a derivative is kept out of JAX's: `detach`, `.data` and `torch.no_grad`.

JAX differentiates arrays, and a detached tensor has the array of the tensor that it was made of. In a pure run it gets
a cell of its own that shows that array as a constant, and writes through to it. What is computed without grad mode is a
constant too; a write without grad mode changes the value of a tensor and not its derivative, as in torch. Price: a
torch function mode while a pure function is traced, and a detached tensor has a storage of its own there.
"""

from __future__ import annotations

from typing import Any

import jax
import torch
from torch.utils._device import _device_constructors

from tenax.kernels.graft import graft

from ..device import engine
from ..device.backend import NAME
from ..device.cell import Cell, Kind, cell_of, new_tensor
from ..dtypes import torch_dtype
from .index import Indexing, unwrapped
from .trace import Trace

_as_strided = torch.ops.aten.as_strided.default._op_dk
_META = torch._C.DispatchKey.Meta
_functorch = torch._C._functorch
_DETACHING = {torch.Tensor.detach, torch.detach, torch.Tensor.data.__get__}  # type: ignore[attr-defined]


def constant(held: Any) -> Any:
    """What a cell holds, without a derivative."""
    return jax.lax.stop_gradient(held) if isinstance(held, jax.core.Tracer) else held


def grafted(new: Any, old: Any) -> Any:
    """The value of `new` with the derivative of `old`, where there is an `old` of the kind."""
    both = isinstance(new, jax.Array) and isinstance(old, jax.Array)
    if not both or not any(isinstance(a, jax.core.Tracer) for a in (new, old)):
        return constant(new)
    return graft(new, old) if (new.shape, new.dtype) == (old.shape, old.dtype) else constant(new)


def _quiet() -> bool:
    """Whether the program asked for no derivative; torch's engine works without grad mode as well."""
    return not torch.is_grad_enabled() and not engine.running()


class Pure(Trace):
    """The trace of a pure function: what it reads from outside is a constant, and it writes nothing there."""

    def __init__(self, draw: Any) -> None:
        super().__init__(lifts=False, draw=draw)

    def stored(self, state: dict[str, Any], name: str, value: Any) -> Any:
        """What a cell is to hold."""
        if name == "value":
            return value if value is None else state["held"]
        return grafted(value, state.get("held")) if _quiet() else value


class Apart(Cell):
    """The cell of a detached tensor: the array of another cell, as a constant."""

    def __init__(self, base: Cell) -> None:
        self.base = base
        if base.index:
            self.index = base.index

    @property
    def held(self) -> Any:
        """The array of the other cell."""
        return constant(self.base.held)

    @held.setter
    def held(self, array: Any) -> None:
        self.base.held = grafted(array, self.base.held)

    @property
    def value(self) -> Any:
        """The same, where the fast path applies."""
        return constant(self.base.value)

    @value.setter
    def value(self, array: Any) -> None:
        held: Any = self.base.held
        self.base.value = None if array is None else held

    @property
    def kind(self) -> Kind:
        """Its shape and dtype."""
        return self.base.kind

    @kind.setter
    def kind(self, kind: Kind) -> None:
        self.base.kind = kind


def apart(tensor: Any) -> Any:
    """A tensor of the same elements, of which JAX takes no derivative; anything else as it is.

    Raises:
        NotImplementedError: its storage is seen through several dtypes.
    """
    if not isinstance(tensor, torch.Tensor) or not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    if (level := _functorch.maybe_get_level(tensor)) > 0:
        inner = apart(_functorch.get_unwrapped(tensor))
        if _functorch.is_batchedtensor(tensor):
            return _functorch._add_batch_dim(inner, _functorch.maybe_get_bdim(tensor), level)
        return _functorch._wrap_for_grad(inner, level)
    if tensor.device.type != "jax" or tensor.layout is not torch.strided:
        return tensor
    if tensor.is_conj():
        return apart(tensor.conj()).conj()
    if tensor.is_neg():
        return torch._neg_view(apart(torch._neg_view(tensor)))
    cell = cell_of(tensor)
    if isinstance(cell, Apart) or not isinstance(cell.held, jax.core.Tracer):
        return tensor
    if cell.mixed:
        raise NotImplementedError(
            f"detach: of a {tensor.dtype} tensor whose storage is seen through several dtypes, in a function that JAX "
            "traces; expected a copy of it: x.clone().detach()"
        )
    whole = new_tensor(Apart(cell), cell.shape, torch_dtype(cell.dtype))
    return _as_strided(_META, whole, tensor.size(), tensor.stride(), tensor.storage_offset())


class Detaching(Indexing):
    """Sets apart what is detached, and the views that are made without grad mode.

    What is made is made on the device: the function may be written for the CPU.
    """

    def __init__(self) -> None:
        super().__init__()
        self.makers = _device_constructors()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function."""
        kwargs = kwargs or {}
        if func in self.makers and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": NAME}
        result = super().__torch_function__(func, types, args, kwargs)
        if func in _DETACHING:
            return apart(result)
        if func is torch.Tensor.detach_:
            cell = cell_of(result)
            cell.replace(constant(cell.held))
        elif args and isinstance(args[0], torch.Tensor) and _quiet():
            return _without_views(result, args[0])
        return result


def _without_views(result: Any, source: torch.Tensor) -> Any:
    """The result of a function without grad mode, its views of `source` set apart."""
    if isinstance(result, (list, tuple)) and any(isinstance(r, torch.Tensor) for r in result):
        parts = [_without_views(r, source) for r in result]
        return parts if isinstance(result, list) else type(result)(parts)
    if not isinstance(result, torch.Tensor) or result is source or result.device.type != "jax":
        return result
    shares = _storage(result) is _storage(source)
    return apart(result) if shares else result


def _storage(tensor: torch.Tensor) -> Any:
    tensor = unwrapped(tensor)
    return tensor.untyped_storage() if tensor.layout is torch.strided else tensor
