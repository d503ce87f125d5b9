"""The executable for one key: how it is built, and how its results become tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import starmap
from typing import Any

import jax
import torch

from .._torch.tensors import meta_as_strided
from ..storage.access import memory_shape
from ..storage.avals import Aval, tensor_aval
from ..storage.cell import Cell, FreshCell, PendingCell
from ..storage.spec import Ints, Operand, TensorSpec, leaves, map_specs
from ..storage.tensors import new_tensor
from ..xla import stored
from ..xla.calls import program, program_anywhere
from .encode import EncodedCall, stored_key
from .inference import infer
from .lowering_trace import trace_functions
from .operands import starts_are_fixed
from .overlap import writes_expanded
from .product_rewrite import rewritten_products
from .signature import Signature


class Executable:
    """A program compiled for one key, and the recipe that turns its results into tensors."""

    __slots__ = (
        *("age", "check", "checked", "count", "donate", "donating", "instead", "joins", "name", "order"),
        *("recorded", "resize", "results", "run", "several", "single", "specs", "spread", "surround", "__weakref__"),
    )

    def __init__(
        self,
        run: Callable[..., Any],
        donate: tuple[int, ...],
        results: Any,
        order: tuple[int, ...],
        surround: Callable[..., Any] | None = None,
        spread: bool = False,
        joins: bool = False,
        name: str | None = None,
    ) -> None:
        """`results` is the tree of results, with a `TensorSpec` for each tensor. `surround` wraps the program. `spread`
        means that the call is on a mesh, and `joins` that a written tensor moves to it. `name` is from `stored_key`.
        """
        self.run = run if surround is None else surround(run)
        self.surround, self.name = surround, name
        self.spread, self.joins = spread, joins
        self.donate = donate  # the positions of the operands that can be donated
        self.donating: Callable[..., Any] | None = None
        self.check: Callable[..., Any] | None = None
        self.checked: Callable[..., Any] | None = None  # returns the results, followed by the flags of the checks
        self.recorded: Any = None  # its operation in lazy mode
        self.resize: list[TensorSpec] = []  # to which `out=` tensors are resized before the call is repeated
        self.instead: Callable[..., Any] | None = None  # executes a call that writes to an expanded tensor
        self.order = order
        self.specs: list[TensorSpec] = list(leaves(results))
        self.count = len(self.specs)
        self.age = 0  # when dispatch last looked it up (`xla/memory.py`)
        self.results = map_specs(lambda spec: NewResult(spec, spread), results)
        # (size, dtype, aval) if the only result is contiguous and not empty: the fast path then creates its tensor.
        self.single: tuple[Ints, torch.dtype, Aval] | None = None
        if isinstance(results, TensorSpec) and results.is_contiguous() and 0 not in results.size and not spread:
            self.single = (results.size, results.dtype, self.results.aval)
        # The results if they are a list or tuple of tensors, as they nearly always are.
        several = self.results.__class__ in (list, tuple) and {type(r) for r in self.results} <= {NewResult}
        self.several: Sequence[NewResult] | None = self.results if several else None

    def donate_to(self, operands: Sequence[Any], results: list[Any]) -> None:
        """Run, donating the written arrays, and append the results to a list, with no Python code in between."""
        results.extend(starmap(self.donor(), (operands,)))

    def donor(self) -> Callable[..., Any]:
        """The program that donates the written arrays."""
        if self.donating is None:
            function: Callable[..., Any] = self.run.__wrapped__  # type: ignore[union-attr]
            if self.surround is None:
                self.donating = program(function, self.name, self.donate)
            else:
                self.donating = self.surround(program_anywhere(function, self.donate))
        return self.donating

    def bound(self, starts: Sequence[Any]) -> Executable | BoundExecutable:
        """The executable with its last operands bound, for the fast path."""
        return BoundExecutable(self, starts) if starts or self.checked is not None else self

    def finish(self, arrays: Sequence[Any], index: int, fresh: Any = FreshCell) -> Any:
        """The results as tensors, on cells created by `fresh`."""
        if self.several is not None:
            # The flags of checks may follow the results.
            made = [r.tensor(a, index, fresh) for r, a in zip(self.several, arrays, strict=False)]
            return made if self.results.__class__ is list else tuple(made)
        return _tensors(self.results, iter(arrays), index, fresh)


class BoundExecutable:
    """Executable with its last operands or checks bound; `run` returns None where `Dispatcher.call` should take over.

    The last operands are the key of a random operator, which draws nothing here, and where views start.
    """

    __slots__ = ("finish", "run", "single")

    def __init__(self, executable: Executable, starts: Sequence[Any]) -> None:
        if executable.checked is None:

            def run(*operands: Any) -> Any:  # looks up `executable.run`, which good code may have replaced
                return None if starts_are_fixed() else executable.run(*operands, *starts)
        else:
            from .value_checks import results_if_valid

            valid = results_if_valid(executable.checked, executable.count)

            def run(*operands: Any) -> Any:
                return None if starts and starts_are_fixed() else valid(*operands, *starts)

        self.run = run
        self.single = executable.single
        self.finish = executable.finish


class NewResult:
    """A result of an executable: a tensor with `spec` on a new storage."""

    __slots__ = ("aval", "spec", "spread", "strided")

    def __init__(self, spec: TensorSpec, spread: bool) -> None:
        self.spec, self.spread = spec, spread
        self.aval = tensor_aval(memory_shape(spec), spec.dtype)  # of the array, whose axes are in memory order
        self.strided = not spec.is_contiguous()

    def tensor(self, array: jax.Array, index: int, fresh: Any = FreshCell) -> torch.Tensor:
        """The tensor for the array of one call."""
        spec = self.spec
        known = fresh is PendingCell or not (index or self.spread)
        cell = fresh(array, self.aval) if known else Cell(array, index)
        tensor = new_tensor(cell, spec.size, spec.dtype)
        return meta_as_strided(tensor, spec.size, spec.stride, 0) if self.strided else tensor


def _tensors(tree: Any, arrays: Iterator[jax.Array], index: int, fresh: Any) -> Any:
    # Not a closure: one that calls itself is a reference cycle and would hold the arrays until garbage collection.
    if tree.__class__ is NewResult:
        return tree.tensor(next(arrays), index, fresh)
    if isinstance(tree, (list, tuple)):
        return type(tree)([_tensors(t, arrays, index, fresh) for t in tree])
    return tree


def is_on_mesh(call: EncodedCall) -> bool:
    """Whether an argument is on several devices."""
    operands = [p for part in call.parts for p in (part if part.__class__ is tuple else (part,))]
    return any(p.__class__ is Operand and p.base.sharding is not None for p in operands)


def _never(*operands: Any) -> Any:
    raise AssertionError("another call takes the place of this one")


def build_executable(signature: Signature, values: list[Any], call: EncodedCall) -> Executable:
    """Build the executable for a new key, which is traced when it is first called; raises what torch raises."""
    row = signature.row
    expanded = writes_expanded(signature, call.written)
    if expanded and not signature.outs:
        return _rewritten(signature, values)
    name = None if is_on_mesh(call) else stored_key(signature, call)
    expected, resize = stored.remembered(name, lambda: infer(signature, values, call))
    if resize:
        stub = Executable(_never, (), None, ())
        stub.resize = resize
        return stub
    if expanded:
        return _rewritten(signature, values)
    run, check = trace_functions(signature, values, call, expected)
    if row.module.endswith(".matmul"):  # not others, because the search traces twice
        run = rewritten_products(run)
    name = name and f"{name} {expected}"
    order, donate = call.key[3], _donated(signature, values, call)
    if is_on_mesh(call):
        from .mesh import check_devices, guarded  # only for programs on a mesh

        check_devices(signature, call.parts)
        joins, surround = any(c.aval.sharding is None for c in call.cells), guarded(signature, call.parts)
        executable = Executable(program_anywhere(run), donate, expected, order, surround, True, joins)
    elif call.index:
        from .mesh import on_device

        executable = Executable(program_anywhere(run), donate, expected, order, on_device(call.index))
    else:
        compiled: Any = program(run, name)
        executable = Executable(compiled, donate, expected, order, name=name)
        compiled.program.holder = weakref.ref(executable)
    if row.checks:
        from .value_checks import refuse_impossible, with_checks

        refuse_impossible(signature, values, call, check)
        executable.check = program(check, executable.name and f"check of {executable.name}")
        if executable.surround is None:
            executable.checked = program(with_checks(run, check), executable.name and f"checked {executable.name}")
    return executable


def _donated(signature: Signature, values: Sequence[Any], call: EncodedCall) -> tuple[int, ...]:
    """The positions of the operands that the program can donate."""
    written = [(slot.name, v) for slot, v in zip(signature.arguments, values, strict=True) if slot.written]
    names = [name for name, v in written for x in (v if isinstance(v, (list, tuple)) else [v]) if x is not None]
    others = signature.row.not_donated
    return tuple(dict.fromkeys(p for p, n in zip(call.positions, names, strict=True) if p >= 0 and n not in others))


def _rewritten(signature: Signature, values: list[Any]) -> Executable:
    stub = Executable(_never, (), None, ())
    stub.instead = signature.rewrite_expanded(signature, values)
    return stub
