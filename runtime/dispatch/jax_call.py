"""`tenax::call`, a function of JAX arrays as a differentiable op of torch.

`call(int f, Tensor[] xs) -> Tensor[]` applies function number `f`. A derivative of such a function is another numbered
function, so derivatives of any order are calls too. Forward also returns the residuals that backward needs. They are
saved tensors, which torch frees, checks and offloads by its own rules. The cost is that backward with `create_graph`
recomputes forward. Forward-mode AD is `jax.jvp`.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax.extend.core import jaxpr_as_fun
from torch.autograd import forward_ad

from tenax.generated.table import Row

from .._torch.autograd import accumulators_of, in_forward_mode
from .._torch.dispatcher import BelowAutograd
from .._torch.functorch import (
    SingleLevelFunction,
    add_batch_dim,
    enable_single_level_autograd_function,
    remove_batch_dim,
    vmap_level,
)
from ..dtypes import numpy_dtype, torch_dtype
from ..float32_products import float32_products
from ..platforms import platform
from ..storage.ordinals import NAME, device_index
from ..storage.placement import put
from ..storage.random import next_key
from ..storage.tensors import wrap
from .dispatcher import Dispatcher
from .list_path import ListKernel
from .lowering_trace import with_torch_dtypes
from .signature import Signature

Arrays = tuple[jax.Array, ...]
Function = Callable[..., Arrays]
Avals = tuple[tuple[tuple[int, ...], torch.dtype], ...]


@dataclass(slots=True, eq=False)
class _Numbered:
    """A function of `tenax::call`."""

    apply: Function
    key: Hashable
    root: int  # the number of the function from which it is derived, directly or not, or its own
    meaning: Any = None
    name: str | None = None  # stable across processes
    derived: list[int] = field(default_factory=list)  # the numbers of the functions derived from it


_functions: dict[int, _Numbered] = {}
_numbers: dict[Hashable, int] = {}  # by key
_splits: dict[Hashable, Linearized] = {}
_leases: weakref.WeakValueDictionary[int, FunctionLease] = weakref.WeakValueDictionary()
_next = itertools.count()


def function_number(
    key: Hashable,
    make: Callable[[], Function],
    parent: int | None = None,
    meaning: Callable[[], Any] | None = None,
    name: str | None = None,
) -> int:
    """The number of a function for `tenax::call`; the function is created when its key is new.

    Args:
        key: identifies the function. For a derived one: (transformation, number of the parent, other parameters).
        make: returns the function.
        parent: the number of the function from which it is derived.
        meaning: returns a description of what it computes, for tools that inspect calls (debug/cpu_reference.py).
        name: a name that is stable across processes; for a function with a parent, it follows from the key.
    """
    number = _numbers.get(key)
    if number is None:
        number = next(_next)
        source = None if parent is None else _functions[parent]
        if source is not None and source.name is not None:
            how, _, *rest = cast(tuple[Any, ...], key)
            name = f"{how} {rest} of {source.name}"
        root = number if source is None else source.root
        _functions[number] = _Numbered(make(), key, root, meaning and meaning(), name)
        number = _numbers.setdefault(key, number)
        if source is not None:
            source.derived.append(number)
    return number


def function_of_number(f: int) -> Function:
    """The function that `tenax::call` applies under a number."""
    return _functions[f].apply


def meaning_of(f: int) -> Any:
    """What a function computes, e.g. a `CompositeCall`, `ForwardOf` or `DerivativeOf`; None if nothing was recorded."""
    return _functions[f].meaning


class FunctionLease:
    """The number of a function with a limited lifetime: freed with this object, like all functions derived from it."""

    def __init__(self, function: Function, target: Callable[[], Any]) -> None:
        self.number = next(_next)
        self.target = target  # returns what the function refers to weakly, which every potential caller keeps alive
        _functions[self.number] = _Numbered(function, None, self.number)
        _leases[self.number] = self
        weakref.finalize(self, _forget, self.number)


def _keep_alive(f: int) -> Any:
    """References that keep a number valid while they are held."""
    lease = _leases.get(_functions[f].root)
    return lease and (lease, lease.target())


def _forget(root: int) -> None:
    dead = [root]
    for f in dead:  # which grows
        if (known := _functions.pop(f, None)) is not None:
            _numbers.pop(known.key, None)
            dead += known.derived
    for splits in [k for k, s in list(_splits.items()) if s.function in dead]:
        _splits.pop(splits, None)
    for entry in [k for k in list(_dispatcher.entries) if k[0][0].value in dead]:
        _dispatcher.entries.pop(entry, None)
    for fast in (_dispatcher.fast, _dispatcher.recorded_calls):
        for call in [k for k in list(fast) if k[0][1] in dead]:
            fast.pop(call, None)


def call(f: int, xs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Apply function `f` to tensors; differentiable."""
    return torch.ops.tenax.call.default(f, list(xs))


def shape_of(x: torch.Tensor) -> tuple[int, ...]:
    """The shape as integers: JAX cannot trace symbolic sizes, so converting one fixes it, and torch adds a guard."""
    return tuple(map(int, x.size()))


def empty_results(function: Callable[..., Any], xs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Empty tensors with the shapes and dtypes that a function of arrays would return."""
    structs = [jax.ShapeDtypeStruct(shape_of(x), numpy_dtype(x.dtype)) for x in xs]
    with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
        made = jax.eval_shape(with_torch_dtypes(function, numpy_dtype(torch.get_default_dtype())), *structs)
    device = xs[0].device if xs else NAME
    return [torch.empty(s.shape, dtype=torch_dtype(s.dtype), device=device) for s in made]


# The derivative


class Linearized(NamedTuple):
    """A function split in two: `forward` returns its outputs and `extras`; `tree` turns residuals into the pullback."""

    function: int
    wrt: tuple[int, ...]
    forward: int
    outputs: tuple[jax.ShapeDtypeStruct, ...]
    residuals: tuple[int, ...]  # positions in (*xs, *extras)
    tree: Any


class ForwardOf(NamedTuple):
    """Describes a function whose first `outputs` results are those of function `of`."""

    of: int
    outputs: int


class DerivativeOf(NamedTuple):
    """Describes a function that computes gradients of `split.function`: at inputs `wanted`, from outputs `given`."""

    split: Linearized
    given: tuple[int, ...]
    wanted: tuple[int, ...]


class _BackwardState(threading.local):
    inputs: Sequence[torch.Tensor] = ()  # inputs of the function whose gradients this thread is computing


backward = _BackwardState()


def _vjp(f: int, wrt: Sequence[int], xs: Sequence[jax.Array]) -> Any:
    """`jax.vjp` with respect to the arguments at `wrt`."""

    def of(*part: jax.Array) -> Arrays:
        full = list(xs)
        for i, x in zip(wrt, part, strict=True):
            full[i] = x
        return function_of_number(f)(*full)

    return jax.vjp(of, *(xs[i] for i in wrt))


def _split(f: int, wrt: tuple[int, ...], avals: Avals) -> Linearized:
    key = f, wrt, avals, float32_products.in_effect, platform()
    found = _splits.get(key)
    if found is None:
        found = _splits[key] = _linearize(*key)
    return found


def _linearize(f: int, wrt: tuple[int, ...], avals: Avals, precision: str, on: str) -> Linearized:
    structs = [jax.ShapeDtypeStruct(tuple(shape), numpy_dtype(dtype)) for shape, dtype in avals]
    with jax.enable_x64(True), jax.default_matmul_precision(precision):
        closed, (outputs, pull) = jax.make_jaxpr(lambda *xs: _vjp(f, wrt, xs), return_shape=True)(*structs)
    tree = jax.tree.structure(pull)
    found, n = closed.jaxpr.outvars, len(outputs)
    places = {id(var): i for i, var in enumerate(closed.jaxpr.invars)}
    kept = list(range(n))
    for i in range(n, len(found)):
        if id(found[i]) not in places:
            places[id(found[i])] = len(structs) + len(kept) - n
            kept.append(i)
    run = jaxpr_as_fun(closed)

    def forward(*xs: jax.Array) -> Arrays:
        results = run(*xs)
        return tuple(results[i] for i in kept)

    residuals = tuple(places[id(var)] for var in found[n:])
    made = function_number(("forward", f, wrt, avals, precision, on), lambda: forward, f, lambda: ForwardOf(f, n))
    return Linearized(f, wrt, made, outputs, residuals, tree)


def _pull_back(
    pull: Any, split: Linearized, given: Sequence[int], wanted: Sequence[int], gs: Sequence[jax.Array]
) -> Arrays:
    """Gradients at `wanted` from those of the outputs at `given`; torch's are the conjugates of JAX's."""
    held = dict(zip(given, gs, strict=True))
    cotangents: list[Any] = []
    for i, output in enumerate(split.outputs):
        if i in held:
            cotangents.append(jnp.conj(held[i]))
        elif jnp.issubdtype(output.dtype, np.inexact):
            cotangents.append(jnp.zeros(output.shape, output.dtype))
        else:
            cotangents.append(np.zeros(output.shape, jax.dtypes.float0))
    return tuple(jnp.conj(g) for i, g in zip(split.wrt, pull(tuple(cotangents)), strict=True) if i in wanted)


def _reverse(split: Linearized, given: tuple[int, ...], wanted: tuple[int, ...]) -> int:
    """(residuals, gradients of the outputs) -> gradients of the inputs."""
    n = len(split.residuals)

    def reverse(*operands: jax.Array) -> Arrays:
        pull = jax.tree.unflatten(split.tree, operands[:n])
        return _pull_back(pull, split, given, wanted, operands[n:])

    key = "reverse", split.forward, given, wanted
    return function_number(key, lambda: reverse, split.forward, lambda: DerivativeOf(split, given, wanted))


def _pullback(split: Linearized, given: tuple[int, ...], wanted: tuple[int, ...]) -> int:
    """(inputs, gradients of the outputs) -> gradients of the inputs: recomputes forward, and is differentiable."""

    def pullback(*operands: jax.Array) -> Arrays:
        n = len(operands) - len(given)
        _, pull = _vjp(split.function, split.wrt, operands[:n])
        return _pull_back(pull, split, given, wanted, operands[n:])

    key = "pullback", split.forward, given, wanted
    return function_number(key, lambda: pullback, split.forward, lambda: DerivativeOf(split, given, wanted))


class JaxCall(SingleLevelFunction):  # type: ignore[misc]
    """`tenax::call` with its derivative."""

    @staticmethod
    def forward(ctx: Any, f: int, *xs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The outputs of function `f`."""
        wrt = tuple(i for i, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
        ctx.lease = _keep_alive(f)
        ctx.split = split = _split(f, wrt, tuple((shape_of(x), x.dtype) for x in xs))
        # Grad mode is on because under torch.func the levels below this one record the call too, and because in a pure
        # function (functional/detach.py) results computed without grad mode are constants.
        with BelowAutograd(), torch.enable_grad():
            made = call(split.forward, xs)
        outputs, extras = made[: len(split.outputs)], made[len(split.outputs) :]
        ctx.save_for_backward(*xs, *extras)
        ctx.inputs = len(xs)
        ctx.mark_non_differentiable(*(o for o in outputs if not (o.is_floating_point() or o.is_complex())))
        ctx.set_materialize_grads(False)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """The gradients of the inputs that need one."""
        split, saved = ctx.split, ctx.saved_tensors
        given = tuple(i for i, g in enumerate(gradients) if g is not None)
        wanted = tuple(i for i in split.wrt if ctx.needs_input_grad[i + 1])
        results: list[torch.Tensor | None] = [None] * (1 + ctx.inputs)
        if not given:
            return tuple(results)
        gs = [g for g in gradients if g is not None]
        backward.inputs = saved[: ctx.inputs]
        try:
            if torch.is_grad_enabled():
                found = call(_pullback(split, given, wanted), [*saved[: ctx.inputs], *gs])
            else:
                found = call(_reverse(split, given, wanted), [*(saved[i] for i in split.residuals), *gs])
        finally:
            backward.inputs = ()
        for i, gradient in zip(wanted, found, strict=True):
            results[i + 1] = gradient
        return tuple(results)


def _dual(f: int, pairs: Sequence[Any]) -> list[torch.Tensor]:
    """The call for tensors of which some have a tangent of forward-mode AD, by `jax.jvp`."""
    primals = [p.primal for p in pairs]
    places = tuple(i for i, p in enumerate(pairs) if p.tangent is not None)

    def pushed(*operands: jax.Array) -> Arrays:
        n = len(operands) - len(places)
        given = dict(zip(places, operands[n:], strict=True))
        tangents = [
            given[i] if i in given else np.zeros(x.shape, jax.dtypes.float0 if not _inexact(x) else x.dtype)
            for i, x in enumerate(operands[:n])
        ]
        results, changes = jax.jvp(function_of_number(f), operands[:n], tuple(tangents))
        return (*results, *(c for r, c in zip(results, changes, strict=True) if _inexact(r)))

    made = call(function_number(("jvp", f, places), lambda: pushed, f), [*primals, *(pairs[i].tangent for i in places)])
    changing = sum(m.is_floating_point() or m.is_complex() for m in made) // 2
    results, rest = made[: len(made) - changing], iter(made[len(made) - changing :])
    return [forward_ad.make_dual(r, next(rest)) if r.is_floating_point() or r.is_complex() else r for r in results]


def _inexact(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, np.inexact))


def _differentiable(f: int, xs: list[torch.Tensor]) -> list[torch.Tensor]:
    if in_forward_mode():
        pairs = [forward_ad.unpack_dual(x) for x in xs]
        if any(p.tangent is not None for p in pairs):
            return _dual(f, pairs)
    if torch.is_grad_enabled() and any(x.requires_grad for x in xs):
        # As a kernel it sees the tensors of a single torch.func level: the dispatcher does what `Function.apply` would
        # do for all levels.
        alive = accumulators_of(xs)  # noqa: F841 (until the node is made)
        with enable_single_level_autograd_function():
            return list(JaxCall.apply(f, *xs))
    with BelowAutograd():
        return call(f, xs)


def vmap_call(f: int, dims: tuple[int | None, ...], xs: list[torch.Tensor]) -> list[torch.Tensor]:
    """`jax.vmap` of the function; results have the batch dimension first."""
    return call(
        function_number(("vmap", f, dims), lambda: lambda *arrays: jax.vmap(function_of_number(f), dims)(*arrays), f),
        xs,
    )


def _batched(info: Any, in_dims: Any, f: int, xs: list[torch.Tensor]) -> tuple[list[torch.Tensor], list[int]]:
    """The batching rule for `torch.func.vmap`."""
    results = vmap_call(f, tuple(in_dims[1]), xs)
    return results, [0] * len(results)


def _gradients_batched(f: int, xs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The batching rule for `torch.autograd.grad(is_grads_batched=True)`, whose vmap is not that of `torch.func`."""
    level = vmap_level()
    parts = [remove_batch_dim(x, level, 1, 0) for x in xs]  # an unbatched tensor gets an axis of size 1
    size = max(len(x) for x in parts)
    dims = tuple(0 if len(x) == size else None for x in parts)
    results = vmap_call(f, dims, [x[0] if d is None else x for x, d in zip(parts, dims, strict=True)])
    return [add_batch_dim(x, 0, level) for x in results]


def draw_key_tensor(device: torch.device) -> torch.Tensor:
    """The key data of one random operation, uint32[2], on a device: a draw that a torch graph can contain."""
    index = device_index(device)
    drawn = next_key()
    return wrap(drawn if isinstance(drawn, jax.Array) else put(drawn, index), index)


class _CallSignature(Signature):
    """The signature of `tenax::call`, whose lowering is the function selected by its first argument."""

    has_meta = False  # the runtime evaluates the shapes of the function itself, as the fake kernel would
    follows_default_dtype = True  # because the function may
    lowering = staticmethod(lambda f, xs: function_of_number(f)(*xs))

    def lasting(self, parts: tuple[Any, ...]) -> tuple[str | None, tuple[Any, ...]]:
        """See `Signature.lasting`; the first part is the number of the function."""
        return _functions[parts[0].value].name, parts[1:]


_library = torch.library.Library("tenax", "DEF")
_library.define("call(int f, Tensor[] xs) -> Tensor[]")
_dispatcher = Dispatcher(_CallSignature("tenax::call", Row("", "")))
_library.impl("call", ListKernel(_dispatcher), "PrivateUse1")
_library.impl("call", _differentiable, "AutogradPrivateUse1")
_library.impl("call", _gradients_batched, "Batched")
_library.define("key(*, Device device) -> Tensor", tags=torch.Tag.nondeterministic_seeded)
# A kernel for the device's dispatch key would need a tensor argument.
_library.impl("key", draw_key_tensor, "CompositeExplicitAutograd")
torch.library.register_fake(
    "tenax::key", lambda device: torch.empty(2, dtype=torch.uint32, device=device), lib=_library
)
torch.library.register_fake("tenax::call", lambda f, xs: empty_results(function_of_number(f), xs), lib=_library)
torch.library.register_vmap("tenax::call", _batched, lib=_library)
