"""Runs a torch program as a pure function of JAX arrays, for use with all JAX transformations.

While it is traced, `torch.autograd.Function.apply` turns a function that is called with tracers into a
`jax.custom_vjp`, so that JAX uses the derivative that its `backward` computes. What `forward` saves becomes additional
results of that function, so that both JAX and, if the program uses torch's autograd within the pure function, torch can
call `backward`. The cost is that JAX refuses forward-mode AD there.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax.custom_derivatives import CustomVJPPrimal, SymbolicZero
from torch.autograd.function import FunctionCtx
from torch.utils.checkpoint import CheckpointFunction

from .._torch.autograd import defines_setup_context
from .._torch.frames import is_dynamo_loaded
from .._torch.functorch import are_transforms_active
from ..patches import ScopedPatches
from ..storage.tensors import NAME, cell_of, wrap
from ..trace.axes import between_explicit_axes
from ..trace.core import current_trace
from ..trace.data_checks import patched_data_checks
from ..trace.tracing import tracing
from ..trace.transfer import array_index, from_jax, read, to_jax
from .detach import DetachMode, PureTrace
from .keys import DrawKey, inherited_key, keys_from
from .pytrees import register_nodes

_plain = torch.autograd.Function.__dict__["apply"]


def run_pure(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], draw: DrawKey) -> Any:
    """Call a torch function on trees of JAX arrays; its result is a tree of JAX arrays.

    Arrays, including tracers and NumPy arrays, become device tensors. Tensors among the results become their arrays.

    Args:
        function: a function of tensors.
        args, kwargs: trees of arrays and other values.
        draw: returns the key data of each random operation.

    Raises:
        TraceError: the function writes an outside tensor, or needs the value of a traced one.
        NotImplementedError: an array has symbolic dimensions, as under `jax.export`.
    """
    trace = PureTrace(draw)
    try:
        with (
            _APPLY.attached(),
            tracing(trace),
            patched_data_checks(),
            _without_dynamo(),
            torch.enable_grad(),
        ):

            def run(given: Any) -> Any:
                args, kwargs = from_jax(given)
                with DetachMode() as mode:
                    results = function(*args, **kwargs)
                mode.verify(results)
                return to_jax(register_nodes(results))

            return between_explicit_axes(run, jax.tree.map(_as_array, (args, kwargs)))
    finally:
        trace.lose()


def _without_dynamo() -> Any:
    """A context that runs `torch.compile` functions uncompiled, because Dynamo cannot start under a function mode."""
    return torch.compiler.set_stance("force_eager") if is_dynamo_loaded() else contextlib.nullcontext()


def _as_array(leaf: Any) -> Any:
    if isinstance(leaf, jax.core.Tracer) and not all(isinstance(n, int) for n in leaf.shape):
        raise NotImplementedError(
            f"an argument of shape {leaf.shape}, which has symbolic dimensions: tensors have sizes; expected a program "
            "of torch.export with dynamic_shapes, and tenax.export.to_exported"
        )
    return jnp.asarray(leaf, leaf.dtype) if isinstance(leaf, np.ndarray) else leaf


class VjpContext(FunctionCtx):
    """The `ctx` of `forward` and `backward`."""

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        self.saved_tensors: tuple[Any, ...] = ()


_OURS = ("needs_input_grad", "saved_tensors")
_MARKS = ("to_save", "non_differentiable", "dirty_tensors", "materialize_grads", "saved_for_forward")


class _Position(int):
    """Placeholder for a tensor: its index among inputs, outputs and extras."""


class CustomVjpCall:
    """One call of a `Function`; `call` is the corresponding `jax.custom_vjp`."""

    def __init__(self, cls: Any, args: Sequence[Any]) -> None:
        self.cls = cls
        self.args = [_Position() if _traceable(a) else a for a in args]
        self.needs = tuple(isinstance(a, torch.Tensor) and _inexact(a) for a in args)
        self.outputs: Any = None  # the results, with placeholders for tensors
        self.notes: dict[str, Any] = {}  # attributes of the context, with placeholders for tensors
        self.count = 0  # number of tensors among the outputs
        self.idle: set[int] = set()  # outputs without a derivative
        self.call = jax.custom_vjp(self.forward)
        self.call.defvjp(self.forward_rule, self.backward, symbolic_zeros=True)

    def with_tensors(self, tensors: Sequence[Any]) -> list[Any]:
        """The arguments with `tensors` in place of the placeholders."""
        rest = iter(tensors)
        return [next(rest) if isinstance(a, _Position) else a for a in self.args]

    def forward(self, key: Any, *xs: jax.Array) -> tuple[jax.Array, ...]:
        """The outputs, followed by the other tensors that `backward` needs."""
        return run_pure(self._forward, xs, {}, keys_from(key))

    @torch.no_grad()
    def _forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx, args = VjpContext(self.needs), self.with_tensors(tensors)
        if defines_setup_context(self.cls.setup_context):
            outputs = self.cls.forward(*args)
            self.cls.setup_context(ctx, tuple(args), outputs)
        else:
            outputs = self.cls.forward(ctx, *args)
        if getattr(ctx, "dirty_tensors", ()):
            raise NotImplementedError(
                f"{self.cls.__name__}: marks an argument dirty, in a function that JAX traces; expected a new tensor "
                "as its result"
            )
        held = list(tensors)

        def place(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            found = next((i for i, t in enumerate(held) if t is value), None)
            if found is None:
                held.append(value)
            return _Position(len(held) - 1 if found is None else found)

        several = isinstance(outputs, tuple)
        placed = [place(o) for o in (outputs if several else (outputs,))]
        # An output that is an input becomes an additional result.
        for i, p in enumerate(placed):
            if isinstance(p, _Position) and p < len(tensors):
                held.append(held[p])
                placed[i] = _Position(len(held) - 1)
        self.count = len(held) - len(tensors)
        self.outputs = tuple(placed) if several else placed[0]
        self.idle = {int(place(t)) for t in getattr(ctx, "non_differentiable", ())}
        notes = {k: v for k, v in vars(ctx).items() if k not in (*_OURS, "non_differentiable", "dirty_tensors")}
        self.notes = jax.tree.map(place, notes)
        return tuple(held[len(tensors) :])

    def forward_rule(self, *primals: Any) -> Any:
        """The forward rule: the results, and the residuals for `backward`."""
        key, *xs = jax.tree.map(lambda p: p.value, primals, is_leaf=lambda p: isinstance(p, CustomVJPPrimal))
        made = self.call(key, *xs)
        return made, (key, xs, made)

    def backward(self, kept: Any, cotangents: Any) -> Any:
        """The backward rule. torch's gradients are complex conjugates of JAX's."""
        key, xs, made = kept
        n = len(xs)

        def pull(*operands: torch.Tensor) -> Any:
            held, gs = operands[: n + len(made)], operands[n + len(made) :]
            found = self.gradients(held, gs)
            return [torch.zeros_like(x) if g is None else g for x, g in zip(held[:n], found, strict=True)]

        fills = self.notes.get("materialize_grads", True)
        gs: list[Any] = []
        for i, (o, g) in enumerate(zip(made[: self.count], cotangents, strict=False)):
            absent = isinstance(g, SymbolicZero) or g.dtype == jax.dtypes.float0 or i + n in self.idle
            gs.append(jnp.conj(g) if not absent else jnp.zeros(o.shape, o.dtype) if fills else None)
        later = None if key is None else jax.random.fold_in(key, 1 << 31)
        found = run_pure(pull, (*xs, *made, *gs), {}, keys_from(later))
        results = [
            jnp.conj(g) if jnp.issubdtype(x.dtype, np.inexact) else np.zeros(x.shape, jax.dtypes.float0)
            for x, g in zip(xs, found, strict=True)
        ]
        return (None if key is None else np.zeros(key.shape, jax.dtypes.float0), *results)

    def gradients(self, held: Sequence[torch.Tensor], gs: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
        """Call `backward` and return one gradient per tensor argument; `held` are the inputs, outputs and extras."""
        ctx = VjpContext(self.needs)
        notes = jax.tree.map(lambda v: held[v] if isinstance(v, _Position) else v, self.notes)
        ctx.saved_tensors = tuple(notes.pop("to_save", ()))
        vars(ctx).update({k: v for k, v in notes.items() if k not in _MARKS})
        places = self.outputs if isinstance(self.outputs, tuple) else (self.outputs,)
        inputs = sum(isinstance(a, _Position) for a in self.args)
        found = self.cls.backward(ctx, *(gs[p - inputs] if isinstance(p, _Position) else None for p in places))
        found = found if isinstance(found, tuple) else (found,)
        if len(found) < len(self.args) or any(g is not None for g in found[len(self.args) :]):
            raise RuntimeError(
                f"function {self.cls.__name__}Backward returned an incorrect number of gradients (expected "
                f"{len(self.args)}, got {len(found)})"
            )
        wanted = [g for a, g in zip(self.args, found, strict=False) if isinstance(a, _Position)]
        return [g if g is None else g.sum_to_size(x.shape).to(x.dtype) for x, g in zip(held, wanted, strict=False)]

    def results(self, made: Sequence[torch.Tensor]) -> Any:
        """The return value of `apply`."""
        inputs = sum(isinstance(a, _Position) for a in self.args)
        return jax.tree.map(lambda o: made[o - inputs] if isinstance(o, _Position) else o, self.outputs)


class _RecordedCall(torch.autograd.Function):
    """A call that is also recorded by torch's autograd."""

    @staticmethod
    def forward(ctx: Any, application: CustomVjpCall, key: Any, *xs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The outputs of the call."""
        with torch.enable_grad():  # otherwise JAX would see constants
            made = _made(application, key, xs)
        ctx.application = application
        ctx.set_materialize_grads(application.notes.get("materialize_grads", True))
        ctx.save_for_backward(*xs, *made)
        outputs = made[: application.count]
        n = len(xs)
        ctx.mark_non_differentiable(*(o for i, o in enumerate(outputs) if i + n in application.idle or not _inexact(o)))
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *gs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of the inputs."""
        return None, None, *ctx.application.gradients(ctx.saved_tensors, gs)


def _made(application: CustomVjpCall, key: Any, xs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [wrap(a, array_index(a)) for a in application.call(key, *map(read, xs))]


def _inexact(x: torch.Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()


def _traceable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == NAME and value.layout is torch.strided


def _is_traced(value: Any) -> bool:
    return _traceable(value) and isinstance(cell_of(value).content, jax.core.Tracer)


def _apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
    plain = not isinstance(current_trace(), PureTrace) or are_transforms_active()
    if plain or cls is _RecordedCall or not any(map(_is_traced, args)):
        return _plain.__get__(None, cls)(*args, **kwargs)
    if cls is CheckpointFunction:  # (function, whether to keep the random state, arguments)
        return args[0](*args[2:])  # its backward accumulates into `.grad`, invisibly to JAX
    if defines_setup_context(cls.setup_context):
        args = _bound(cls.forward, args, kwargs)
    application, key = CustomVjpCall(cls, args), inherited_key()
    xs = [a for a in args if _traceable(a)]
    if torch.is_grad_enabled() and any(x.requires_grad for x in xs):
        return application.results(_RecordedCall.apply(application, key, *xs))
    return application.results(_made(application, key, xs))


def _bound(forward: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


_APPLY = ScopedPatches(("torch.autograd.Function.apply", lambda plain: classmethod(_apply)))
