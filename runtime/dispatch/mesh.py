"""Programs on a mesh or on a device other than the first, and the errors for arrays on different devices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from .._jax import ArrayImpl
from ..storage.ordinals import jax_devices
from ..storage.placement import no_jax_trace
from ..storage.spec import Operand
from .signature import Signature


def describe_sharding(sharding: Any) -> str:
    """A sharding as text: spec, mesh and devices."""
    devices = device_ids(sharding)
    consecutive = len(devices) > 1 and devices == [*range(devices[0], devices[0] + len(devices))]
    shown = f"{devices[0]}..{devices[-1]}" if consecutive else str(devices)
    if not isinstance(sharding, NamedSharding):
        return f"{type(sharding).__name__} on devices {shown}"
    sizes = ", ".join(f"{name}={size}" for name, size in sharding.mesh.shape.items())
    return f"{sharding.spec} on mesh ({sizes}) of devices {shown}"


@functools.lru_cache(maxsize=256)
def device_ids(sharding: Any) -> list[int]:
    """The devices of a sharding, in its order."""
    if isinstance(sharding, NamedSharding):
        return [d.id for d in sharding.mesh.devices.flat]
    return sorted(d.id for d in sharding.device_set)


def check_devices(signature: Signature, parts: Iterable[Any]) -> None:
    """Raise if arguments are on different devices, or on the same ones in another order.

    Raises:
        RuntimeError: torch's error for operands on different devices, with the names, specs and meshes of two.
    """
    first: tuple[str, Any] | None = None
    for name, sharding in _shardings(signature, parts):
        if first is None:
            first = name, sharding
        elif device_ids(sharding) != device_ids(first[1]):
            raise RuntimeError(
                f"{signature.name}: Expected all tensors to be on the same device, but {first[0]} is "
                f"{describe_sharding(first[1])}, and {name} is {describe_sharding(sharding)}; expected one mesh. Move "
                f"one of them: tenax.shard({name}, spec, tenax.sharding_of({first[0]}).mesh)"
            )


def _shardings(signature: Signature, parts: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for slot, part in zip(signature.arguments, parts, strict=False):
        for operand in part if part.__class__ is tuple else (part,):
            if operand.__class__ is Operand and operand.base.sharding is not None:
                yield slot.name, operand.base.sharding


Program = Callable[..., Any]


def guarded(signature: Signature, parts: Sequence[Any]) -> Callable[[Program], Program]:
    """Return a wrapper that gives a program on a mesh torch's error for an array that is committed to one device.

    JAX moves uncommitted arrays to the mesh. Whether an array is committed is not in the key of the program.
    """
    mesh = next(_shardings(signature, parts))
    names = _operand_names(signature, parts)

    def surround(run: Program) -> Program:
        @functools.wraps(run.__wrapped__)  # type: ignore[attr-defined]
        def call(*operands: Any) -> Any:
            try:
                return run(*operands)
            except ValueError as error:
                arrays = [(i, x) for i, x in enumerate(operands) if isinstance(x, ArrayImpl)]
                placed = [i for i, x in arrays if x.committed and x.sharding.num_devices == 1]
                if "incompatible devices" not in str(error) or not placed:
                    raise
                name, device = names[placed[0]], operands[placed[0]].device
            raise RuntimeError(
                f"{signature.name}: Expected all tensors to be on the same device, but {mesh[0]} is "
                f"{describe_sharding(mesh[1])}, and {name} was placed on {device} by jax.device_put. Move it to the "
                f"mesh: tenax.shard({name}, P(), tenax.sharding_of({mesh[0]}).mesh)"
            )

        return call

    return surround


def on_device(index: int) -> Callable[[Program], Program]:
    """Return a wrapper that runs a program on `jax:index`, even if no operand is there, and within `jax.set_mesh`."""

    def surround(run: Program) -> Program:
        @functools.wraps(run.__wrapped__)  # type: ignore[attr-defined]
        def call(*operands: Any) -> Any:
            if not no_jax_trace():
                return run(*operands)
            free = jax.sharding.get_abstract_mesh().empty
            with jax.default_device(jax_devices()[index]), nullcontext() if free else jax.set_mesh(_NO_MESH):
                return jax.device_put(run(*operands), jax_devices()[index])  # committed, as all arrays of that device

        return call

    return surround


_NO_MESH = Mesh(np.empty((), object), ())


def _operand_names(signature: Signature, parts: Iterable[Any]) -> list[str]:
    """The name of the argument to which each operand belongs."""
    names: list[str] = []
    for slot, part in zip(signature.arguments, parts, strict=False):
        if slot.kind in ("tensor", "number"):
            names.append(slot.name)
        elif slot.kind in ("tensors", "numbers"):
            names += [slot.name] * len(part or ())
    return names
