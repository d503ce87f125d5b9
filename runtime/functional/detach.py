"""Makes `detach`, `.data` and `torch.no_grad` stop JAX's derivative as they stop torch's.

JAX differentiates arrays, and a detached tensor shares its array with the original. So in a pure function it gets a
cell of its own, which presents the values of that array with a separate derivative: none, until it is written. Writes
go through to the array, and change only its values. Results computed without grad mode are constants too; a write
without grad mode changes a tensor's value but not its derivative, as in torch. The cost is a torch function mode while
a pure function is traced, and that a detached tensor has a storage of its own there.
"""

from __future__ import annotations

from typing import Any

import jax
import torch

from .._torch import functorch
from .._torch.functorch import unwrapped
from .._torch.modes import device_constructors
from ..aten.traced_gradients import IN_TRACES
from ..dtypes import torch_dtype
from ..kernels.graft import graft
from ..storage.avals import Aval, LazyFill
from ..storage.cell import Cell
from ..storage.ordinals import NAME
from ..storage.placement import materialise
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of, covers_array, new_tensor
from ..trace import autograd_engine
from ..trace.indexing import TracedIndexing
from ..trace.tracing import Trace
from ..trace.transfer import read

_DETACHING = {torch.Tensor.detach, torch.detach, torch.Tensor.data.__get__}  # type: ignore[attr-defined]

_SET_DATA = torch.Tensor.data.__set__  # type: ignore[attr-defined]


def without_derivative(content: Any) -> Any:
    """The content of a cell with its derivative stopped."""
    return jax.lax.stop_gradient(content) if isinstance(content, jax.core.Tracer) else content


def with_derivative_of(new: Any, old: Any) -> Any:
    """The value of `new` with the derivative of `old`, if `old` is an array of the same shape and dtype."""
    if isinstance(new, LazyFill) and isinstance(old, jax.core.Tracer):
        new = materialise(new, 0)
    both = isinstance(new, jax.Array) and isinstance(old, jax.Array)
    if not both or not any(isinstance(a, jax.core.Tracer) for a in (new, old)):
        return without_derivative(new)
    return graft(new, old) if (new.shape, new.dtype) == (old.shape, old.dtype) else without_derivative(new)


def _quiet() -> bool:
    """Whether the program itself turned grad mode off; that torch's engine also does so in backward does not count."""
    return not torch.is_grad_enabled() and not autograd_engine.in_backward()


class PureTrace(Trace):
    """The trace of a pure function: outside tensors are constants and must not be written."""

    def __init__(self, draw: Any) -> None:
        super().__init__(lifts=False, draw=draw)

    def stored(self, state: dict[str, Any], name: str, value: Any) -> Any:
        """The content that a cell stores."""
        if name == "array":
            return value if value is None else state["content"]
        return with_derivative_of(value, state.get("content")) if _quiet() else value


class DetachedCell(Cell):
    """The cell of a detached tensor: the values of another cell, with the derivative of what was written to it."""

    def __init__(self, base: Cell) -> None:
        self.base = base
        self.written: Any = None
        self.base_after: Any = None
        if base.index:
            self.index = base.index
        self.mixed = base.mixed

    @property
    def memory(self) -> Cell:
        """The cell that owns the array."""
        return self.base.memory

    @property
    def content(self) -> Any:
        """The array of the other cell."""
        content: Any = self.base.content
        if self.written is None:
            return without_derivative(content)
        return self.written if content is self.base_after else with_derivative_of(content, self.written)

    @content.setter
    def content(self, array: Any) -> None:
        written = with_derivative_of(array, self.content) if _quiet() else array
        self.base.content = with_derivative_of(array, self.base.content)
        self.written, self.base_after = written, self.base.content

    @property
    def array(self) -> Any:
        """The array for the fast path; None if the fast path does not apply."""
        content = None if self.mixed or self.base.array is None else self.content
        return None if content.__class__ is LazyFill else content

    @array.setter
    def array(self, array: Any) -> None:
        content: Any = self.base.content
        self.base.array = None if array is None else content

    @property
    def aval(self) -> Aval:
        """Shape and dtype of the array."""
        return self.base.aval

    @aval.setter
    def aval(self, aval: Aval) -> None:
        self.base.aval = aval


def detach(tensor: Any) -> Any:
    """A tensor with the same elements that JAX does not differentiate; other values are returned unchanged."""
    if not isinstance(tensor, torch.Tensor) or not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    if (level := functorch.level_of(tensor)) > 0:
        inner = detach(functorch.unwrap(tensor))
        if functorch.is_batched(tensor):
            return functorch.wrap_for_vmap(inner, functorch.batch_axis_of(tensor), level)
        return functorch.wrap_for_grad(inner, level)
    if tensor.device.type != NAME or tensor.layout is not torch.strided:
        return tensor
    cell = cell_of(tensor)
    whole = new_tensor(DetachedCell(cell), cell.shape, torch_dtype(cell.dtype))
    return TensorSpec.of(tensor).on(whole)


class DetachMode(TracedIndexing):
    """Gives detached tensors, and views made without grad mode, a cell of their own.

    Creation functions without a device create on "jax", because the function may be written for the CPU.
    """

    def __init__(self) -> None:
        super().__init__(IN_TRACES)
        self.makers = device_constructors()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a torch function."""
        kwargs = kwargs or {}
        if func in self.makers and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": NAME}
        if func == _SET_DATA:
            args = (args[0], _as_data_of(*args))
        result = super().__torch_function__(func, types, args, kwargs)
        if func in _DETACHING:
            return detach(result)
        if func is torch.Tensor.detach_:
            cell = cell_of(result)
            cell.replace(without_derivative(cell.content))
        elif args and isinstance(args[0], torch.Tensor) and _quiet():
            return _without_views(result, args[0])
        return result


def _as_data_of(tensor: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """The replacement of `source` in `tensor.data = source`: its memory, with the derivative of `tensor`.

    Raises:
        NotImplementedError: the source covers only a part of its memory, and the tensor has a derivative.
    """
    plain = all(t.device.type == NAME and t.layout is torch.strided for t in (tensor, source))
    if not plain or functorch.level_of(tensor) > 0 or functorch.level_of(source) > 0:
        return source
    data, old = detach(source), read(tensor)
    cell = cell_of(data)
    if (
        not isinstance(cell, DetachedCell)
        or not isinstance(old, jax.core.Tracer)
        or (old.shape, old.dtype) != (source.shape, cell.dtype)
    ):
        return data
    if not covers_array(source, cell):
        raise NotImplementedError(
            "tensor.data = a part of another tensor, in a function that JAX traces, for a tensor that has a "
            "derivative; expected a copy: tensor.data = part.clone()"
        )
    cell.written, cell.base_after = with_derivative_of(cell.content, old), cell.base.content
    return data


def _without_views(result: Any, source: torch.Tensor) -> Any:
    """The result of a function called without grad mode, with views of `source` detached."""
    if isinstance(result, (list, tuple)) and any(isinstance(r, torch.Tensor) for r in result):
        parts = [_without_views(r, source) for r in result]
        return parts if isinstance(result, list) else type(result)(parts)
    if not isinstance(result, torch.Tensor) or result is source or result.device.type != NAME:
        return result
    shares = _storage(result) is _storage(source)
    return detach(result) if shares and not isinstance(cell_of(unwrapped(result)), DetachedCell) else result


def _storage(tensor: torch.Tensor) -> Any:
    tensor = unwrapped(tensor)
    return tensor.untyped_storage() if tensor.layout is torch.strided else tensor
