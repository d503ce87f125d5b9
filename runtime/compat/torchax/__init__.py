"""The public names of torchax, implemented with tenax: `import tenax.compat.torchax as torchax`.

The device is always registered, so the functions that enable and disable torchax globally have no effect.
`docs/migrating.md` has the table of names. Importing this package adds the methods `torch`, `apply_jax`, `apply_jax_`
and `shard_` to `torch.Tensor`.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch import nn

from ...interop.functional_module import FunctionalModule
from ...trace.transfer import from_jax, to_jax
from . import amp as amp
from . import config as config
from . import export as export
from . import flax as flax
from . import interop as interop
from . import mesh_util as mesh_util
from . import tensor as tensor
from . import train as train
from .interop import JittableModule
from .tensor import Environment

__all__ = [
    "CompileOptions",
    "amp",
    "compile",
    "config",
    "default_env",
    "disable_globally",
    "disable_temporarily",
    "enable_accuracy_mode",
    "enable_globally",
    "enable_performance_mode",
    "export",
    "extract_jax",
    "flax",
    "interop",
    "load_checkpoint",
    "mesh_util",
    "save_checkpoint",
    "tensor",
    "to_xla",
    "train",
]

_environment = Environment()


def default_env() -> Environment:
    """The environment of the process; a context manager and decorator."""
    return _environment


def enable_globally() -> Environment:
    """Do nothing: the device exists as soon as torch is imported."""
    return _environment


def disable_globally() -> None:
    """Do nothing: tensors of other devices are never changed."""


def disable_temporarily() -> Any:
    """A context manager; tensors without a device are made on the CPU, also within an environment."""
    return _environment.left()


def enable_accuracy_mode() -> None:
    """Compute float32 matrix products in full precision: `torch.set_float32_matmul_precision("highest")`."""
    torch.set_float32_matmul_precision("highest")


def enable_performance_mode() -> None:
    """Compute float32 matrix products as fast as possible: `torch.set_float32_matmul_precision("medium")`."""
    torch.set_float32_matmul_precision("medium")


def to_xla(tree: Any) -> Any:
    """Move the tensors of a tree to device "jax"."""
    return _environment.to_xla(tree)


def extract_jax(
    module: nn.Module, env: Any = None, *, dedup_parameters: bool = True
) -> tuple[dict[str, jax.Array], Callable[..., Any]]:
    """Convert a module to `(state, function)`: `function(state, args, kwargs=None, rng=None)` is pure, of arrays.

    The state has parameters and buffers by name, tied tensors once or, without `dedup_parameters`, by each name.
    """
    pure = FunctionalModule(module)
    named = (
        *module.named_parameters(remove_duplicate=dedup_parameters),
        *module.named_buffers(remove_duplicate=dedup_parameters),
    )
    state = to_jax({k: v.detach() for k, v in named})

    def function(state: Any, args: Any, kwargs: Any = None, rng: Any = None) -> Any:
        return pure(state, tuple(args), kwargs or {}, rng)[0]

    return state, function


@dataclass
class CompileOptions:
    """Options of `compile`: the methods of a module to compile, arguments for `jax.jit`, and the compiler."""

    methods_to_compile: Sequence[str] = field(default_factory=lambda: ["forward"])
    jax_jit_kwargs: dict[str, Any] = field(default_factory=dict)
    mode: Literal["jax", "dynamo", "export"] = "jax"


def compile(fn: Any, options: CompileOptions | None = None) -> Any:  # noqa: A001 (torchax's name)
    """Compile a function or module to one XLA program per signature.

    Raises:
        NotImplementedError: mode "export"; expected `torch.export` and `tenax.export`.
    """
    options = options or CompileOptions()
    if options.mode == "dynamo":
        return torch.compile(fn, backend="tenax")
    if options.mode == "export":
        raise NotImplementedError('torchax.compile: mode "export"; expected torch.export.export and tenax.export')
    if not isinstance(fn, nn.Module):
        return interop.jax_jit(fn, kwargs_for_jax_jit=options.jax_jit_kwargs)
    compiled = JittableModule(fn, extra_jit_args=options.jax_jit_kwargs)
    for name in options.methods_to_compile:
        if name != "forward":
            compiled.make_jitted(name)
    return compiled


def save_checkpoint(state: Any, path: str, step: int | None = None) -> None:
    """Write a tree of tensors, arrays, numbers and strings with Orbax into the directory `path`.

    With a step it is a subdirectory for that step. What is there is replaced.

    Raises:
        ImportError: orbax-checkpoint is not installed.
    """
    place = path if step is None else os.path.join(path, str(step))
    with _checkpointer() as checkpointer:
        checkpointer.save(os.path.abspath(place), to_jax(state), force=True)


def load_checkpoint(path: str) -> Any:
    """Read the latest step of `save_checkpoint`, or a file of `torch.save`, with arrays as tensors of the device.

    Tuples, numbers and strings are what they were. A named tuple has its fields but not its class, and the keys of
    dicts are strings.

    Raises:
        FileNotFoundError: `path` has no checkpoint.
        ImportError: orbax-checkpoint is not installed.
    """
    if os.path.isfile(path):
        return to_xla(torch.load(path, map_location="cpu", weights_only=True))
    place = os.path.abspath(path)
    if not os.path.exists(os.path.join(place, "_METADATA")):
        steps = [name for name in os.listdir(place) if name.isdigit()]
        if not steps:
            raise FileNotFoundError(f"load_checkpoint: there is no checkpoint in {place}")
        place = os.path.join(place, max(steps, key=int))
    orbax = _orbax()
    with _checkpointer() as checkpointer:
        # Arrays are read to the host, so that loading does not require the devices that wrote the checkpoint.
        kinds = checkpointer.metadata(place).item_metadata.tree
        as_array, as_written = orbax.RestoreArgs(restore_type=np.ndarray), orbax.RestoreArgs()
        options = jax.tree.map(lambda k: as_array if type(k) is orbax.metadata.ArrayMetadata else as_written, kinds)
        loaded = checkpointer.restore(place, restore_args=options)
    return from_jax(jax.tree.map(lambda x: jnp.asarray(x, x.dtype) if isinstance(x, np.ndarray) else x, loaded))


def _checkpointer() -> Any:
    """A checkpointer that records which containers are tuples."""
    orbax = _orbax()
    # The class of this argument has no public name.
    options = inspect.signature(orbax.PyTreeCheckpointHandler).parameters["pytree_metadata_options"].default
    rich = dataclasses.replace(options, support_rich_types=True)
    return orbax.Checkpointer(orbax.PyTreeCheckpointHandler(pytree_metadata_options=rich))


def _orbax() -> Any:
    try:
        import orbax.checkpoint
    except ImportError as error:
        raise ImportError("orbax is not installed; expected: pip install orbax-checkpoint") from error
    return orbax.checkpoint
