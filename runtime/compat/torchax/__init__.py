"""torchax's public names over tenax: `import tenax.compat.torchax as torchax`.

The device is always there, so what switches torchax on and off does nothing here. `docs/migrating.md` has the table of
names. Importing this gives `torch.Tensor` the methods `torch`, `apply_jax`, `apply_jax_` and `shard_`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch import nn

from ...device.convert import from_jax, to_jax
from ...interop.stateless import Pure
from . import amp as amp
from . import export as export
from . import flax as flax
from . import interop as interop
from . import tensor as tensor
from . import train as train
from .interop import JittableModule
from .tensor import Environment

__all__ = [
    "CompileOptions",
    "amp",
    "compile",
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
    "save_checkpoint",
    "tensor",
    "to_xla",
    "train",
]

_environment = Environment()


def default_env() -> Environment:
    """The one environment; a context manager that changes nothing."""
    return _environment


def enable_globally() -> Environment:
    """Nothing to enable: the device exists as soon as torch is imported."""
    return _environment


def disable_globally() -> None:
    """Nothing to disable: tensors of other devices are never touched."""


def disable_temporarily() -> Any:
    """A context manager that changes nothing."""
    return nullcontext()


def enable_accuracy_mode() -> None:
    """Matrix products of float32 in full precision: `torch.set_float32_matmul_precision("highest")`."""
    torch.set_float32_matmul_precision("highest")


def enable_performance_mode() -> None:
    """Matrix products of float32 as fast as the hardware can: `torch.set_float32_matmul_precision("medium")`."""
    torch.set_float32_matmul_precision("medium")


def to_xla(tree: Any) -> Any:
    """The tree with its tensors on device "jax"."""
    return _environment.to_xla(tree)


def extract_jax(module: nn.Module, env: Any = None) -> tuple[dict[str, jax.Array], Callable[..., Any]]:
    """A module as `(state, function)`: `function(state, args, kwargs=None, rng=None)` is pure and takes arrays."""
    pure = Pure(module)
    state = to_jax({k: v.detach() for k, v in (*module.named_parameters(), *module.named_buffers())})

    def function(state: Any, args: Any, kwargs: Any = None, rng: Any = None) -> Any:
        return pure(state, tuple(args), kwargs or {}, rng)[0]

    return state, function


@dataclass
class CompileOptions:
    """What `compile` is to do: which methods of a module, with which arguments of `jax.jit`, by which road."""

    methods_to_compile: Sequence[str] = field(default_factory=lambda: ["forward"])
    jax_jit_kwargs: dict[str, Any] = field(default_factory=dict)
    mode: Literal["jax", "dynamo", "export"] = "jax"


def compile(fn: Any, options: CompileOptions | None = None) -> Any:  # noqa: A001 (torchax's name)
    """A function or module as one XLA program for each signature.

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
    """Write a tree of tensors by orbax; into the directory `path`, or its part of that step.

    Raises:
        ImportError: orbax-checkpoint is not installed.
    """
    place = path if step is None else os.path.join(path, str(step))
    with _orbax().PyTreeCheckpointer() as checkpointer:
        checkpointer.save(os.path.abspath(place), to_jax(state))


def load_checkpoint(path: str) -> Any:
    """What `save_checkpoint` wrote, of the latest step, or a file of `torch.save`, as tensors of the device.

    Raises:
        FileNotFoundError: there is neither.
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
    with orbax.PyTreeCheckpointer() as checkpointer:
        # Read to the host, so that a checkpoint does not ask for the devices that it was written on.
        kinds = checkpointer.metadata(place).item_metadata.tree
        options = jax.tree.map(lambda _: orbax.RestoreArgs(restore_type=np.ndarray), kinds)
        arrays = checkpointer.restore(place, restore_args=options)
    return from_jax(jax.tree.map(lambda x: jnp.asarray(x, x.dtype), arrays))


def _orbax() -> Any:
    try:
        import orbax.checkpoint
    except ImportError as error:
        raise ImportError("orbax is not installed; expected: pip install orbax-checkpoint") from error
    return orbax.checkpoint
