"""`call_jax`: call a JAX function with tensors, as one differentiable torch op.

The op is `tenax::call`. Functions are identified by object identity, as in `jax.jit`, and their programs are freed when
they are garbage-collected. This means that a function created per call is traced and compiled for every call.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .._torch import NAME, pytree
from .._torch.frames import assume_constant
from ..dispatch.jax_call import FunctionLease, call, empty_results
from ..dtypes import numpy_dtype
from ..storage.recording import run_recorded
from ..trace.transfer import from_jax

_MOST = 1024  # static signatures per function; beyond that the least recently used one is dropped
_WIDE = {np.dtype(np.float64), np.dtype(np.complex128)}


class _Static:
    """A non-array leaf, compared by type and value; -0.0 and 0.0 are different."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        exact = isinstance(value, (float, complex, np.inexact))
        self.key = type(value), repr(value) if exact else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class _Key(NamedTuple):
    """Marks a `jax.random` key, whose key data is passed as a tensor."""

    impl: Any


_AUTOMATIC = (
    "call_jax: the axes of tensors are automatic, and jax.make_mesh makes explicit ones; expected a jax.shard_map over "
    "the mesh that `with tenax.mesh(mesh) as automatic` gives"
)


class _Called:
    """A JAX function with its static arguments, and its result trees by signature of the arrays."""

    def __init__(
        self, target: Callable[[], Any], tree: Any, form: tuple[_Static | _Key | None, ...], wide: bool
    ) -> None:
        self.tree = tree
        self.form = form
        self.wide = wide
        self.returned: dict[Any, Any] = {}
        self.target = target

    def __call__(self, *arrays: jax.Array) -> tuple[jax.Array, ...]:
        rest = iter(arrays)
        leaves = [f.value if isinstance(f, _Static) else _wrapped(next(rest), f) for f in self.form]
        args, kwargs = jax.tree.unflatten(self.tree, leaves)
        # Lowerings are traced with x64 on, but the user's function runs with the x64 setting of the user's program.
        with jax.enable_x64(self.wide or any(np.dtype(a.dtype) in _WIDE for a in arrays)):
            try:
                results, tree = jax.tree.flatten(self.target()(*args, **kwargs))
            except ValueError as error:
                if "in_specs passed to shard_map" in str(error):
                    error.add_note(_AUTOMATIC)
                raise
            self.returned[tuple((a.shape, np.dtype(a.dtype)) for a in arrays)] = tree
            return tuple(map(_returned, results))


def _returned(result: Any) -> jax.Array:
    """Convert a result to an array; a JAX trace keeps a Python number as a literal."""
    return result if isinstance(result, jax.Array) else jnp.asarray(np.asarray(result, jnp.result_type(result)))


def _wrapped(array: jax.Array, key: _Key | None) -> jax.Array:
    """Turn key data into a key; return other arrays unchanged."""
    return array if key is None else jax.random.wrap_key_data(array, impl=key.impl)


class _Entry(NamedTuple):
    target: Any  # a weak reference to the function
    leases: OrderedDict[Any, tuple[FunctionLease, _Called]]


_entries: dict[tuple[int, int], _Entry] = {}


def call_jax(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a JAX function with tensors of device "jax", differentiably in torch: `tenax.call_jax(jnp.sinc, x)`.

    The gradient, of any order, is `jax.vjp` of the function, including its `jax.custom_vjp` rules; forward mode is
    `jax.jvp`. The call works under `torch.func` and `torch.compile`. The function is traced once per signature, as
    under `jax.jit`, so it must be pure, and should be defined once rather than for each call.

    Args:
        function: a function of trees of arrays that returns a tree of arrays.
        args, kwargs: trees of tensors on device "jax"; `jax.Array` and NumPy arrays, which get no gradient; keys of
            `jax.random`; and hashable static leaves, each new value of which causes a retrace. Pass a changing number
            as a 0-d tensor.

    Returns:
        The result of `function`, with tensors in place of arrays.

    Raises:
        TypeError: `function` is not callable or not weakly referenceable, or a static leaf is not hashable.
        RuntimeError: a tensor is on another device.
    """
    if torch.compiler.is_dynamo_compiling():
        return _in_graph(function, args, kwargs)
    return _eager(function, args, kwargs)


def _eager(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=lambda x: isinstance(x, torch.Tensor))
    xs: list[torch.Tensor] = []
    form: list[_Static | _Key | None] = []
    for leaf in leaves:
        key = None
        if isinstance(leaf, np.ndarray):
            leaf = jnp.asarray(leaf, leaf.dtype)
        if isinstance(leaf, jax.Array):
            if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
                key, leaf = _Key(jax.random.key_impl(leaf)), jax.random.key_data(leaf)
            leaf = from_jax(leaf)
        tensor = isinstance(leaf, torch.Tensor)
        if tensor and leaf.device.type != NAME:
            raise RuntimeError(f"call_jax: got a tensor on {leaf.device}; expected device {NAME}: tensor.to({NAME!r})")
        if tensor:
            xs.append(leaf)
        form.append(key if tensor else _Static(leaf))
    lease, called = _leased(function, tree, tuple(form))
    avals = tuple((tuple(map(int, x.shape)), numpy_dtype(x.dtype)) for x in xs)
    if avals not in called.returned:  # JAX traces it now: what lazy mode recorded must not be computed within the trace
        run_recorded()
    results = call(lease.number, xs) if xs else from_jax(jax.jit(called)())
    return jax.tree.unflatten(called.returned[avals], results)


def _leased(
    function: Callable[..., Any], tree: Any, form: tuple[_Static | _Key | None, ...]
) -> tuple[FunctionLease, _Called]:
    key = tree, form, jax.dtypes.canonicalize_dtype(float).itemsize == 8
    owner = getattr(function, "__self__", None)
    bound = owner is not None and hasattr(function, "__func__")
    place = (id(function.__func__), id(owner)) if bound else (id(function), 0)  # type: ignore[attr-defined]
    entry = _entries.get(place)
    if entry is None or entry.target() is None:
        try:
            kind: Any = weakref.WeakMethod if bound else weakref.ref
            target = kind(function, lambda _: _entries.pop(place, None))
        except TypeError:
            raise TypeError(f"call_jax: got {function!r}; expected a function that can be referred to weakly") from None
        entry = _entries[place] = _Entry(target, OrderedDict())
    try:
        leased = entry.leases.get(key)
    except TypeError:
        static = [f.value for f in form if isinstance(f, _Static)]
        raise TypeError(
            f"call_jax: an argument is not hashable: {static}; expected trees of tensors, arrays and hashable leaves"
        ) from None
    if leased is None:
        called = _Called(entry.target, *key)
        leased = entry.leases[key] = FunctionLease(called, entry.target), called
        if len(entry.leases) > _MOST:
            entry.leases.popitem(last=False)
    else:
        entry.leases.move_to_end(key)
    return leased


# Under torch.compile


def _in_graph(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`call_jax` as one node of the graph that Dynamo captures."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    form = tuple([None if isinstance(x, torch.Tensor) else x for x in leaves])
    avals = tuple([(tuple(x.shape), x.dtype) if isinstance(x, torch.Tensor) else None for x in leaves])
    places = pytree.tree_unflatten(list(range(len(leaves))), spec)
    number, order, returned = _signature(function, places, form, avals)
    results = torch.ops.tenax.call.default(number, [leaves[i] for i in order])
    return _built(returned, results)


def _signature(function: Callable[..., Any], places: Any, form: tuple[Any, ...], avals: tuple[Any, ...]) -> Any:
    """The constants of a call: the number of its function, the order of its tensors, and the tree of result indices.

    `places` is the tree of arguments with leaf indices as leaves. `form` holds the non-tensor leaves, by index.
    """
    leaf_places, tree = jax.tree.flatten(places)
    order = [i for i in leaf_places if avals[i] is not None]
    lease, called = _leased(function, tree, tuple(None if avals[i] else _Static(form[i]) for i in leaf_places))
    empty_results(called, [torch.empty(avals[i][0], dtype=avals[i][1], device="meta") for i in order])
    returned = called.returned[tuple((avals[i][0], numpy_dtype(avals[i][1])) for i in order)]
    return lease.number, order, _plan(jax.tree.unflatten(returned, range(returned.num_leaves)))


def _plan(tree: Any) -> Any:
    """Convert a tree of numbers to nested tuples, the only trees that Dynamo treats as constants.

    Raises:
        NotImplementedError: the tree has nodes that are not dicts, lists or tuples.
    """
    if tree is None or type(tree) is int:
        return tree
    if type(tree) is dict:
        return "dict", tuple(tree), tuple(map(_plan, tree.values()))
    if type(tree) in (list, tuple):
        return type(tree).__name__, (), tuple(map(_plan, tree))
    raise NotImplementedError(
        f"call_jax: a function that returns {type(tree).__name__}, under torch.compile; expected dicts, lists, tuples"
    )


def _built(plan: Any, results: list[torch.Tensor]) -> Any:
    if plan is None or isinstance(plan, int):
        return None if plan is None else results[plan]
    kind, keys, parts = plan
    values = [_built(p, results) for p in parts]
    if kind == "dict":
        return dict(zip(keys, values, strict=True))
    return values if kind == "list" else tuple(values)


assume_constant(_signature)
