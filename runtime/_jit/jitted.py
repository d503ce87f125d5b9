"""`tenax.jit`: functions, modules and whole training steps as single XLA programs."""

from __future__ import annotations

import functools
import logging
import re
import threading
import time
import types
import warnings
import weakref
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

import torch
from torch import (  # imported by name, because every call looks them up
    are_deterministic_algorithms_enabled,
    get_default_dtype,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
)

from .._torch import pytree
from .._torch.autograd import in_forward_mode, saved_tensors_hooks
from .._torch.dispatcher import is_any_autocast_enabled
from .._torch.functorch import current_level
from .._torch.modes import dispatch_mode_count, function_mode_count
from ..aten import overrides
from ..errors import TraceError
from ..float32_products import float32_products
from ..storage.cell import Cell
from ..storage.placement import no_jax_trace
from ..storage.tensors import NAME, cell_of, covers_array
from ..trace.core import current_trace
from ..tracebacks import shortened
from .call_description import CallDescription
from .checking import checked_call
from .compiled_step import CompiledStep
from .guards import runs_late
from .host_script import PassedNumbers, is_passable
from .lines import locate, name_of
from .optimizer_state import OptimizerStateInit, join_mesh, separate_unequal
from .outside_tensors import copy_of, is_part
from .placed import place, placing_results
from .sources import content_at, given_attributes, is_plain, plain_key
from .tracing import trace_step
from .visitors import reach_call
from .wrappers import is_distributed, is_wrapper

Match = tuple[CompiledStep, list[Cell]]  # a step and the cells of a call that it fits
_log = logging.getLogger("tenax.jit")
_tracing = threading.RLock()  # a trace changes and restores Python objects that other threads may see
_MODES = (
    *("grad mode", "inference mode", f"autocast of {NAME}", "autocast of cpu"),
    *("the default dtype", "the default device"),
    *("the precision of float32 products", "deterministic mode", "the set of overridden operators"),
)  # in the order of a key
_OF_CALLS = "calls", "programs", "history", "numbers", "described", "shared"  # attributes that the calls have made
_OTHER = "arguments of another structure, shape, dtype or value"
_REASONS = 3  # programs that a reason tells apart, the newest first
_MANY = 8  # traces of one function; a warning gives the reason at this count and each time it doubles


@dataclass(slots=True)
class Compilation:
    """One trace of a function: why it was needed, and how many seconds it took."""

    reason: str
    seconds: float
    program: int  # the number of its program, which may be one that an earlier trace made


@dataclass(repr=False)
class CompiledFunction:
    """A function that runs as XLA programs, one for each way of calling it."""

    function: Callable[..., Any]
    most: int = 64
    check: int = 0
    in_shardings: Any = None
    out_shardings: Any = None
    calls: int = 0
    programs: dict[Any, list[CompiledStep]] = field(default_factory=dict)
    history: list[Compilation] = field(default_factory=list)
    numbers: PassedNumbers = field(default_factory=PassedNumbers)
    described: CallDescription | None = None  # the call that was traced last
    shared: set[int] = field(default_factory=set)  # positions of arguments whose memory matters, not only their values

    def __repr__(self) -> str:
        count = len({step.forward for steps in self.programs.values() for step in steps})
        return f"<tenax.jit {self.name}: {count} program{'s' * (count != 1)}>"

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles have: the function and its settings, and no programs, which belong to the objects
        that this function reaches."""
        new = CompiledFunction(self.function)
        return {**vars(self), **{name: getattr(new, name) for name in _OF_CALLS}}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Raises:
            TraceError: the function needs a tensor's value, or does something on the host that no program can repeat.
        """
        if self.in_shardings is not None:
            place(args, self.in_shardings, "tenax.jit: in_shardings")
        # A dispatch mode must see each operation, and a torch.func transform differentiates or batches each one on
        # wrapped tensors. In both cases the function runs eagerly, as under torch.compile.
        if current_trace() is not None or not no_jax_trace() or dispatch_mode_count() or current_level() is not None:
            return self.function(*args, **kwargs)
        # The same goes for forward-mode AD, anomaly detection, and saved-tensor hooks, which see each saved tensor.
        if in_forward_mode() or is_anomaly_enabled() or saved_tensors_hooks(True) is not None:
            return self.function(*args, **kwargs)
        if self.check:
            self.calls += 1
            if self.calls % self.check == 0:
                return self._checked(args, kwargs)
        arguments, spec = (
            pytree.tree_flatten((args, kwargs)) if kwargs or any(map(_is_tree, args)) else ([*args], len(args))
        )
        parts: dict[int, torch.Tensor] = {}
        key = _key(arguments, spec, self.numbers.arguments, self.shared, parts)
        match: Match | str | None = self._find(arguments, key)
        if isinstance(match, str):
            try:
                match = self._trace(args, kwargs, arguments, key, parts)
            except Exception as error:
                if not parts:
                    if isinstance(error, TraceError):
                        locate(error, self.function)
                    raise shortened(error)  # noqa: B904 (the same one)
                self.shared |= parts.keys()  # what a copy has no memory for, the part itself may have
                match = None
        if match is None or (parts and self._shares(parts, *match)):
            return self(*args, **kwargs)
        step, cells = match
        return step.call(arguments, cells)

    def _shares(self, parts: dict[int, torch.Tensor], step: CompiledStep, cells: list[Cell]) -> bool:
        """Whether the memory of arguments that copies replaced matters to a step; if so, none replaces them again."""
        shared = step.sharing_arguments(parts, cells)
        self.shared |= shared
        return bool(shared)

    def _checked(self, args: Any, kwargs: Any) -> Any:
        """Call the function and compare the result with eager mode."""
        every, self.check = self.check, 0
        try:
            leaves = pytree.tree_leaves((args, kwargs))
            return checked_call(
                lambda: self(*args, **kwargs), lambda: self.function(*args, **kwargs), self.function, leaves, self.name
            )
        finally:
            self.check = every

    @property
    def name(self) -> str:
        """The function's name."""
        return name_of(self.function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind a compiled method, as functions do."""
        return self if instance is None else types.MethodType(self, instance)

    def _find(self, arguments: list[Any], key: Any) -> Match | str:
        """The compiled step that matches a call, with the cells of the call; or the reason why none does."""
        reasons: list[str] = []
        for step in self.programs.get(key, ()):
            cells = step.find(arguments)
            if isinstance(cells, list):
                return step, cells
            place = cells.partition(" was ")[0]
            reasons += [cells] if not any(reason.startswith(place) for reason in reasons) else []
        return "; for another program: ".join(reasons[:_REASONS]) or (_OTHER if self.programs else "its first call")

    def _trace(
        self, args: Any, kwargs: Any, arguments: list[Any], key: Any, parts: dict[int, torch.Tensor]
    ) -> Match | None:
        """Trace and compile a step for a call, unless another thread has just done so. The result is None if the memory
        of `parts`, which copies replace, matters."""
        with _tracing:
            match = self._find(arguments, key)
            if not isinstance(match, str):
                return match
            start = time.perf_counter()
            if parts:
                args, kwargs = pytree.tree_unflatten(arguments, pytree.tree_flatten((args, kwargs))[1])
            call = self.function, args, kwargs, dict(zip(_MODES, key[2], strict=True))
            described = CallDescription(*call, self.numbers.arguments)
            names = {f"argument {i}": name for i, name in enumerate(described.leaves)}  # guards know positions alone
            reason = re.sub(r"\bargument \d+", lambda found: names.get(found[0], found[0]), match)
            if match == _OTHER and self.described is not None:
                reason = described.difference(self.described) or _OTHER
            self.numbers.note_arguments(_key(arguments, key[1], range(len(arguments))), arguments)
            key = _key(arguments, key[1], self.numbers.arguments)
            earlier = [*self._drop_unreachable(), *self.programs.get(key, ())]
            step = self.compiled_step(args, kwargs, arguments, earlier)
            key = _key(arguments, key[1], self.numbers.arguments)
            cells = step.find(arguments)
            assert isinstance(cells, list)  # checked by the step's constructor
            if parts and self._shares(parts, step, cells):
                return None
            same = (other.number for other in earlier if other.forward is step.forward)
            step.number = next(same, 1 + max((made.program for made in self.history), default=0))
            self.described = CallDescription(*call, self.numbers.arguments)
            self._record(Compilation(reason, time.perf_counter() - start, step.number))
            programs = self.programs.setdefault(key, [])
            programs.insert(len(programs) if step.pinned else 0, step)  # programs for more calls come first
            self._drop_oldest()
        return step, cells

    def _record(self, compilation: Compilation) -> None:
        """Add to the history; warn when it grows long."""
        self.history.append(compilation)
        _log.info("%s: traced for %s", self.name, compilation.reason)
        count = len(self.history)
        if count >= _MANY and count & (count - 1) == 0:
            message = f"tenax.jit: {self.name} was traced {count} times, now for: {compilation.reason}"
            warnings.warn(message, stacklevel=4)

    def _drop_unreachable(self) -> list[CompiledStep]:
        """Drop the steps for objects among the arguments that are compared by structure now; return them."""
        by_structure = self.numbers.arguments
        keys = [key for key, steps in self.programs.items() if not by_structure.isdisjoint(steps[0].objects)]
        return [step for key in keys for step in self.programs.pop(key)]

    def _drop_oldest(self) -> None:
        """Drop the oldest steps beyond the maximum."""
        while sum(map(len, self.programs.values())) > self.most:
            oldest = next(iter(self.programs))
            self.programs[oldest].pop()
            if not self.programs[oldest]:
                del self.programs[oldest]

    def compiled_step(
        self, args: Any, kwargs: Any, arguments: list[Any], earlier: Sequence[CompiledStep]
    ) -> CompiledStep:
        """Trace the function for a call and compile the result."""
        for i, x in enumerate(arguments):
            if isinstance(x, torch.Tensor) and is_wrapper(x):
                way = "pass x.to_local()" if is_distributed(x) else "pass the tensors that it consists of"
                raise NotImplementedError(
                    f"tenax.jit: argument {i} is a {type(x).__name__}; expected plain tensors: {way}, and make it one "
                    "within the function"
                )
        state = reach_call(self.function, arguments)
        self.numbers.note_state(state)
        passed = self.numbers.among(arguments), self.numbers.within(state)
        if any(passed) and state.asks_types:
            self.numbers.hold_constant(*passed)
            passed = [], []
        function = self.function
        if self.out_shardings is not None:
            function = placing_results(function, self.out_shardings)
        if created := OptimizerStateInit(state):
            state.extend()
        try:
            step = trace_step(function, args, kwargs, arguments, state, self.numbers)
        except BaseException as error:
            created.remove_unused(())
            if any(passed) and isinstance(error, Exception):  # it may need the value of a number, such as a size
                integers = (
                    [i for i in passed[0] if type(arguments[i]) is int],
                    [source for source in passed[1] if type(content_at(source)) is int],
                )
                self.numbers.hold_constant(*(integers if any(integers) else passed))
                return self.compiled_step(args, kwargs, arguments, earlier)
            raise
        self.numbers.update(step.numbers)
        self.numbers.settle(passed, step.inputs.script.needed())
        if late := bool(passed[1] and runs_late(step)):
            self.numbers.hold_constant((), passed[1])
        # Trace a second time only if the run did not use optimizer state that was created ahead of it, changed a number
        # that was not yet an input, leaves user code in backward that may read number inputs, met a mesh that its state
        # was not on, or made equal state unequal.
        again = created.remove_unused(step.inputs.touched), late, join_mesh(step, arguments), separate_unequal(step)
        if step.numbers:
            return self.compiled_step(args, kwargs, arguments, earlier)
        if any(again):
            step = trace_step(function, args, kwargs, arguments, reach_call(self.function, arguments), self.numbers)
        compiled = CompiledStep(step, arguments, self.numbers.arguments, earlier)
        self.numbers.note_rebound(compiled.rebound_numbers)
        return compiled


# From Python 3.14 on, a wrapper has the `__annotate__` of its function alone; those of the class would be found first.
del CompiledFunction.__annotations__


def _is_tree(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) and not is_plain(value)


def _key(
    arguments: list[Any],
    spec: Any,
    passed: Container[int],
    shared: Container[int] = (),
    copied: dict[int, torch.Tensor] | None = None,
) -> Any:
    """The key by which compiled steps are looked up: the arguments and torch's modes. At the positions in `passed`
    numbers are inputs, and objects are compared by structure. With `copied`, copies replace parts of larger tensors
    among the arguments, except at the positions in `shared`, and `copied` gets the parts."""
    # After a computation the CPU caches are cold, and each call into torch costs ten times what a microbenchmark shows.
    storages: dict[int, int] = {}
    parts: list[Any] = []
    for i, leaf in enumerate(arguments):
        if isinstance(leaf, torch.Tensor):
            try:
                cell = leaf.untyped_storage().cell  # type: ignore[attr-defined]
            except (AttributeError, RuntimeError):
                parts.append((leaf.device, leaf.size(), _strides(leaf), leaf.dtype, leaf.requires_grad))
                continue
            whole = covers_array(leaf, cell)
            if not whole and copied is not None and i not in shared and is_part(leaf, cell):
                copy = copy_of(leaf, copied, arguments)
                copied[i], arguments[i] = leaf, copy
                leaf, cell, whole = copy, cell_of(copy), True
            if (first := storages.setdefault(id(cell), i)) != i:
                parts.append(next(j for j in range(first, i + 1) if arguments[j] is leaf))
            if leaf.__class__ is not torch.Tensor:
                parts.append(leaf.__class__)
            parts.append((cell.aval, first, leaf.requires_grad and 1 + leaf.is_leaf, cell.index))
            if not whole:
                bits = leaf.is_conj() + 2 * leaf.is_neg()
                parts.append((leaf.size(), leaf.stride(), leaf.storage_offset(), leaf.dtype, bits))
            if leaf.__dict__:
                named = given_attributes(leaf).items()
                parts.append(tuple((k, type(v), plain_key(v) if is_plain(v) else id(v)) for k, v in named))
        elif is_plain(leaf):
            parts.append((type(leaf), None if i in passed and is_passable(leaf) else plain_key(leaf)))
        else:
            parts.append((leaf.__class__, None if i in passed else id(leaf)))
    autocast: tuple[Any, ...] = False, False
    if is_any_autocast_enabled():
        autocast = tuple(torch.is_autocast_enabled(k) and torch.get_autocast_dtype(k) for k in (NAME, "cpu"))
    device = torch.get_default_device() if function_mode_count() else "cpu"  # a mode on that stack
    modes = (
        *(is_grad_enabled(), is_inference_mode_enabled(), *autocast, get_default_dtype(), device),
        *(float32_products.in_effect, are_deterministic_algorithms_enabled(), overrides.token),
    )
    return tuple(parts), spec, modes


def _strides(tensor: torch.Tensor) -> Any:
    dense = tensor.layout is torch.strided
    return (tensor.stride(), tensor.storage_offset()) if dense else (tensor.layout, id(tensor))


_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])


@overload
def jit(
    function: _Compiled, *, most: int = ..., check: int = ..., in_shardings: Any = ..., out_shardings: Any = ...
) -> _Compiled: ...


@overload
def jit(
    function: None = None, *, most: int = ..., check: int = ..., in_shardings: Any = ..., out_shardings: Any = ...
) -> Callable[[_Compiled], _Compiled]: ...


def jit(
    function: Any = None, *, most: int = 64, check: int = 0, in_shardings: Any = None, out_shardings: Any = None
) -> Any:
    """Compile a function, a method or a module: each way of calling it becomes one XLA program.

    Use it as a decorator (`@tenax.jit`) or as a function (`step = tenax.jit(step)`). For a module it returns a module
    of the same class that shares all state with the original. The function runs once to be traced; afterwards none of
    its Python code runs. Tensors that it reads from outside are inputs of the program, and those that it writes are
    outputs.

    Args:
        function: what to compile; it may train: `zero_grad`, `backward`, optimizer, scheduler and scaler steps.
        most: the maximum number of programs that are kept; the oldest is dropped first.
        check: n compares every n-th call with an eager call from the same state; True compares all, and 0 none. It is
            for debugging: side effects other than on tensors and Python state happen twice.
        in_shardings: the shardings of the positional arguments: a tree prefix of `jax.sharding.Sharding`. The tensors
            are moved there before the call. None leaves them where they are.
        out_shardings: the same for the results. None leaves the choice to XLA. State that the function writes keeps its
            sharding in any case.

    Raises:
        CheckError: when called with `check`, a result, a tensor or a gradient differs from eager mode.
    """
    if function is None:
        return functools.partial(jit, most=most, check=check, in_shardings=in_shardings, out_shardings=out_shardings)
    options = most, int(check), in_shardings, out_shardings
    if isinstance(function, torch.nn.Module):
        return _module(function, options)
    if not callable(function):
        raise TypeError(f"tenax.jit: got a {type(function).__name__}; expected a function or a module")
    return CompiledFunction(function, *options)


_classes: weakref.WeakKeyDictionary[type, type] = weakref.WeakKeyDictionary()


def _module(module: torch.nn.Module, options: tuple[Any, ...]) -> torch.nn.Module:
    """A module that shares the attributes of `module` and whose call is compiled, of a class of the same name."""
    plain = type(module)
    if issubclass(plain, JitModule):
        return module
    subclass = _classes.get(plain)
    if subclass is None:
        subclass = _classes[plain] = type(plain.__name__, (JitModule, plain), {"__module__": plain.__module__})
    other: torch.nn.Module = object.__new__(subclass)
    other.__dict__ = module.__dict__
    compiled = CompiledFunction(functools.partial(plain.__call__, module), *options)
    object.__setattr__(other, "_tenax_compiled", compiled)
    return other


class JitModule(torch.nn.Module):
    """A module whose call is compiled."""

    __slots__ = ("_tenax_compiled",)  # a slot, because `__dict__` is shared with the original
    _tenax_compiled: CompiledFunction

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module, hooks included."""
        return self._tenax_compiled(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copy or pickle the original; the copy compiles its own programs."""
        return jit, (self._tenax_compiled.function.args[0],)


def compiled_of(function: Any) -> CompiledFunction:
    """The compiled function behind a result of `jit`.

    Raises:
        TypeError: the function is not a result of `jit`.
    """
    if isinstance(function, types.MethodType):
        function = function.__func__
    compiled = function._tenax_compiled if isinstance(function, JitModule) else function
    if not isinstance(compiled, CompiledFunction):
        raise TypeError(f"expected what tenax.jit gave, got a {type(function).__name__}")
    return compiled
