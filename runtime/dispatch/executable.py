"""The executable of one signature: how it is built, and how its results become tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import torch
from torch.utils import _pytree as pytree

from ..device.cell import Cell, Kind, kind_of, new_tensor
from ..dtypes import numpy_dtype, torch_dtype
from .meta import NO_SUCH_DIM, SHARED, WRONG_DTYPE, Output, corrected, describe, infer, refuse
from .overlap import refuse_expanded
from .products import matrices_first
from .program import in_memory, program
from .taken import refuse_dtypes

if TYPE_CHECKING:
    from .overload import Call, Overload

_META = torch._C.DispatchKey.Meta
_restride = torch.ops.aten.as_strided.default._op_dk


class Executable:
    """A compiled signature, and how its results become tensors."""

    __slots__ = (
        "check",
        "count",
        "donate",
        "donating",
        "kept",
        "order",
        "outputs",
        "resize",
        "run",
        "single",
        "unwrap",
    )

    def __init__(
        self, run: Callable[..., Any], donate: tuple[int, ...], outputs: Any, order: tuple[int, ...], kept: set[int]
    ) -> None:
        self.run = run
        self.donate = donate
        self.kept = kept
        self.donating: Callable[..., Any] | None = None
        self.unwrap = outputs  # the tree of results, Output at its leaves
        self.check: Callable[..., Any] | None = None
        self.resize: list[Output] = []
        self.order = order
        self.outputs: list[Output] = list(_leaves(outputs))
        self.count = len(self.outputs)
        # (size, dtype, kind) when the only result is contiguous and not empty: dispatch makes its tensor on the spot.
        self.single: tuple[tuple[int, ...], torch.dtype, Kind] | None = None
        if isinstance(outputs, Output) and outputs.stride is None and 0 not in outputs.size:
            self.single = (outputs.size, outputs.dtype, kind_of(outputs.size, numpy_dtype(outputs.dtype)))

    def donate_to(self, operands: Sequence[Any]) -> Any:
        """Run, reusing the written arrays."""
        if self.donating is None:
            jax.eval_shape(self.run, *operands)  # fills `kept`: what no result replaces must stay alive
            positions = tuple(p for p in self.donate if p not in self.kept)
            self.donating = jax.jit(self.run.__wrapped__, donate_argnums=positions)  # type: ignore[attr-defined]
        return self.donating(*operands)

    def bound(self, starts: Sequence[jax.Array]) -> Executable | Bound:
        """The executable with the starts of its views given, as the fast path wants it."""
        return Bound(self, starts) if starts else self

    def finish(self, arrays: Sequence[Any], index: int) -> Any:
        """The results as tensors."""
        return _tensors(self.unwrap, iter(arrays), index)


class Bound:
    """An executable whose views lie where they lay when it was bound."""

    __slots__ = ("finish", "run", "single")

    def __init__(self, executable: Executable, starts: Sequence[jax.Array]) -> None:
        run = executable.run
        self.run = lambda *operands: run(*operands, *starts)
        self.single = executable.single
        self.finish = executable.finish


def _tensors(tree: Any, arrays: Iterator[jax.Array], index: int) -> Any:
    # A function of the module: a closure that calls itself is a cycle, and would hold the arrays until a collection.
    if isinstance(tree, Output):
        return _tensor(next(arrays), tree, index)
    if isinstance(tree, (list, tuple)):
        return type(tree)([_tensors(t, arrays, index) for t in tree])
    return tree


def _never(*operands: Any) -> Any:
    raise AssertionError("the arguments are resized before the call")


def _leaves(tree: Any) -> Any:
    if isinstance(tree, Output):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for branch in tree:
            yield from _leaves(branch)


def _tensor(array: jax.Array, output: Output, index: int) -> torch.Tensor:
    tensor = new_tensor(Cell(array, index), output.size, output.dtype)
    if output.stride is None:
        return tensor
    return _restride(_META, tensor, output.size, output.stride, 0)


def laid_out(array: jax.Array, output: Output, index: int) -> torch.Tensor:
    """A new tensor of an array, with the strides of `output`."""
    return _tensor(array if output.stride is None else in_memory(array, output), output, index)


def build(overload: Overload, values: list[Any], call: Call) -> Executable:
    """Trace a new signature.

    Raises:
        Whatever torch's Meta kernel raises for the arguments; RuntimeError when the lowering disagrees with it.
    """
    row = overload.row
    refuse_expanded(overload, call.written)
    if call.written and len(call.key) > 4:
        refuse(overload.op, overload.names, values, overload.positional, SHARED)
    first = values[0] if values else None
    if "dim" in overload.names and isinstance(first, torch.Tensor) and (0 in first.shape or not first.dim()):
        refuse(overload.op, overload.names, values, overload.positional, NO_SUCH_DIM)  # many Meta kernels do not
    dtypes = {t.dtype for t in pytree.tree_leaves(values) if isinstance(t, torch.Tensor)}
    if any(dtypes >= pair for pair in _PRECISIONS):
        refuse(overload.op, overload.names, values, overload.positional, WRONG_DTYPE)  # where a lowering would cast
    refuse_dtypes(overload, values)
    expected: Any = None
    resize: list[Output] = []
    known = overload.has_meta
    if known:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # resizing warns at every call, in Overload.resize_outs
                result = infer(overload.op, overload.names, values, overload.positional)
        except NotImplementedError as error:
            if "no fake impl or Meta kernel" not in str(error):
                raise
            known = False
    if known:
        if overload.fresh:
            expected = describe(result)
            if isinstance(result, tuple):
                expected = tuple(corrected(overload.packet, values, expected))
            elif isinstance(expected, Output):
                expected = corrected(overload.packet, values, [expected])[0]
        elif overload.outs:
            resize = describe(result if isinstance(result, (tuple, list)) else [result])
    if not known and (overload.fresh or overload.outs):
        with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
            shapes = jax.eval_shape(program(overload, values, call, "free")[0], *call.operands, *call.starts)
        if overload.outs:
            resize = [Output(tuple(s.shape), None, torch_dtype(s.dtype)) for s in shapes[: len(overload.outs)]]
        else:
            expected = overload.packed([Output(tuple(s.shape), None, torch_dtype(s.dtype)) for s in shapes])
            if expected.__class__ is tuple:  # an Output is a named one
                expected = tuple(corrected(overload.packet, values, list(expected)))
    if overload.outs:
        resize = [_without_overlap(o) for o in corrected(overload.packet, values, resize)]
        if any(tuple(values[i].shape) != o.size for i, o in zip(overload.outs, resize, strict=True)):
            stub = Executable(_never, (), None, (), set())
            stub.resize = resize
            return stub
    donate = tuple(p for p in call.positions if p >= 0)
    expected = _without_overlap(expected)
    run, check, kept = program(overload, values, call, expected)
    # The family whose products take weights: to look for products in every program would trace each of them twice.
    if row.module == "matmul" and jax.default_backend() == "cpu":
        run = matrices_first(run)
    executable = Executable(jax.jit(run), tuple(dict.fromkeys(donate)), expected, call.key[3], kept)
    if row.checks:
        executable.check = jax.jit(check)
    return executable


# Mixed, they are refused by the kernels that do not promote. Those of half precision are not asked: CUDA's take more.
_PRECISIONS = ({torch.float32, torch.float64}, {torch.complex64, torch.complex128})


def _without_overlap(tree: Any) -> Any:
    """Strides that put several elements in one place (an expanded result) become contiguous."""
    if isinstance(tree, Output):
        overlaps = tree.stride is not None and 0 in tree.stride
        return tree._replace(stride=None) if overlaps else tree
    if isinstance(tree, (list, tuple)):
        return type(tree)(_without_overlap(t) for t in tree)
    return tree
