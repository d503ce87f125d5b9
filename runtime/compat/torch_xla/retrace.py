"""`call_jax` for functions that may depend on more than their arguments, as those of PyTorch/XLA's loops may.

Such a function is traced in each call. Calls whose traces are equal share one function of `call_jax`, and so one
program. The tensors that the function closes over are arguments of that function, so their values may change. The cost
is a trace in each call, which in lazy mode ends the recorded program.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun
from torch import nn

from ..._torch import NAME
from ...dispatch.lowering_trace import with_torch_dtypes
from ...dtypes import numpy_dtype
from ...errors import TraceError
from ...functional.keys import DrawKey, keys_from, refuse_draw
from ...functional.pure import run_pure
from ...interop.calls import call_jax
from ...interop.convert import t2j
from ...interop.remat import draw_key_if_possible
from ...storage.recording import run_recorded
from ...trace.core import current_trace, user_line
from ...trace.transfer import from_jax

_HELD = 64  # programs; the least recently used is dropped
_WIDE = {np.dtype(np.float64), np.dtype(np.complex128)}
_programs: OrderedDict[Hashable, Callable[..., Any]] = OrderedDict()


class Draws:
    """The random numbers of a loop: a key for each iteration, and whether any was drawn."""

    def __init__(self, key: Any) -> None:
        self.key = key  # key data; None in a pure function without a key
        self.used = False

    def at(self, iteration: Any) -> jax.Array:
        """The key of an iteration."""
        self.used = True
        return jax.random.fold_in(jax.random.wrap_key_data(self.key), iteration)

    def call(self, function: Callable[..., Any], iteration: Any, args: tuple[Any, ...]) -> Any:
        """Call a function of tensors on arrays, in one iteration."""
        if self.key is None:
            return t2j(function)(*args)
        if isinstance(function, nn.Module):
            return t2j(function)(*args, rng=self.at(iteration))
        return run_pure(function, args, {}, lambda generator: keys_from(self.at(iteration))(generator))


def refuse_in_pure(name: str) -> DrawKey:
    """The draw function of a loop whose function is marked as pure.

    Raises:
        TraceError: always.
    """

    def draw(generator: torch.Generator | None) -> Any:
        raise TraceError(
            f"{name}: a random operation in a function that is marked as pure{user_line()}; expected is_fn_pure=False "
            "or is_layer_pure=False, with which each iteration draws its own numbers"
        )

    return draw


def call_retraced(run: Callable[..., Any], *args: Any) -> Any:
    """Call `run(draws, *args)`, a function of trees of arrays, with trees of tensors, arrays and static leaves.

    A key is drawn from the device's stream only if the function draws.
    """
    run_recorded()  # JAX traces now: what lazy mode recorded must not be computed within the trace
    leaves, tree = jax.tree.flatten(args, is_leaf=lambda x: isinstance(x, torch.Tensor))
    leaves = [from_jax(jnp.asarray(x, x.dtype) if isinstance(x, np.ndarray) else x) for x in leaves]
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
    xs = [leaves[i] for i in places]
    structs = [jax.ShapeDtypeStruct(tuple(map(int, x.shape)), numpy_dtype(x.dtype)) for x in xs]
    wide = jax.dtypes.canonicalize_dtype(float).itemsize == 8 or any(s.dtype in _WIDE for s in structs)
    trace = current_trace()
    keyless = trace is not None and trace.draw is refuse_draw
    draws = Draws(None)

    def traced(key: jax.Array, *arrays: jax.Array) -> Any:
        draws.key = None if keyless else key
        full = list(leaves)
        for i, array in zip(places, arrays, strict=True):
            full[i] = array
        with jax.enable_x64(wide):  # as `call_jax` calls a function
            return run(draws, *jax.tree.unflatten(tree, full))

    function = with_torch_dtypes(traced, numpy_dtype(torch.get_default_dtype()))
    with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
        key = jax.ShapeDtypeStruct((2,), np.uint32)
        closed, results = jax.make_jaxpr(function, return_shape=True)(key, *structs)
    drawn = draw_key_if_possible(xs[0].device if xs else torch.device(NAME)) if draws.used else None
    found = call_jax(_program_of(closed.jaxpr), drawn, list(closed.consts), xs)
    return jax.tree.unflatten(jax.tree.structure(results), found)


def _program_of(jaxpr: Jaxpr) -> Callable[..., Any]:
    """A function (key or None, constants, inputs) -> results: the same one for equal jaxprs."""
    try:
        form = _form(jaxpr)
    except TypeError:  # a rule of a `jax.custom_vjp` that the function itself calls: each trace has another
        form = _Same(jaxpr)
    program = _programs.get(form)
    if program is None:
        program = _programs[form] = _running(jaxpr)
        if len(_programs) > _HELD:
            _programs.popitem(last=False)
    else:
        _programs.move_to_end(form)
    return program


def _running(jaxpr: Jaxpr) -> Callable[..., Any]:
    def run(key: jax.Array | None, constants: list[jax.Array], xs: list[jax.Array]) -> list[jax.Array]:
        with jax.enable_x64(True):
            key = jnp.zeros((2,), jnp.uint32) if key is None else key
            return jaxpr_as_fun(ClosedJaxpr(jaxpr, constants))(key, *xs)

    return run


def _form(jaxpr: Jaxpr) -> Hashable:
    """A value that is equal for jaxprs of equal equations and for no others; functions in it compare by identity.

    Raises:
        TypeError: a parameter of an equation is not hashable.
    """
    numbers: dict[Any, int] = {}

    def atom(x: Any) -> Hashable:
        if isinstance(x, Literal):
            return x.aval, _of_parameter(np.asarray(x.val))
        return numbers.setdefault(x, len(numbers)), x.aval

    heads = [*map(atom, jaxpr.constvars)], [*map(atom, jaxpr.invars)]
    equations = []
    for e in jaxpr.eqns:
        given = tuple(map(atom, e.invars))
        parameters = tuple((name, _of_parameter(e.params[name])) for name in sorted(e.params))
        equations.append((e.primitive, given, tuple(map(atom, e.outvars)), parameters, e.ctx))
    return tuple(map(tuple, heads)), tuple(equations), tuple(map(atom, jaxpr.outvars))


class _Same:
    """Compares by the identity of a value, and keeps it alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _of_parameter(value: Any) -> Hashable:
    if isinstance(value, (Jaxpr, ClosedJaxpr)):
        try:
            constants = tuple(map(_of_parameter, value.consts)) if isinstance(value, ClosedJaxpr) else ()
            return _form(value.jaxpr if isinstance(value, ClosedJaxpr) else value), constants
        except TypeError:  # a rule of a `jax.custom_vjp`; the jaxpr of an operation is the same object in each trace
            return _Same(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_of_parameter, value))
    if isinstance(value, (float, complex)):
        return type(value), repr(value)
    hash(value)  # raises for arrays, whose values need not be known
    return type(value), value
