"""Puts arrays on a device: transfers host arrays, materialises fills, and copies with permuted axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from .._jax import ArrayImpl, direct_call, put_on_first_device, trace_state_clean
from .._torch.frames import set_eval_frame
from ..xla.memory import cached_until_eviction
from ..xla.stored import compile_or_load
from .avals import LazyFill
from .memory_errors import as_torch_error
from .ordinals import jax_devices


def sharding_of_array(array: Any) -> jax.sharding.Sharding | None:
    """The sharding of an array on several devices; None for one device, and for tracers."""
    if array.__class__ is not ArrayImpl:
        return None
    sharding: jax.sharding.Sharding = array.sharding
    return None if sharding.__class__ is SingleDeviceSharding or sharding.num_devices == 1 else sharding


def trimmed(spec: Iterable[Any]) -> PartitionSpec:
    """A spec without the axes at its end that are not split, as in results of XLA: JAX takes P("x", None) and P("x")
    for different types, and would compile a loop twice."""
    entries = [*spec]
    while entries and entries[-1] is None:
        entries.pop()
    return PartitionSpec(*entries)


def without_explicit_axes(sharding: Any) -> Any:
    """The sharding with automatic mesh axes: torch's operators do not define shardings for explicit ones."""
    if sharding.__class__ is not NamedSharding or AxisType.Explicit not in sharding.mesh.axis_types:
        return sharding
    mesh: Any = Mesh(sharding.mesh.devices, sharding.mesh.axis_names)
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding.memory_kind)


def device_of(index: int | None) -> jax.Device | None:
    """The device to which a new array of `jax:index` is committed; None if it stays uncommitted.

    Arrays of the first device are uncommitted, so that JAX moves them to the mesh of the arrays they are combined with.
    They are committed only if the user has set a default device.
    """
    default = jax.config.jax_default_device  # type: ignore[attr-defined, unused-ignore]
    return None if index is None or (index == 0 and default is None) else jax_devices()[index]


def put(array: np.ndarray, index: int | None, sharding: jax.sharding.Sharding | None = None) -> jax.Array:
    """Transfer a host array, which nothing else may write, to device `index`, or to the devices of a sharding.

    Its dtype is kept: outside `enable_x64` JAX would narrow 64-bit data. With index None, JAX's default device is used.
    """
    wide = array.dtype.itemsize >= 8 and array.dtype.name != "complex64"
    # Dynamo compiles the frames of Python functions between its graphs, but must not compile JAX's functions.
    watching = set_eval_frame(None)
    try:
        with jax.enable_x64(True) if wide else nullcontext():
            if not no_jax_trace():
                with jax.ensure_compile_time_eval():
                    return jax.device_put(array, sharding or device_of(index))
            if not index and sharding is None and device_of(0) is None and jax.sharding.get_abstract_mesh().empty:
                return put_on_first_device(array)
            return jax.device_put(array, sharding or device_of(index))
    except jax.errors.JaxRuntimeError as error:
        raise as_torch_error(error)  # noqa: B904 (it states its cause)
    finally:
        set_eval_frame(watching)


def moved(array: jax.Array, target: jax.sharding.Sharding | jax.Device) -> jax.Array:
    """The array on other devices, in memory of its own.

    `jax.device_put` shares the memory of a device that keeps its part, even with `may_alias=False`, and a program to
    which one of the two arrays is donated deletes the other as well.
    """
    new = SingleDeviceSharding(target) if isinstance(target, jax.Device) else target
    old = None if isinstance(array, jax.core.Tracer) else array.sharding
    if old and old.device_set & new.device_set and old.shard_shape(array.shape) == new.shard_shape(array.shape):
        array = jnp.array(array, copy=True)
    return jax.device_put(array, target)


no_jax_trace = trace_state_clean  # whether no JAX trace is active on this thread


_SMALL, _QUICKLY_FILLED = 1 << 16, 1 << 24  # bytes; up to the latter, the host fills faster than XLA compiles


def materialise(fill: LazyFill, index: int, shared: bool = True) -> jax.Array:
    """Create the array of a fill on device `index`. Arrays are immutable: small ones are created once, if `shared`."""
    aval = fill.aval
    if not no_jax_trace():
        value: Any = fill.value
        value = value.node.array.astype(aval.dtype) if hasattr(value, "node") else value  # a symbolic number
        return pinned(jax.lax.full(aval.shape, value, aval.dtype), aval.sharding)
    if aval.nbytes <= _SMALL and aval.sharding is None:
        return _constant(fill, repr(fill.value), index) if shared else fill_from_host(fill, index)
    device = device_of(index)
    if aval.nbytes <= _QUICKLY_FILLED and aval.sharding is None and (device or jax_devices()[0]).platform == "cpu":
        return _filled(aval.shape, aval.dtype, fill.value, device, partial(fill_from_host, fill, index))
    try:
        return jnp.full(aval.shape, fill.value, aval.dtype, device=aval.sharding or device)
    except jax.errors.JaxRuntimeError as error:
        raise as_torch_error(error)  # noqa: B904 (it states its cause)


_OFTEN = 16  # arrays of one shape, dtype and value; for fewer, a program would take longer than uploads
_MOST = 1 << 10  # entries; a full table is cleared

_made: dict[Any, Any] = {}  # the number of arrays uploaded so far, or the program that creates another


def _filled(
    shape: tuple[int, ...], dtype: np.dtype, value: Any, device: jax.Device | None, upload: Callable[[], jax.Array]
) -> jax.Array:
    """An array filled with one value. The first ones of a kind are uploaded, as are all for an explicit device."""
    if device is not None:
        return upload()
    key = shape, dtype, repr(value)  # 0.0 and -0.0 are equal
    found = _made.get(key, 0)
    if found.__class__ is not int:
        return found()
    if found < _OFTEN:
        if len(_made) >= _MOST:
            _made.clear()
        _made[key] = found + 1
        return upload()
    watching = set_eval_frame(None)  # torch must not compile JAX's functions
    try:
        with jax.enable_x64(True):
            lowered = jax.jit(lambda: jax.lax.full(shape, value, dtype)).lower()
            compiled = compile_or_load("a fill", lowered)
            execute, handlers = direct_call(compiled)
    finally:
        set_eval_frame(watching)
    program = _made[key] = lambda: execute([]).consume_with_handlers(handlers)[0]
    return program()


def fill_from_host(fill: LazyFill, index: int) -> jax.Array:
    """Create the array of a fill on the host: on the device, XLA would compile a program for each shape."""
    aval = fill.aval
    if aval.sharding is None:
        return put(np.full(aval.shape, fill.value, aval.dtype), index)
    shard = np.full(aval.sharding.shard_shape(aval.shape), fill.value, aval.dtype)
    return jax.make_array_from_callback(aval.shape, aval.sharding, lambda index: shard, dtype=aval.dtype)


def pinned(array: jax.Array, sharding: jax.sharding.Sharding | None) -> jax.Array:
    """Constrain a traced array to a sharding, if there is one."""
    return array if sharding is None else jax.lax.with_sharding_constraint(array, sharding)


@cached_until_eviction(1024)
def _constant(fill: LazyFill, text: str, index: int) -> jax.Array:
    """The array of a small fill. `text` distinguishes 0.0 from -0.0 and 1 from True, which compare equal."""
    return put(np.full(fill.aval.shape, fill.value, fill.aval.dtype), index)
