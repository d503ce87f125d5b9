"""The cell: what a storage of the device owns, its current array."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax._src import core
from torch._C._dynamo.eval_frame import set_eval_frame

from ..dtypes import numpy_dtype, torch_dtype

_create = torch._C._acc.create_empty_tensor
_restride = torch.ops.aten.as_strided.default._op_dk
_META = torch._C.DispatchKey.Meta

MOST_AXES = 64  # of a NumPy array; a tensor of more is kept flat


class Kind:
    """Shape and dtype of an array. Interned, so that dispatch hashes and compares it by identity."""

    __slots__ = ("dtype", "nbytes", "operand", "shape", "stride", "zeros")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape = shape
        self.dtype = dtype
        self.stride = contiguous(shape)
        self.nbytes = math.prod(shape) * dtype.itemsize
        self.operand: Any = None  # how a tensor that is all of the array is passed: arguments.whole
        self.zeros = Fill(self)


_kinds: dict[tuple[tuple[int, ...], np.dtype], Kind] = {}


def kind_of(shape: tuple[int, ...], dtype: np.dtype) -> Kind:
    """The one `Kind` of a shape and dtype."""
    found = _kinds.get((shape, dtype))
    return found or _kinds.setdefault((shape, dtype), Kind(shape, dtype))


@lru_cache(maxsize=1 << 14)
def tensor_kind(size: tuple[int, ...], dtype: torch.dtype) -> Kind:
    """The kind of a contiguous tensor."""
    return kind_of(size, numpy_dtype(dtype))


def contiguous(size: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    stride, n = [], 1
    for extent in reversed(size):
        stride.append(n)
        n *= max(extent, 1)
    return tuple(reversed(stride))


class Fill(NamedTuple):
    """An array not yet made: every element is `value`. Creation then costs nothing, and neither does overwriting it."""

    kind: Kind
    value: bool | int | float | complex = 0


class Keeper(Protocol):
    """Who keeps the arrays of many cells, so as not to look at each of them."""

    def release(self) -> None:
        """Keep them no longer: an array has taken the place of another."""


class Writes:
    """How often an array took the place of another, and who wants to know."""

    def __init__(self) -> None:
        self.count = 0
        self.keepers: list[weakref.ref[Keeper]] = []

    def note(self) -> None:
        """Count one."""
        self.count += 1
        if self.keepers:
            self.release()

    def release(self) -> None:
        """Have nobody keep arrays."""
        keepers, self.keepers = self.keepers, []
        for reference in keepers:
            keeper = reference()
            if keeper is not None:
                keeper.release()


writes = Writes()


class Cell:
    """The current array of a storage, kept in its natural shape.

    `value` is that array where the fast path of dispatch applies and None elsewhere: when the array is not yet made,
    lies on a device other than the first, or is looked at through several dtypes. One test thus covers them all.
    """

    held: jax.Array | Fill
    value: jax.Array | None
    kind: Kind
    index = 0
    mixed = False

    def __init__(self, held: jax.Array | Fill, index: int = 0) -> None:
        self.held = held
        if held.__class__ is Fill:
            self.value = None
            self.kind = held.kind
        else:
            self.value = None if index else held  # type: ignore[assignment]
            self.kind = kind_of(held.shape, held.dtype)  # type: ignore[union-attr]
        if index:
            self.index = index

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.kind.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array; a tensor of another dtype is a bitcast view."""
        return self.kind.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the storage."""
        return self.kind.nbytes

    def lay(self, array: jax.Array, axes: tuple[int, ...]) -> None:
        """Hold an array with its axes in the order `axes`, as a program computes with it; see lift/layout.py."""
        state = self.__dict__
        if "owner" in state:  # a trace on another thread knows the cell by the array that it holds
            return
        state["laid"] = array, axes
        state.pop("held", None)
        state.pop("value", None)

    def laid_as(self, axes: tuple[int, ...]) -> jax.Array | None:
        """The array in this order of axes, if it is held so."""
        array, order = self.__dict__.get("laid", (None, None))
        return array if order == axes else None

    def put_back(self) -> None:
        """Hold the array in its own order again."""
        state = self.__dict__
        laid = state.get("laid")
        if laid is None:  # another thread was here first
            return
        writes.note()
        held = transposed(laid[0], inverse(laid[1]), self.index)
        state.update(held=held, value=None if self.index or self.mixed else held)
        state.pop("laid", None)

    def __getattr__(self, name: str) -> Any:
        """`held` and `value` of an array that is laid otherwise."""
        if name in ("held", "value"):
            self.put_back()
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None

    def read(self) -> jax.Array:
        """The array, made if it is not yet."""
        held = self.held
        if held.__class__ is Fill:
            held = materialise(held, self.index)
            if not isinstance(held, jax.core.Tracer):  # which is no write: a trace must not take it for one
                self.__dict__["held"] = held
                self.__dict__["value"] = None if self.index or self.mixed else held
        return held  # type: ignore[return-value]

    def write(self, array: jax.Array | Fill) -> None:
        """Replace the array."""
        self.replace(array)
        self.kind = array.kind if isinstance(array, Fill) else kind_of(array.shape, array.dtype)

    def replace(self, array: jax.Array | Fill) -> None:
        """Replace the array by one of the same shape and dtype."""
        state = self.__dict__
        if state.get("held").__class__ is not Fill:
            writes.note()
        self.held = array
        self.value = None if self.index or self.mixed or array.__class__ is Fill else array  # type: ignore[assignment]
        state.pop("laid", None)

    def mix(self) -> None:
        """Take the storage off the fast path: a tensor of another dtype shares it."""
        self.mixed = True
        self.value = None


class Result(Cell):
    """The cell of a fresh result on the first device, whose kind is known."""

    def __init__(self, array: jax.Array, kind: Kind) -> None:
        self.held = self.value = array
        self.kind = kind


def inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that undo a transposition."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def poison() -> None:
    """Make every cell raise: JAX does not survive a fork."""

    def lost(self: Cell, *value: Any) -> Any:
        raise RuntimeError(
            "Cannot re-initialize jax in forked subprocess. To use jax with multiprocessing, you must use the 'spawn' "
            "start method, or send tensors that were moved to the CPU"
        )

    for name in ("held", "value"):
        setattr(Cell, name, property(lost, lost))


def put(array: np.ndarray, index: int | None) -> jax.Array:
    """A host array on device `index`, of its own dtype: outside `enable_x64` JAX would make 64-bit data 32-bit.

    With None it is on JAX's default device and not committed to it: JAX moves it to the arrays that it meets.
    """
    device = None if index is None else jax.devices()[index]
    wide = array.dtype.itemsize >= 8 and array.dtype.name != "complex64"
    # Between its graphs torch compiles the frames of Python functions, also of JAX's, whose arguments it may not take.
    watching = set_eval_frame(None)
    try:
        with (
            jax.enable_x64(True) if wide else nullcontext(),
            nullcontext() if untraced() else jax.ensure_compile_time_eval(),
        ):
            return jax.device_put(array, device)
    finally:
        set_eval_frame(watching)


def passed(array: np.ndarray, index: int) -> jax.Array:
    """A host array as an argument of a program on device `index`; where that is JAX's default, one of several devices
    takes it too."""
    default = jax.config.jax_default_device  # type: ignore[attr-defined]
    return put(array, None if index == 0 and default is None else index)


def transposed(array: jax.Array, axes: tuple[int, ...], index: int) -> jax.Array:
    """A copy of an array with its axes in another order, by the host: it costs no compilation."""
    return put(np.array(np.asarray(array).transpose(axes), order="C"), index)


untraced = core.trace_state_clean  # whether JAX traces nothing on this thread


_SMALL = 1 << 16  # bytes


def materialise(fill: Fill, index: int) -> jax.Array:
    """Make the array of a `Fill` on device `index`. Arrays are immutable, so small ones are made once and shared."""
    kind = fill.kind
    if not untraced():
        value: Any = fill.value
        value = value.node.array.astype(kind.dtype) if hasattr(value, "node") else value  # a number of the trace
        return jax.lax.full(kind.shape, value, kind.dtype)
    if kind.nbytes <= _SMALL:
        return _constant(fill, repr(fill.value), index)
    return jnp.full(kind.shape, fill.value, kind.dtype, device=jax.devices()[index])


@lru_cache(maxsize=1024)
def _constant(fill: Fill, text: str, index: int) -> jax.Array:
    """`text` tells 0.0 from -0.0 and 1 from True, which compare equal."""
    return put(np.full(fill.kind.shape, fill.value, fill.kind.dtype), index)


def cell_of(tensor: torch.Tensor) -> Cell:
    """The cell behind a tensor of the device.

    Raises:
        RuntimeError: the tensor is not on device jax, or its storage was made by a road that gives it no cell.
    """
    try:
        return tensor.untyped_storage().cell  # type: ignore[attr-defined]
    except AttributeError:
        pass
    if tensor.device.type != "jax":
        raise RuntimeError(f"expected a tensor on device jax, got one on {tensor.device}")
    raise RuntimeError("this jax tensor has no storage: it was made outside tenax (by C++ code or a copied handle)")


def wrap(array: jax.Array, index: int = 0) -> torch.Tensor:
    """A new tensor that holds `array`, contiguous, of the same shape and dtype, on device `jax:index`."""
    return new_tensor(Cell(array, index), array.shape, torch_dtype(array.dtype))


def new_tensor(cell: Cell, size: Any, dtype: torch.dtype) -> torch.Tensor:
    """A new contiguous tensor of `size` and `dtype` on a cell."""
    if cell.index:
        from .ordinal import create  # ctypes, wanted only beyond the first device

        tensor = create(list(size), dtype, cell.index)
    else:
        tensor = _create(tuple(size), dtype)
    tensor.untyped_storage().cell = cell  # type: ignore[attr-defined]
    if 0 in size:  # an axis of no elements counts as one of one in torch's strides, not in what `_create` gives
        return _restride(_META, tensor, size, contiguous(size), 0)
    return tensor


def is_all(tensor: torch.Tensor, cell: Cell) -> bool:
    """Whether a tensor is all of its cell's array, as it lies: then it starts with it."""
    kind = cell.kind
    return (
        tensor.size() == kind.shape
        and tensor.stride() == kind.stride
        and not (cell.mixed or tensor.is_neg() or (kind.dtype.kind == "c" and tensor.is_conj()))
    )


def natural(size: Sequence[int]) -> tuple[int, ...]:
    """The shape of the array of a dense tensor."""
    return tuple(size) if len(size) <= MOST_AXES else (math.prod(size),)


def fill_tensor(size: Any, dtype: torch.dtype, value: bool | int | float | complex = 0, index: int = 0) -> torch.Tensor:
    """A new contiguous tensor whose elements are all `value`, made when first read."""
    kind = tensor_kind(natural(size), dtype)
    lazy = kind.zeros if value.__class__ is int and value == 0 else Fill(kind, value)
    return new_tensor(Cell(lazy, index), size, dtype)
