"""`tenax.jit`: functions, modules and whole training steps as single XLA programs."""

from __future__ import annotations

import functools
import logging
import threading
import time
import types
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..device.cell import Cell, is_all, untraced
from ..errors import TraceError
from ..tracing.trace import at_line, current
from .places import is_simple
from .program import Program
from .ready import Ready
from .results import is_ours
from .run import Run
from .watch import Watch

_log = logging.getLogger("tenax.jit")
_tracing = threading.RLock()  # a trace changes and restores Python objects that other threads may see
_any_autocast = torch._C._is_any_autocast_enabled
_level = torch._C._functorch.maybe_current_level
_MANY = 8  # traces of one function, from which on a warning says why


@dataclass(slots=True)
class Compilation:
    """One trace of a function: why it was needed, and what it cost in seconds."""

    reason: str
    seconds: float
    shared: bool  # whether an earlier program computes the same, so that nothing was compiled


@dataclass
class Compiled:
    """A function that runs as XLA programs, one for each of the ways in which it is called."""

    function: Callable[..., Any]
    most: int = 64
    programs: dict[Any, list[Program]] = field(default_factory=dict)
    history: list[Compilation] = field(default_factory=list)
    varying: set[tuple[int, str]] = field(default_factory=set)  # entries of groups that schedulers change
    own: set[tuple[int, str]] = field(default_factory=set)  # learning rates that the function sets itself

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives.

        Raises:
            TraceError: the function asks for the value of a tensor, or does on the host what no program can repeat.
        """
        # A dispatch mode wants to see the operations: as torch.compile does, the function then runs eagerly.
        # Under a transform of torch.func its tensors are wrapped, and it differentiates or batches the operations.
        if current() is not None or not untraced() or torch._C._len_torch_dispatch_stack() or _level() is not None:
            return self.function(*args, **kwargs)
        leaves, spec = (
            pytree.tree_flatten((args, kwargs)) if kwargs or any(map(_is_tree, args)) else ([*args], len(args))
        )
        key = _key(leaves, spec)
        found = self._find(leaves, key)
        program, cells = self._trace(args, kwargs, leaves, key) if isinstance(found, str) else found
        return program.call(leaves, cells)

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A compiled method is bound as a function is."""
        return self if instance is None else types.MethodType(self, instance)

    def _find(self, leaves: list[Any], key: Any) -> tuple[Program, list[Cell]] | str:
        """The program that stands for a call, and its cells; or why there is none."""
        reason = ""
        for program in self.programs.get(key, ()):
            cells = program.binding.find(leaves)
            if isinstance(cells, list):
                return program, cells
            reason = reason or cells  # of the newest
        return reason or (
            "arguments of another structure, shape, dtype or value" if self.programs else "its first call"
        )

    def _trace(self, args: Any, kwargs: Any, leaves: list[Any], key: Any) -> tuple[Program, list[Cell]]:
        with _tracing:
            reason = self._find(leaves, key)
            if not isinstance(reason, str):  # another thread traced it, or had the hooks of its trace on all modules
                return reason
            start = time.perf_counter()
            program = self._program(args, kwargs, leaves, self.programs.get(key, ()))
            cells = program.binding.find(leaves)
            assert isinstance(cells, list)  # or it would not have been made
            shared = any(p.forward is program.forward for p in self.programs.get(key, ()))
            self.history.append(Compilation(reason, time.perf_counter() - start, shared))
            _log.info("%s: traced for %s", self.name, reason)
            count = len(self.history)
            if count >= _MANY and count & (count - 1) == 0:
                warnings.warn(f"tenax.jit: {self.name} was traced {count} times, now for: {reason}", stacklevel=3)
            self.programs.setdefault(key, []).insert(0, program)
            while sum(map(len, self.programs.values())) > self.most:
                oldest = next(iter(self.programs))
                self.programs[oldest].pop()
                if not self.programs[oldest]:
                    del self.programs[oldest]
        return program, cells

    def _program(self, args: Any, kwargs: Any, leaves: list[Any], share: Any) -> Program:
        inner = [_stand_in(x) for x in leaves]
        if any(a is not b for a, b in zip(inner, leaves, strict=True)):
            _, spec = pytree.tree_flatten((args, kwargs))
            args, kwargs = pytree.tree_unflatten(inner, spec)
        roots = [x for x in leaves if not isinstance(x, torch.Tensor)]
        watch = Watch(function=self.function, argument=roots)
        ready = Ready(watch)
        if ready:
            watch = Watch(function=self.function, argument=roots)
        try:
            run = Run(self.function, args, kwargs, inner, watch, self.varying, self.own)
        except BaseException:
            ready.prune(())
            raise
        more = run.host.found_varying()
        self.varying |= more
        self.own |= run.own
        if ready.prune(run.trace.before) or more or run.own:
            watch = Watch(function=self.function, argument=roots)
            run = Run(self.function, args, kwargs, inner, watch, self.varying, self.own)
        if watch.objects or watch.modules or watch.optimizers:  # of which only what was read counts
            watch = Watch(run.reads, function=self.function, argument=roots)
        for path in watch.iterators:
            raise TraceError(
                f"a compiled function reaches {path}, an iterator, which its program would not advance: "
                "call next() outside and pass what it gives, or pass a list"
            )
        return Program(run, watch, leaves, share)


def _is_tree(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) and not is_simple(value)


def _stand_in(leaf: Any) -> Any:
    """An argument with a history is a leaf to the traced run: what it computes is differentiated to the arguments."""
    if is_ours(leaf) and leaf.requires_grad and not leaf.is_leaf:
        attributes, leaf = vars(leaf), leaf.detach().requires_grad_()
        vars(leaf).update(attributes)
        leaf.register_post_accumulate_grad_hook(_refuse_gradient)
    return leaf


def _refuse_gradient(leaf: torch.Tensor) -> None:
    raise TraceError(
        f"backward() within a compiled function reaches an argument that was computed outside{at_line()}: the gradient "
        "would end there. Detach the argument, compute it within, or call backward() outside"
    )


def _key(leaves: list[Any], spec: Any) -> Any:
    """What of a call decides its programs, apart from what the function reaches by itself."""
    # After a computation each call into torch is cold and costs ten times what a loop of them shows.
    storages: dict[int, int] = {}
    parts: list[Any] = []
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            try:
                cell = leaf.untyped_storage().cell  # type: ignore[attr-defined]
            except (AttributeError, RuntimeError):
                parts.append((leaf.device, leaf.size(), _strides(leaf), leaf.dtype, leaf.requires_grad))
                continue
            shared = storages.setdefault(id(cell), i)
            parts.append((cell.kind, shared, leaf.requires_grad and 1 + leaf.is_leaf, cell.index))
            if not is_all(leaf, cell):
                bits = leaf.is_conj() + 2 * leaf.is_neg()
                parts.append((leaf.size(), leaf.stride(), leaf.storage_offset(), leaf.dtype, bits))
            if attributes := leaf.__dict__:
                parts.append(tuple((k, type(v), v if is_simple(v) else id(v)) for k, v in attributes.items()))
        elif is_simple(leaf):
            parts.append((type(leaf), leaf))
        else:
            parts.append(("object", id(leaf)))
    autocast = _any_autocast() and torch.is_autocast_enabled("jax") and torch.get_autocast_dtype("jax")
    device = torch._C._len_torch_function_stack() and torch.get_default_device()  # which is a mode of that stack
    modes = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), autocast, torch.get_default_dtype(), device
    return tuple(parts), spec, modes


def _strides(tensor: torch.Tensor) -> Any:
    dense = tensor.layout is torch.strided
    return (tensor.stride(), tensor.storage_offset()) if dense else (tensor.layout, id(tensor))


def jit(function: Any = None, *, most: int = 64) -> Any:
    """Compile a function, a method or a module: each way of calling it becomes one XLA program.

    Use it as a decorator or call it. A module stays a module of its class that shares everything with the one given.
    The function is run once to trace it; afterwards no Python of it runs. Tensors that it reads from outside are inputs
    of the program, those that it writes are outputs.

    Args:
        function: what to compile; it may train: `zero_grad`, `backward`, optimizer, scheduler and scaler steps.
        most: programs that are kept; the oldest goes first.
    """
    if function is None:
        return functools.partial(jit, most=most)
    if isinstance(function, torch.nn.Module):
        return _module(function, most)
    if not callable(function):
        raise TypeError(f"tenax.jit: got a {type(function).__name__}; expected a function or a module")
    return Compiled(function, most)


_classes: weakref.WeakKeyDictionary[type, type] = weakref.WeakKeyDictionary()


def _module(module: torch.nn.Module, most: int) -> torch.nn.Module:
    """Another object of a class of the same name, on the same attributes, whose call is compiled."""
    plain = type(module)
    if issubclass(plain, JitModule):
        return module
    made = _classes.get(plain)
    if made is None:
        made = _classes[plain] = type(plain.__name__, (JitModule, plain), {"__module__": plain.__module__})
    other: torch.nn.Module = object.__new__(made)
    other.__dict__ = module.__dict__
    object.__setattr__(other, "_tenax_compiled", Compiled(functools.partial(plain.__call__, module), most))
    return other


class JitModule(torch.nn.Module):
    """A module whose call is compiled."""

    __slots__ = ("_tenax_compiled",)  # of this object alone: its attributes are those of the module given
    _tenax_compiled: Compiled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As the module's own, hooks included."""
        return self._tenax_compiled(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A copy, or what is unpickled, is compiled anew."""
        return jit, (self._tenax_compiled.function.args[0],)


def compiled_of(function: Any) -> Compiled:
    """The compiled function behind what `jit` gave.

    Raises:
        TypeError: it is nothing of the kind.
    """
    if isinstance(function, types.MethodType):
        function = function.__func__
    found = function._tenax_compiled if isinstance(function, JitModule) else function
    if not isinstance(found, Compiled):
        raise TypeError(f"expected what tenax.jit gave, got a {type(function).__name__}")
    return found
