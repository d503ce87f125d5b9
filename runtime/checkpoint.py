"""Checkpoints with Orbax: any objects with a `state_dict`, such as modules and optimizers, and the random states.

A checkpoint is a folder with arrays in Orbax's format, sharded or not, each under the path of its tensor, and a JSON
tree with references to the arrays and all other values. The tree contains checksums of the arrays and of itself,
because neither format detects a changed byte.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import jax
import numpy as np
import torch

from ._jax import uncommitted
from .aten.registration import register_all
from .dtypes import CARRIER, numpy_dtype, torch_dtype
from .storage.ordinals import NAME, jax_devices
from .storage.placement import sharding_of_array
from .storage.random import get_rng_state, set_rng_state
from .storage.tensors import cell_of, wrap
from .trace.transfer import array_index, checked_read, from_numpy, read

_TENSOR, _DICT, _TUPLE, _TORCH = "$tensor", "$dict", "$tuple", "$torch"
_RANDOM, _CHECKSUM = "$random", "$checksum"
_DEVICE = "jax"  # in a checkpoint, whatever the name of the device is in this process
_PLAIN = (str, int, float, bool, type(None))


def save(path: str | PathLike[str], state: Mapping[str, Any], *, overwrite: bool = False) -> None:
    """Write a checkpoint, including the random states of the device and of the CPU.

    Args:
        path: a folder that does not exist yet. It appears under this name only when it is complete.
        state: by name, objects with a `state_dict` (modules, optimizers, schedulers, scalers), tensors, numbers,
            strings, and trees of these. Sharded tensors are written by the processes that hold the shards.
        overwrite: replace an existing checkpoint at `path`.

    Raises:
        ImportError: orbax-checkpoint is missing.
        ValueError: `path` exists.
        TypeError: the state contains an unsupported value. The message states its path.
    """
    ocp = _orbax()
    writer = _Writer()
    states = {name: value.state_dict() if hasattr(value, "state_dict") else value for name, value in state.items()}
    states[_RANDOM] = {"cpu": torch.get_rng_state(), "jax": get_rng_state()}
    tree = {name: writer.encoded(value, name) for name, value in states.items()}
    tree[_CHECKSUM] = _tree_checksum(tree)
    arguments = ocp.args.Composite(arrays=ocp.args.StandardSave(writer.arrays), tree=ocp.args.JsonSave(tree))
    with ocp.Checkpointer(ocp.CompositeCheckpointHandler()) as checkpointer, jax.enable_x64(True):
        checkpointer.save(Path(path).absolute(), arguments, force=overwrite)


def load(path: str | PathLike[str], state: Mapping[str, Any]) -> dict[str, Any]:
    """Read a checkpoint into the objects of `state`, and restore the saved random states.

    A tensor gets the sharding of the tensor that it replaces; optimizer state gets the sharding of its parameter. A
    checkpoint can therefore be read on devices that differ from those that wrote it.

    Args:
        path: the folder that `save` wrote.
        state: as for `save`; objects with `load_state_dict` are loaded.

    Returns:
        The saved values of all other names, including names that `state` lacks.

    Raises:
        ImportError: orbax-checkpoint is missing.
        FileNotFoundError: there is no such folder.
        KeyError: the checkpoint lacks a name of `state`.
        RuntimeError: the checkpoint is corrupt. Nothing is loaded then.
    """
    ocp = _orbax()
    register_all()
    folder = Path(path).absolute()
    if not folder.is_dir():
        raise FileNotFoundError(f"tenax.checkpoint.load: {folder} is not a folder; expected one written by save")
    with ocp.Checkpointer(ocp.CompositeCheckpointHandler()) as checkpointer, jax.enable_x64(True):
        with _readable(folder):
            tree = checkpointer.restore(folder, ocp.args.Composite(tree=ocp.args.JsonRestore())).tree
            if tree.pop(_CHECKSUM, None) != _tree_checksum(tree):
                raise ValueError("the tree of values does not have the checksum that was saved")
        for name in state:
            if name not in tree:
                raise KeyError(f"{folder}: nothing was saved as {name!r}; expected one of {sorted(tree)}")
        targets = dict(_targets(state))
        targets_by_name = {t["name"]: _abstract(t, targets) for t in _tensors(tree) if "name" in t}
        restored = ocp.args.Composite(arrays=ocp.args.StandardRestore(targets_by_name))
        with _readable(folder):
            arrays = checkpointer.restore(folder, restored).arrays if targets_by_name else {}
            for tensor in _tensors(tree):
                if "crc32" in tensor and _checksum(arrays[tensor["name"]]) != tensor["crc32"]:
                    raise ValueError(f"the array {tensor['name']} does not have the checksum that was saved")
    values = {name: _decoded(value, arrays) for name, value in tree.items()}
    streams = values.pop(_RANDOM)
    rest = {}
    for name, value in values.items():
        if hasattr(state.get(name), "load_state_dict"):
            state[name].load_state_dict(value)
        else:
            rest[name] = value
    torch.set_rng_state(streams["cpu"])
    set_rng_state(streams["jax"])
    return rest


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    """Report any error as a corrupt checkpoint."""
    try:
        yield
    except Exception as error:
        raise RuntimeError(f"{folder}: corrupt checkpoint: {error}") from error


def _checksum(array: Any) -> int | None:
    """CRC-32 of an array's bytes; None if other processes hold parts of it."""
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        return None
    content: Any = np.ascontiguousarray(np.asarray(array)).reshape(-1).view(np.uint8)
    return zlib.crc32(content)


def _tree_checksum(tree: Any) -> int:
    return zlib.crc32(json.dumps(tree, sort_keys=True).encode())


def _orbax() -> Any:
    try:
        import orbax.checkpoint as ocp
    except ImportError:
        raise ImportError(
            "tenax.checkpoint: the package orbax-checkpoint is missing; expected pip install 'tenax[checkpoint]'"
        ) from None
    return ocp


class _Writer:
    """Encodes a tree as JSON and collects the arrays that it refers to."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}
        self.checksums: dict[str, int | None] = {}
        self.names: dict[Any, str] = {}  # tied tensors are written once

    def encoded(self, value: Any, path: str) -> Any:
        """Encode a part of the tree.

        Raises:
            TypeError: the value is not a tensor, number, string or tree.
        """
        if isinstance(value, torch.Tensor):
            return {_TENSOR: self.tensor(value.detach(), path)}
        if isinstance(value, Mapping):
            return {_DICT: [[self.encoded(k, path), self.encoded(v, f"{path}.{k}")] for k, v in value.items()]}
        if isinstance(value, (list, tuple)):
            parts = [self.encoded(v, f"{path}.{i}") for i, v in enumerate(value)]
            return parts if isinstance(value, list) else {_TUPLE: parts}
        if isinstance(value, torch.dtype):
            return {_TORCH: str(value).removeprefix("torch.")}
        if isinstance(value, _PLAIN):
            return value
        raise TypeError(
            f"tenax.checkpoint.save: {path} is a {type(value).__name__}; expected a tensor, a number, a string, or a "
            "tree of them"
        )

    def tensor(self, x: torch.Tensor, path: str) -> dict[str, Any]:
        """Describe a tensor in JSON and collect its array."""
        ours = x.device.type == NAME
        device = _DEVICE if ours else x.device.type
        like = {"device": device, "dtype": numpy_dtype(x.dtype).name, "shape": list(x.shape)}
        if not x.numel():  # Orbax has no empty arrays
            return like
        owner = cell_of(x) if ours else x.untyped_storage().data_ptr()
        key = owner, x.device, x.dtype, x.size(), x.stride(), x.storage_offset()
        name = self.names.setdefault(key, path)
        if name not in self.arrays:
            self.arrays[name] = checked_read(x) if ours else _host(x)
            self.checksums[name] = _checksum(self.arrays[name])
        checksum = self.checksums[name]
        return {"name": name, **like} | ({} if checksum is None else {"crc32": checksum})


def _host(x: torch.Tensor) -> np.ndarray:
    carrier = CARRIER.get(x.dtype)
    x = x.contiguous()
    return (x if carrier is None else x.view(carrier)).numpy().view(numpy_dtype(x.dtype))


def _tensors(tree: Any) -> Iterator[dict[str, Any]]:
    """The descriptions of tensors in a JSON tree."""
    if isinstance(tree, dict) and _TENSOR in tree:
        yield tree[_TENSOR]
    elif isinstance(tree, (dict, list)):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _tensors(part)


def _decoded(tree: Any, arrays: Mapping[str, Any]) -> Any:
    """Decode a JSON tree."""
    if isinstance(tree, list):
        return [_decoded(v, arrays) for v in tree]
    if not isinstance(tree, dict):
        return tree
    if _TENSOR in tree:
        description = tree[_TENSOR]
        if "name" not in description:
            device = NAME if description["device"] == _DEVICE else description["device"]
            return torch.empty(description["shape"], dtype=getattr(torch, description["dtype"]), device=device)
        array = arrays[description["name"]]
        if isinstance(array, np.ndarray):
            return from_numpy(array, torch_dtype(array.dtype))
        index = array_index(array)
        return wrap(array if index or sharding_of_array(array) is not None else uncommitted(array), index)
    if _DICT in tree:
        return {_key(_decoded(k, arrays)): _decoded(v, arrays) for k, v in tree[_DICT]}
    if _TUPLE in tree:
        return tuple(_decoded(v, arrays) for v in tree[_TUPLE])
    return getattr(torch, tree[_TORCH])


def _key(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


def _targets(state: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The current tensors of `state`, by the paths at which they would be saved."""

    def walk(value: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
        if isinstance(value, torch.Tensor):
            yield path, value
        elif isinstance(value, Mapping):
            for k, v in value.items():
                yield from walk(v, f"{path}.{k}")
        elif isinstance(value, (list, tuple)):
            for i, v in enumerate(value):
                yield from walk(v, f"{path}.{i}")

    for name, value in state.items():
        yield from walk(value.state_dict() if hasattr(value, "state_dict") else value, name)
        if isinstance(value, torch.optim.Optimizer):
            parameters = [p for group in value.param_groups for p in group["params"]]
            yield from ((f"{name}.state.{i}", p) for i, p in enumerate(parameters))


def _abstract(tensor: dict[str, Any], targets: Mapping[str, torch.Tensor]) -> Any:
    """The template from which Orbax restores an array: a host array, or a device array with its target's sharding."""
    shape, dtype = tuple(tensor["shape"]), jax.numpy.dtype(tensor["dtype"])
    if tensor["device"] != _DEVICE:
        return np.empty(shape, dtype)
    name = tensor["name"]
    target = targets.get(name, targets.get(name.rpartition(".")[0]))
    sharding: Any = jax.sharding.SingleDeviceSharding(jax_devices()[0])
    if target is not None and target.device.type == NAME:
        current = read(target).sharding
        fits = tuple(target.shape) == shape
        sharding = current if fits else jax.sharding.SingleDeviceSharding(jax_devices()[target.device.index or 0])
        if not fits and isinstance(current, jax.sharding.NamedSharding):
            sharding = jax.sharding.NamedSharding(current.mesh, jax.sharding.PartitionSpec())
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)
