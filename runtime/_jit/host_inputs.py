"""Host tensors as inputs: each call of a compiled step uploads their current values.

An upload of an argument, or of a reached tensor, becomes an input. Computing from an argument on the host, or writing
to one, raises, because the compiled program would not repeat it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import jax
import torch

from .._torch import NAME, pytree
from .._torch.modes import TorchDispatchMode
from .._torch.operators import ITEM
from ..errors import TraceError
from ..storage.spec import TensorSpec
from ..trace import transfer
from ..trace.core import alias_array, user_line
from ..trace.tracing import Trace
from .sources import TensorSource, tensor_at


@dataclass(frozen=True, slots=True)
class HostInput:
    """What each call puts on the device: a view of a host tensor, converted and broadcast."""

    tensor: TensorSource
    view: TensorSpec
    index: int | None
    dtype: torch.dtype
    shape: tuple[int, ...]

    def array(self, arguments: Sequence[Any]) -> jax.Array:
        """Upload the tensor for a call with these arguments."""
        return transfer.upload(self.view.on(tensor_at(self.tensor, arguments)), self.index, self.dtype, self.shape)


class HostTensorRecorder(TorchDispatchMode):
    """Records the uploads of a traced run, and refuses host operations that its program would not repeat: as a mode, it
    tracks the tensors that are computed from host arguments."""

    def __init__(self, trace: Trace, arguments: Sequence[Any], reached: Sequence[torch.Tensor]) -> None:
        """`reached` are the tensors that the function reaches besides its arguments."""
        super().__init__()
        self.trace = trace
        self.uploads: list[HostInput] = []
        self.placeholders: list[jax.Array] = []  # one for each upload
        self.arguments: dict[int, TensorSource] = {_storage(x): i for i, x in enumerate(arguments) if _is_host(x)}
        self.reached = tuple(t for t in reached if _is_host(t))
        self.derived: dict[int, torch.Tensor] = {}  # tensors computed from arguments, by storage
        self.sources: dict[int, TensorSource] = {**{_storage(t): t for t in self.reached}, **self.arguments}

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Record while the function is traced.

        Raises:
            TraceError: the function writes a tensor that it reaches.
        """
        before = transfer.uploading.take
        versions = [t._version for t in self.reached]
        transfer.uploading.take = self._upload
        try:
            with self if self.arguments else nullcontext():
                yield
        finally:
            transfer.uploading.take = before
        for tensor, version in zip(self.reached, versions, strict=True):
            if tensor._version != version:
                raise TraceError(
                    f"a tensor on the CPU of shape {list(tensor.shape)} is written within a compiled function, which a "
                    "call of the compiled program would not do again: keep it on the device"
                )

    def is_derived(self, tensor: Any) -> bool:
        """Whether a value is a host tensor that the run computed from an argument."""
        return _is_host(tensor) and _storage(tensor) in self.derived

    def is_argument(self, tensor: Any) -> bool:
        """Whether a value is a host tensor on the storage of an argument."""
        return _is_host(tensor) and _storage(tensor) in self.arguments

    def refuse(self, tensor: torch.Tensor) -> None:
        """Check a host tensor that every call would return or keep.

        Raises:
            TraceError: it depends on an argument, so it would have to differ from call to call.
        """
        if self.is_argument(tensor) or self.is_derived(tensor):
            raise TraceError(
                "a compiled function returns or stores a tensor that was computed on the CPU from an argument: in "
                "later calls it would hold the same values. Move the argument, and the module that computes, to the "
                f'device first: .to("{NAME}"), or compute it outside'
            )

    def _upload(self, tensor: torch.Tensor, make: Callable[[], jax.Array], *target: Any) -> jax.Array:
        """The array of an upload: an input if the tensor is an argument or reached, else a constant."""
        if self.is_derived(tensor):
            raise TraceError(
                f"a tensor that was computed on the CPU from an argument is moved to the device{user_line()}: in later "
                "calls it would hold the same values. Move the argument first, compute it outside, or pass a list of "
                "numbers instead of a tensor (lengths.tolist())"
            )
        with jax.ensure_compile_time_eval():
            array = make()
        source = self.sources.get(_storage(tensor))
        if source is None:
            return array
        self.uploads.append(HostInput(source, TensorSpec.of(tensor), *target))
        placeholder = alias_array(array)
        self.placeholders.append(placeholder)
        self.trace.aliases.add(id(placeholder))
        return placeholder

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        operands = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        if not any(self.is_argument(x) or self.is_derived(x) for x in operands):
            return result
        if func is ITEM:
            raise TraceError(
                f"the value of an argument on the CPU is read{user_line()}: it would be the same in later calls. Pass "
                "it as a Python number, or move it to the device"
            )
        written = {a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
        for argument, value in zip(func._schema.arguments, args, strict=False):
            if argument.name in written and self.is_argument(value):
                raise TraceError(f"an argument on the CPU is written{user_line()}: later calls would not write it")
        for x in pytree.tree_leaves(result):
            if _is_host(x) and _storage(x) not in self.sources:
                self.derived[_storage(x)] = x
        return result


def _is_host(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cpu" and value.layout is torch.strided


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
