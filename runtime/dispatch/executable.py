"""The executable of one signature: how it is built, and how its results become tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import starmap
from typing import Any

import jax
import torch

from .._torch import pytree
from .._torch.tensors import meta_as_strided
from ..dtypes import torch_dtype
from ..storage.access import memory_shape
from ..storage.avals import Aval, tensor_aval
from ..storage.cell import Cell, FreshCell
from ..storage.placement import no_jax_trace
from ..storage.spec import Ints, Operand, TensorSpec
from ..storage.tensors import new_tensor
from ..trace.async_errors import condition_error
from ..xla.program import program
from .dtype_support import check_dtypes
from .encode import EncodedCall
from .lowering_trace import trace_functions
from .overlap import writes_expanded
from .product_rewrite import REWRITES
from .shape_inference import (
    NO_SUCH_DIM,
    SHARED,
    WRONG_DTYPE,
    describe_results,
    infer_resized,
    infer_results,
    raise_matching_host_error,
)
from .signature import Signature
from .stored_key import stored_key


class Executable:
    """A compiled signature, and how its results become tensors."""

    __slots__ = (
        *("age", "check", "count", "donate", "donating", "instead", "joins", "kept", "order"),
        *("recorded", "resize", "results", "run", "single", "specs", "spread", "stored", "surround"),
    )

    def __init__(
        self,
        run: Callable[..., Any],
        donate: tuple[int, ...],
        results: Any,
        order: tuple[int, ...],
        kept: set[int],
        surround: Callable[..., Any] | None = None,
        spread: bool = False,
        joins: bool = False,
        stored: str | None = None,
    ) -> None:
        """`results` is the tree of results, a `TensorSpec` for each tensor. `surround` wraps the program. With `spread`
        the call is on a mesh, which a written tensor joins with `joins`. `stored` names it in the folder of programs.
        """
        self.run = run if surround is None else surround(run)
        self.surround, self.stored = surround, stored
        self.spread, self.joins = spread, joins
        self.donate = donate  # the positions of the written operands
        self.kept = kept  # those that stay as they are, known when `run` has been traced
        self.donating: Callable[..., Any] | None = None
        self.check: Callable[..., Any] | None = None
        self.recorded: Any = None  # what lazy mode makes of it
        self.resize: list[TensorSpec] = []  # of the `out=` tensors, which are resized in place of the call
        self.instead: Callable[..., Any] | None = None  # carries the call out: of an expanded tensor
        self.order = order
        self.specs: list[TensorSpec] = list(_leaves(results))
        self.count = len(self.specs)
        self.age = 0  # when dispatch last looked it up (`xla/memory.py`)
        self.results = _map_specs(lambda spec: NewResult(spec, spread), results)
        # (size, dtype, aval) when the only result is contiguous and not empty: dispatch makes its tensor on the spot.
        self.single: tuple[Ints, torch.dtype, Aval] | None = None
        if isinstance(results, TensorSpec) and results.is_contiguous() and 0 not in results.size and not spread:
            self.single = (results.size, results.dtype, self.results.aval)

    def shapes(self, operands: Sequence[Any]) -> Any:
        """What a call would give, found by a trace."""
        return jax.eval_shape(lambda *operands: self.run(*operands), *operands)

    def donate_to(self, operands: Sequence[Any], results: list[Any]) -> None:
        """Run, reusing the written arrays, and append the results to a list, with nothing between."""
        results.extend(starmap(self.donor(operands), (operands,)))

    def donor(self, operands: Sequence[Any]) -> Callable[..., Any]:
        """What runs it with the written arrays reused; `operands` are those of the first call."""
        if self.donating is None:
            self.shapes(operands)  # fills `kept`: what no result replaces must stay alive
            positions = tuple(p for p in self.donate if p not in self.kept)
            function: Callable[..., Any] = self.run.__wrapped__  # type: ignore[union-attr]
            if self.surround is None:
                self.donating = program(function, self.stored, positions)
            else:
                self.donating = self.surround(jax.jit(function, donate_argnums=positions))
        return self.donating

    def bound(self, starts: Sequence[jax.Array]) -> Executable | BoundExecutable:
        """The executable with the starts of its views given, as the fast path wants it."""
        return BoundExecutable(self, starts) if starts else self

    def finish(self, arrays: Sequence[Any], index: int, fresh: Any = FreshCell) -> Any:
        """The results as tensors, on cells that `fresh` makes."""
        return _tensors(self.results, iter(arrays), index, fresh)


class BoundExecutable:
    """An executable for views that start at known places."""

    __slots__ = ("finish", "run", "single")

    def __init__(self, executable: Executable, starts: Sequence[jax.Array]) -> None:
        run = executable.run
        self.run = lambda *operands: run(*operands, *starts)
        self.single = executable.single
        self.finish = executable.finish


class NewResult:
    """A result of an executable: the tensor of `spec` on a storage of its own."""

    __slots__ = ("aval", "spec", "spread", "strided")

    def __init__(self, spec: TensorSpec, spread: bool) -> None:
        self.spec, self.spread = spec, spread
        self.aval = tensor_aval(memory_shape(spec), spec.dtype)  # of the array, whose axes are in the order of memory
        self.strided = not spec.is_contiguous()

    def tensor(self, array: jax.Array, index: int, fresh: Any = FreshCell) -> torch.Tensor:
        """The tensor of one call."""
        spec = self.spec
        cell = Cell(array, index) if index or self.spread else fresh(array, self.aval)
        tensor = new_tensor(cell, spec.size, spec.dtype)
        return meta_as_strided(tensor, spec.size, spec.stride, 0) if self.strided else tensor


def _tensors(tree: Any, arrays: Iterator[jax.Array], index: int, fresh: Any) -> Any:
    # A function of the module: a closure that calls itself is a cycle, and would hold the arrays until a collection.
    if tree.__class__ is NewResult:
        return tree.tensor(next(arrays), index, fresh)
    if isinstance(tree, (list, tuple)):
        return type(tree)([_tensors(t, arrays, index, fresh) for t in tree])
    return tree


def _map_specs(function: Callable[[TensorSpec], Any], tree: Any) -> Any:
    """The tree with the function applied to each spec."""
    if isinstance(tree, TensorSpec):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)([_map_specs(function, t) for t in tree])
    return tree


def _leaves(tree: Any) -> Iterator[TensorSpec]:
    if isinstance(tree, TensorSpec):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for branch in tree:
            yield from _leaves(branch)


def is_on_mesh(call: EncodedCall) -> bool:
    """Whether an argument lies on several devices."""
    operands = [p for part in call.parts for p in (part if part.__class__ is tuple else (part,))]
    return any(p.__class__ is Operand and p.base.sharding is not None for p in operands)


def _never(*operands: Any) -> Any:
    raise AssertionError("another call takes the place of this one")


def build_executable(signature: Signature, values: list[Any], call: EncodedCall) -> Executable:
    """Trace a new signature.

    Raises:
        Whatever torch's Meta kernel raises for the arguments; RuntimeError when the lowering disagrees with it.
    """
    row = signature.row
    expanded = writes_expanded(signature, call.written)
    if expanded and not signature.outs:
        return _rewritten(signature)
    if call.written and len(call.key) > 4:
        raise_matching_host_error(signature, values, SHARED)
    first = values[0] if values else None
    if "dim" in signature.names and isinstance(first, torch.Tensor) and (0 in first.shape or not first.dim()):
        raise_matching_host_error(signature, values, NO_SUCH_DIM)  # many Meta kernels do not
    dtypes = {t.dtype for t in pytree.tree_leaves(values) if isinstance(t, torch.Tensor)}
    if any(dtypes >= pair for pair in _PRECISIONS):
        raise_matching_host_error(signature, values, WRONG_DTYPE)  # where a lowering would cast
    check_dtypes(signature, values)
    expected: Any = None
    resize: list[TensorSpec] = []
    known = signature.has_meta
    if known:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # resizing warns at every call, in out_arguments.resize_outs
                result = infer_results(signature, values)
        except NotImplementedError as error:
            if "no fake impl or Meta kernel" not in str(error):
                raise
            known = False
    if known:
        if signature.fresh:
            expected = describe_results(result)
            if isinstance(result, tuple):
                expected = tuple(signature.corrected(values, expected))
            elif isinstance(expected, TensorSpec):
                expected = signature.corrected(values, [expected])[0]
        elif signature.outs:
            resize = describe_results(result if isinstance(result, (tuple, list)) else [result])
            if not signature.row.host_values and _any_resized(signature, values, resize):
                resize = infer_resized(signature, values, resize)
    if not known and (signature.fresh or signature.outs):
        with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
            shapes = jax.eval_shape(trace_functions(signature, values, call, "free")[0], *call.operands, *call.starts)
        if signature.outs:
            resize = [TensorSpec.contiguous(s.shape, torch_dtype(s.dtype)) for s in shapes[: len(signature.outs)]]
        else:
            expected = signature.packed([TensorSpec.contiguous(s.shape, torch_dtype(s.dtype)) for s in shapes])
            if expected.__class__ is tuple:  # a TensorSpec is a named one
                expected = tuple(signature.corrected(values, list(expected)))
    if signature.outs:
        resize = [_without_overlap(o) for o in signature.corrected(values, resize)]
        if _any_resized(signature, values, resize):
            if any(out is x for out in map(values.__getitem__, signature.outs) for x in _inputs(signature, values)):
                raise_matching_host_error(signature, values)  # the CPU kernel resizes no `out=` that it reads
            stub = Executable(_never, (), None, (), set())
            stub.resize = resize
            return stub
        if expanded:
            return _rewritten(signature)
    donate = tuple(p for p in call.positions if p >= 0)
    expected = _map_specs(_without_overlap, expected)
    run, check, kept = trace_functions(signature, values, call, expected)
    if row.rewrite:
        run = REWRITES[row.rewrite](run)
    order, donate = call.key[3], tuple(dict.fromkeys(donate))
    if is_on_mesh(call):
        from .mesh import check_devices, guarded  # for programs on a mesh alone

        check_devices(signature, call.parts)
        joins, surround = any(c.aval.sharding is None for c in call.cells), guarded(signature, call.parts)
        executable = Executable(jax.jit(run), donate, expected, order, kept, surround, True, joins)
    elif call.index:
        from .mesh import on_device

        executable = Executable(jax.jit(run), donate, expected, order, kept, on_device(call.index))
    else:
        stored = stored_key(signature, call, expected)
        executable = Executable(program(run, stored), donate, expected, order, kept, stored=stored)
    if row.checks:
        refuse_impossible(signature, values, call, check)
        executable.check = program(check, executable.stored and f"check of {executable.stored}")
    return executable


def refuse_impossible(
    signature: Signature, values: Sequence[Any], call: EncodedCall, check: Callable[..., Any]
) -> None:
    """Raise where no values satisfy a `check:`, in traces too: an index into an axis without elements.

    Shapes without elements alone decide checks, so others are not looked at.
    """
    operands = (*call.operands, *call.starts)
    flags: list[Any] = []
    if all(getattr(operand, "size", 1) for operand in operands):
        return
    jax.eval_shape(lambda *traced: flags.extend(check(*traced)), *operands)
    for flag, (kind, message) in zip(flags, signature.row.checks, strict=True):
        if flag is False:
            from .host_errors import raise_host_error

            raise_host_error(signature, values, blank=not no_jax_trace())
            raise condition_error(kind, message)


def _rewritten(signature: Signature) -> Executable:
    stub = Executable(_never, (), None, (), set())
    stub.instead = signature.rewrite_expanded(signature)
    return stub


def _inputs(signature: Signature, values: Sequence[Any]) -> list[Any]:
    return [value for i, value in enumerate(values) if i not in signature.outs]


def _any_resized(signature: Signature, values: Sequence[Any], outputs: Sequence[TensorSpec]) -> bool:
    return any(tuple(values[i].shape) != o.size for i, o in zip(signature.outs, outputs, strict=True))


# Mixed, they are refused by the kernels that do not promote. Those of half precision are not asked: CUDA's take more.
_PRECISIONS = ({torch.float32, torch.float64}, {torch.complex64, torch.complex128})


def _without_overlap(spec: TensorSpec) -> TensorSpec:
    """Strides that put several elements in one place (an expanded result) become contiguous."""
    return spec.resized(spec.size) if 0 in spec.stride else spec
