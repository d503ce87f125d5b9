"""Operators kept whole above autograd: their lowering becomes one function of `tenax::call`.

These are composites (`grad: vjp`) that torch would decompose, such as an LSTM into steps, and operators without an
autograd formula (aten/custom_ops.py). `torch.func` transforms and forward-mode AD still decompose composites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np
import torch

from .._torch.autograd import in_forward_mode
from .._torch.dispatcher import BelowAutograd
from .._torch.functorch import are_transforms_active, unwrapped
from .._torch.tensors import PLAIN_CLASSES, is_fake, is_wrapper
from ..dtypes import numpy_dtype
from ..storage.access import memory_order
from ..storage.avals import meshes
from ..storage.placement import no_jax_trace, put
from ..storage.recording import recording, records_programs
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of, new_tensor, wrap
from ..words import over_devices
from .dtype_support import check_dtypes
from .encode import NO_KEY, draw_key_for, text
from .jax_call import Arrays, call, function_number, shape_of
from .operands import StaticValue, is_in_key
from .shape_inference import describe_results, infer_results
from .signature import Signature

Axes = tuple[int, ...]


class CompositeCall(NamedTuple):
    """Describes a function that computes an operator: its static arguments, the axis order of its results in memory,
    and the maximum number of devices of its operands."""

    signature: Signature
    form: Any
    memory: tuple[Axes | None, ...]
    devices: int


class OpaqueComposite:
    """The kernel of an overload above autograd."""

    def __init__(self, signature: Signature, of_wrappers: Callable[..., Any] | None = None) -> None:
        """`of_wrappers` is called instead for wrapper tensors, such as DTensors."""
        self.signature = signature
        self.of_wrappers = of_wrappers
        self.bound: dict[Any, tuple[int, list[Axes | None]]] = {}
        # The positions of floats that are operands unless they have one of some values.
        self.varying = [
            (i, s.special) for i, s in enumerate(signature.arguments) if s.kind == "number" and s.special is not None
        ]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the operator; if autograd records the call, its lowering runs as one function."""
        signature = self.signature
        if are_transforms_active() or in_forward_mode():
            return signature.op.decompose(*args, **kwargs)
        values = signature.bind(args, kwargs)
        xs, traced = [*tensors(values)], False
        if not all(map(is_real, xs)):
            if self.of_wrappers is not None and any(map(is_wrapper, xs)):
                return self.of_wrappers(*args, **kwargs)
            traced = is_traced(xs)
            # A function of `tenax::call` would fix a symbolic size.
            if traced and any(isinstance(n, torch.SymInt) for x in tensors(values) for n in x.size()):
                return signature.op.decompose(*args, **kwargs)
        if not wants_gradient(xs) and (not traced or torch.compiler.is_exporting()):
            with BelowAutograd():
                return signature.op(*args, **kwargs)
        return self.apply(values)

    def apply(self, values: list[Any]) -> Any:
        """The differentiable results."""
        f, xs, orders = self.function(values)
        pairs = zip(call(f, xs), orders, strict=True)
        return self.signature.packed([r if order is None else r.permute(order) for r, order in pairs])

    def function(self, values: list[Any]) -> tuple[int, list[torch.Tensor], Sequence[Axes | None]]:
        """The number of the lowering as a function, its operands, and the permutations of its memory-order results.

        Raises:
            Whatever torch's Meta kernel raises for the arguments.
        """
        signature = self.signature
        if signature.prepare is not None:
            prepared = signature.prepare(values)
            assert isinstance(prepared, list)  # never `Handled` for these operators
            values = prepared
        operands = self.operands(values)
        xs = list(tensors(operands))
        devices = _devices(xs)
        form = form_of(operands)
        key = (form, devices, tuple([(shape_of(x), tuple(map(int, x.stride())), x.dtype) for x in xs]))
        bound = self.bound.get(key)
        if bound is None:
            memory = tuple(None if o.is_contiguous() else memory_order(o) for o in self.outputs(values))
            original = CompositeCall(signature, form, memory, devices)
            name = _name(original)
            f = function_number((*original,), lambda: function_of(*original), meaning=lambda: original, name=name)
            bound = self.bound[key] = f, [None if m is None else tuple(map(int, np.argsort(m))) for m in memory]
        if signature.row.random:
            xs.append(self.key(values, xs[0].device))
        return bound[0], xs, bound[1]

    def key(self, values: list[Any], device: torch.device) -> torch.Tensor:
        """The key data of a random op; when torch records a graph, the result of an op that draws it."""
        signature, index = self.signature, device.index or 0
        if not is_traced(tensors(values)):
            if signature.is_idle(values) and no_jax_trace():
                return _no_key(index)
            key, tape = draw_key_for(signature, values), recording.tape
            if tape is not None and not tape.ahead and not index and isinstance(key, np.ndarray):
                return new_tensor(tape.words(key), (2,), torch.uint32)
            return wrap(key if isinstance(key, jax.Array) else put(key, index), index)
        if signature.is_idle(values):
            return torch.zeros(2, dtype=torch.uint32, device=device)
        return torch.ops.tenax.key.default(device=device)

    def operands(self, values: list[Any]) -> list[Any]:
        """The arguments, with tensors in place of values that should not be static."""
        varying = [i for i, special in self.varying if type(values[i]) is float and values[i] not in special]
        if not varying or is_traced(tensors(values)):
            return values
        operands, device = [*values], next(tensors(values)).device
        for i in varying:
            if not is_in_key(self.signature.name, self.signature.arguments[i], values[i]):
                operands[i] = torch.full((), values[i], dtype=torch.float64, device=device)
        return operands

    def outputs(self, values: list[Any]) -> list[TensorSpec]:
        """The specs of the results, according to torch."""
        signature = self.signature
        check_dtypes(signature, values)
        described = describe_results(infer_results(signature, values))
        return signature.corrected(values, described if isinstance(described, list) else [described])


@lru_cache
def _no_key(index: int) -> torch.Tensor:
    """A key that nothing is drawn from."""
    return wrap(put(NO_KEY, index), index)


def function_of(
    signature: Signature, form: Any, memory: tuple[Axes | None, ...] = (), devices: int = 1
) -> Callable[..., Arrays]:
    """The lowering as a function of its tensor arguments; with `memory`, the axes of its results are in that order."""

    def function(*arrays: jax.Array) -> Arrays:
        with over_devices(devices):
            return lowered(iter(arrays))

    def lowered(rest: Iterator[jax.Array]) -> Arrays:
        keywords = signature.parameters(filled(form, rest))
        if signature.row.random:
            keywords["rng"] = jax.random.wrap_key_data(next(rest))
        results = signature.lowering(**keywords)
        results = results if isinstance(results, (tuple, list)) else (results,)
        if not memory:
            return tuple(results)
        return tuple(r if m is None else r.transpose(m) for r, m in zip(results, memory, strict=True))

    return function


def _name(call: CompositeCall) -> str | None:
    """A name for its function that is stable across processes, if there is one."""
    name, form = call.signature.lasting(call.form)
    try:
        return None if name is None or call.devices > 1 else f"{name} as a function {text((form, call.memory))}"
    except LookupError:
        return None


def _devices(xs: Iterable[torch.Tensor]) -> int:
    """The maximum number of devices that tensors may be on; unknown for values that are traced or recorded, so the
    process maximum."""
    if not meshes.used:
        return 1
    if not no_jax_trace() or records_programs() or is_traced(xs):
        return meshes.devices
    shardings = [cell_of(unwrapped(x)).aval.sharding for x in xs if x.device.type == NAME]
    return max((s.num_devices for s in shardings if s is not None), default=1)


def is_traced(xs: Iterable[torch.Tensor]) -> bool:
    """Whether torch is recording a graph instead of computing."""
    return any(not is_real(x) and is_fake(x) for x in xs)


def is_real(x: torch.Tensor) -> bool:
    """Whether a tensor is certainly an ordinary one of the device: neither a wrapper nor fake. A cheap first test."""
    if type(x) not in PLAIN_CLASSES:
        return False
    try:
        return hasattr(x.untyped_storage(), "cell")  # not on the host
    except RuntimeError:  # a wrapper made by torch, which has no storage
        return False


def wants_gradient(values: Any) -> bool:
    """Whether autograd records a call with these arguments."""
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors(values))


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors among arguments, including those in lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            if type(item) in PLAIN_CLASSES:
                yield item
            elif isinstance(item, (torch.Tensor, list, tuple)):
                yield from tensors(item)


def form_of(value: Any) -> Any:
    """The static part of an argument: None for a tensor, a `StaticValue` for anything else, a tuple for a list."""
    if isinstance(value, torch.Tensor):
        return None
    return tuple([form_of(v) for v in value]) if isinstance(value, (list, tuple)) else StaticValue(value, type(value))


def filled(form: Any, arrays: Iterator[jax.Array]) -> Any:
    """Rebuild an argument from its form, with arrays in place of tensors."""
    if form is None:
        return next(arrays)
    if isinstance(form, StaticValue):
        return numpy_dtype(form.value) if form.kind is torch.dtype else form.value
    return [filled(f, arrays) for f in form]
