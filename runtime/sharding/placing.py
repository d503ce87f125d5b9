"""`tenax.shard` places tensors and modules on a mesh, `tenax.sharding.initialize` creates modules there in one program,
and `tenax.sharding_of` returns their placement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch
from jax.sharding import Mesh, NamedSharding
from torch import nn

from ..dispatch.jax_call import call, function_number
from ..dispatch.opaque_composite import is_traced
from ..dtypes import numpy_dtype
from ..functional.pure import run_pure
from ..storage import random
from ..storage.avals import aval_of
from ..storage.cell import Cell
from ..storage.layout import axes_in_memory, lay_out, permuted
from ..storage.placement import pinned, without_explicit_axes
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of, new_tensor
from ..trace.core import current_trace
from ..trace.data_swaps import swap
from ..trace.transfer import from_jax, overwrite, read
from .current import chosen_mesh
from .rules import Rules, named_sharding, named_tensors, shardings_of


def shard(x: Any, spec: Any, mesh: Mesh | None = None) -> Any:
    """Place a tensor or a module on a mesh of devices.

    - For a tensor, the result is a new one with the same values, sharded by the spec. Within a compiled program this is
      a sharding constraint. It is differentiable. A CPU tensor is uploaded shard by shard.
    - A leaf that requires a gradient, such as a parameter, is moved in place and returned, so that optimizers keep it.
    - A module is moved in place with all its parameters and buffers, and returned. Tied tensors stay tied. Tensors on
      the device "meta" are created in shards by `reset_parameters` of their modules, so that no device holds the whole.

    Args:
        x: a tensor on device "jax" or "cpu", or a module.
        spec: for a tensor, a `PartitionSpec` or a `NamedSharding`. For a module, rules: a mapping from name patterns
            (see `fnmatch`) to specs, of which the first match counts, a function `(name, tensor) -> spec`, or a preset
            of `tenax.sharding`. Tensors that no rule matches are replicated.
        mesh: a mesh of JAX; by default that of `tenax.mesh` or `jax.set_mesh`.

    Raises:
        ValueError: there is no mesh; the mesh lacks an axis; the spec does not divide a dimension.
        TypeError: a module on the device "meta" has tensors that none of its modules initialises.
    """
    if isinstance(spec, NamedSharding):
        mesh, spec = spec.mesh, spec.spec  # type: ignore[assignment]
    mesh = chosen_mesh(mesh, "tenax.shard")
    if isinstance(x, nn.Module):
        return _shard_module(x, spec, mesh)
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"tenax.shard: got a {type(x).__name__}; expected a tensor or a module")
    sharding = named_sharding("a tensor", x.shape, spec, mesh)
    if x.device.type == "cpu":
        return _from_host(x, sharding)
    if x.device.type == NAME and is_traced([x]):
        return _constrained(x, without_explicit_axes(sharding))
    moved = x if x.requires_grad and x.is_leaf and current_trace() is None else x.clone()
    if not lay_out(moved, sharding):
        raise ValueError(
            f"tenax.shard: a parameter of shape {[*x.shape]} that is a part of its storage; clone it first"
        )
    return moved


def _constrained(x: torch.Tensor, sharding: NamedSharding) -> torch.Tensor:
    """A sharding constraint, of the result and its gradient, as one op of the graph that torch traces."""
    number = function_number(("shard", sharding), lambda: lambda array: (pinned(array, sharding),))
    return call(number, [x])[0]


def _from_host(tensor: torch.Tensor, sharding: NamedSharding) -> torch.Tensor:
    """Upload a host tensor to the devices of a sharding."""
    moved = empty(tensor.shape, tensor.dtype, sharding)
    if tensor.requires_grad:
        return moved.copy_(tensor)  # so that autograd records a copy
    overwrite(moved, tensor)
    return moved


def empty(size: Any, dtype: torch.dtype, sharding: NamedSharding) -> torch.Tensor:
    """A contiguous tensor on a mesh, whose array is created when it is first read."""
    like = Cell(aval_of(tuple(size), numpy_dtype(dtype), sharding).zeros)
    return new_tensor(like, size, dtype)


def _shard_module(module: nn.Module, rules: Rules, mesh: Mesh) -> nn.Module:
    placed = shardings_of(module, rules, mesh)
    placed |= {id(t.grad): placed[id(t)] for _, t, _ in named_tensors(module) if t.grad is not None}
    new = {id(t): t for _, t, _ in named_tensors(module) if t.device.type == "meta"}
    makers = _initialisers(module, {*new})

    def move(tensor: torch.Tensor) -> torch.Tensor:
        sharding = placed.get(id(tensor))
        if sharding is None:  # `Module._apply` first tries the conversion on an empty tensor
            return tensor.to(NAME)
        if tensor.device.type == NAME:
            if not lay_out(tensor, sharding):
                raise ValueError(f"tenax.shard: a tensor of shape {[*tensor.shape]} is a part of its storage; clone it")
            return tensor
        return _from_host(tensor.detach(), sharding)

    for tensor in new.values():
        give_values(tensor, empty(tensor.shape, tensor.dtype, placed[id(tensor)]))
    module._apply(move)
    with torch.no_grad():
        for maker in makers:
            maker.reset_parameters()  # type: ignore[operator]
    return module


def _initialisers(module: nn.Module, new: set[int]) -> list[nn.Module]:
    """The modules whose `reset_parameters` initialises the tensors in `new`."""
    makers: list[nn.Module] = []
    for name, owner in module.named_modules():
        own = {id(t): n for n, t in (*owner._parameters.items(), *owner._buffers.items()) if t is not None}
        if not new & own.keys():
            continue
        if not callable(getattr(owner, "reset_parameters", None)):
            missing = ", ".join(own[i] for i in own if i in new)
            raise TypeError(
                f"tenax.shard: {missing} of {name or 'the module'} ({type(owner).__name__}) is on the device 'meta', "
                "and the module has no reset_parameters; expected tenax.sharding.initialize(build, rules, mesh)"
            )
        makers.append(owner)
    return makers


def initialize(build: Callable[[], nn.Module], rules: Rules, mesh: Mesh | None = None) -> nn.Module:
    """Build a module whose tensors are created in the shards that the rules specify, so that no device holds the whole.

    The constructor runs twice: on the device "meta", and as one program on the mesh, with the random numbers that an
    eager construction on device "jax" would draw.

    Args:
        build: creates the module on torch's default device.
        rules: see `tenax.shard`.
        mesh: a mesh of JAX; by default that of `tenax.mesh` or `jax.set_mesh`.

    Raises:
        TraceError: the constructor reads the value of a tensor.
        ValueError: as in `tenax.shard`.
    """
    mesh = chosen_mesh(mesh, "tenax.sharding.initialize")
    with torch.device("meta"):
        module = build()
    shardings = [*shardings_of(module, rules, mesh).values()]
    seed, offset = end = random.state()

    def position() -> tuple[int, int]:
        draws = random.drawing.stream.draws
        return random.state() if draws is None else (seed, offset + draws)

    def draw(generator: torch.Generator | None) -> Any:
        if generator is not None:
            return random.draw_key(generator)
        random.advance()
        return random.key_at(*position())

    def make() -> list[torch.Tensor]:
        nonlocal end
        with torch.device(NAME):
            made = [tensor.detach() for _, tensor, _ in named_tensors(build())]
        end = position()
        return made

    arrays = jax.jit(lambda: run_pure(make, (), {}, draw), out_shardings=shardings)()
    random.restore(end)
    for (_, tensor, _), array in zip(named_tensors(module), arrays, strict=True):
        give_values(tensor, from_jax(array))
    return module


def give_values(tensor: torch.Tensor, made: torch.Tensor) -> None:
    """Replace a tensor on the "meta" device by another, in the same Python object, so that tied tensors stay tied."""
    swap(tensor, made.requires_grad_(tensor.requires_grad))


def sharding_of(x: Any) -> Any:
    """The sharding of a tensor, or of the tensors of a module.

    Returns:
        The `jax.sharding.Sharding` of a tensor's axes; while tracing, None for tensors that the program computes. For a
        module, a dict from names to shardings.

    Raises:
        TypeError: it is neither a tensor on device "jax" nor a module.
    """
    if isinstance(x, nn.Module):
        return {name: sharding_of(t) for name, t in (*x.named_parameters(), *x.named_buffers())}
    if not isinstance(x, torch.Tensor) or x.device.type != NAME:
        raise TypeError(
            f"tenax.sharding_of: got a {type(x).__name__}; expected a tensor of device {NAME!r} or a module"
        )
    cell = cell_of(x)
    order, sharding = axes_in_memory(cell, TensorSpec.of(x)), cell.aval.sharding
    if order is not None and isinstance(sharding, NamedSharding):
        return without_explicit_axes(permuted(sharding, tuple(np.argsort(order).tolist())))
    array = read(x)
    return None if isinstance(array, jax.core.Tracer) else array.sharding
