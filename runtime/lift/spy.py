"""Host tensors in a traced run: each call of the program passes what they hold then.

What a run uploads of an argument, or of a tensor that it reaches, becomes an input. What it computes of an argument on
the host, or writes to it, would be the same in every call, and raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import jax
import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from ..device import convert
from ..errors import TraceError
from ..tracing.trace import Trace, alias, at_line


@dataclass(frozen=True, slots=True)
class Upload:
    """What each call puts on the device: a view of a host tensor, or of an argument, converted and broadcast."""

    leaf: torch.Tensor | int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    index: int | None
    dtype: torch.dtype
    shape: tuple[int, ...]

    def array(self, leaves: Sequence[Any]) -> jax.Array:
        """The array of a call with these arguments."""
        tensor = leaves[self.leaf] if isinstance(self.leaf, int) else self.leaf
        view = tensor.detach().as_strided(self.size, self.stride, self.offset)
        return convert.upload(view, self.index, self.dtype, self.shape)


class Spy:
    """What a run does with host tensors."""

    def __init__(self, trace: Trace, leaves: Sequence[Any], reached: Sequence[torch.Tensor]) -> None:
        self.trace = trace
        self.uploads: list[Upload] = []
        self.known: list[jax.Array] = []
        self.arguments = {_storage(x): i for i, x in enumerate(leaves) if _is_host(x)}
        self.reached = [t for t in reached if _is_host(t)]
        self.versions = [t._version for t in self.reached]
        self.owners: dict[int, torch.Tensor | int] = {_storage(t): t for t in self.reached} | self.arguments
        self.derived: dict[int, torch.Tensor] = {}  # computed of arguments, by storage

    @contextmanager
    def attached(self) -> Iterator[None]:
        """While the function is traced."""
        before = convert.uploading.take
        convert.uploading.take = self._take
        try:
            with _Mode(self) if self.arguments else nullcontext():
                yield
        finally:
            convert.uploading.take = before
        for tensor, version in zip(self.reached, self.versions, strict=True):
            if tensor._version != version:
                raise TraceError(
                    f"a tensor on the CPU of shape {list(tensor.shape)} is written within a compiled function, which a "
                    "call of the compiled program would not do again: keep it on device jax"
                )

    def refuse(self, tensor: torch.Tensor) -> None:
        """Raise where a tensor that later calls would give again is computed of an argument on the CPU."""
        if _is_host(tensor) and (_storage(tensor) in self.arguments or _storage(tensor) in self.derived):
            raise TraceError(
                "a compiled function gives or keeps a tensor that was computed on the CPU from an argument: in later "
                "calls it would hold the same values. Move the argument to the device first, or compute it outside"
            )

    def _take(self, tensor: torch.Tensor, make: Callable[[], jax.Array], *target: Any) -> jax.Array:
        """The array of an upload: an input where the tensor is one, else a constant."""
        place = _storage(tensor)
        if place in self.derived:
            raise TraceError(
                f"a tensor that was computed on the CPU from an argument is moved to the device{at_line()}: in later "
                "calls it would hold the same values. Move the argument first, or compute it outside"
            )
        with jax.ensure_compile_time_eval():
            array = make()
        leaf = self.owners.get(place)
        if leaf is None:
            return array
        geometry = tuple(tensor.size()), tensor.stride(), int(tensor.storage_offset())
        self.uploads.append(Upload(leaf, *geometry, *target))
        known = alias(array)
        self.known.append(known)
        self.trace.aliases.add(id(known))
        return known


class _Mode(TorchDispatchMode):
    """Notes what is computed of host arguments."""

    def __init__(self, spy: Spy) -> None:
        super().__init__()
        self.spy = spy

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        spy = self.spy
        given = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        sources = [x for x in given if _is_host(x) and (_storage(x) in spy.arguments or _storage(x) in spy.derived)]
        if not sources:
            return result
        if func is torch.ops.aten._local_scalar_dense.default:
            raise TraceError(
                f"the value of an argument on the CPU is read{at_line()}: it would be the same in later calls. Pass it "
                "as a Python number, or move it to device jax"
            )
        written = {a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
        for argument, value in zip(func._schema.arguments, args, strict=False):
            if argument.name in written and _is_host(value) and _storage(value) in spy.arguments:
                raise TraceError(f"an argument on the CPU is written{at_line()}: later calls would not write it")
        for x in pytree.tree_leaves(result):
            if _is_host(x) and _storage(x) not in spy.owners:
                spy.derived[_storage(x)] = x
        return result


def _is_host(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cpu" and value.layout is torch.strided


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
