"""The public names of torchax, implemented with tenax: `import tenax.compat.torchax as torchax`.

For scripts that import `torchax` itself, call `install()` or run `tenax run --torchax script.py`. The device is always
registered, so the functions that enable and disable torchax globally have no effect. `docs/migrating.md` has the table
of names. Importing this package adds the methods `torch`, `apply_jax`, `apply_jax_` and `shard_`, and the attribute
`_elem`, to `torch.Tensor`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import jax
import torch
from torch import nn

from ..._torch import NAME
from ...interop.functional_module import FunctionalModule
from ...trace.transfer import to_jax
from ..alias import LibraryFinder, Modules, rows
from . import amp as amp
from . import checkpoint as checkpoint
from . import config as config
from . import export as export
from . import interop as interop
from . import tensor as tensor
from . import train as train
from .checkpoint import load_checkpoint as load_checkpoint
from .checkpoint import save_checkpoint as save_checkpoint
from .interop import JittableModule
from .tensor import Environment, default_environment

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
    "install",
    "interop",
    "load_checkpoint",
    "save_checkpoint",
    "tensor",
    "to_xla",
    "train",
]


__version__ = VERSION = "0.0.14"  # the release of torchax whose names these are
_NAMES = """
flax: FlaxNNModule | .interop
ops.jaten: op _aten_convolution _aten_conv2d | .registration
ops.jlibrary: register_jax_composite register_torch_composite | .registration
ops.jtorch: register_function | .registration
ops.mappings: TORCH_DTYPE_TO_JAX JAX_DTYPE_TO_TORCH t2j j2t t2j_dtype j2t_dtype | .mappings
ops.op_base: register_function | .registration
ops.ops_registry: all_aten_ops all_torch_functions:all_aten_ops all_aten_jax_ops:all_aten_ops Operator
        register_torch_dispatch_op register_torch_function_op:register_torch_dispatch_op | .registration
types: TorchCallable TorchValue JaxCallable JaxValue | .conversion
util: partition merge | - | list comprehensions
view: View | .tensor
"""
_MODULES = Modules(__name__, "torchax", "torchax", rows("torchax", _NAMES))
sys.meta_path.insert(0, _MODULES)  # before folders that an earlier release left
__getattr__ = partial(_MODULES.get, __name__)
device_module = getattr(torch, NAME)


def install() -> None:
    """Make `import torchax` mean `tenax.compat.torchax`, in spawned processes as well.

    Raises:
        ImportError: torchax itself has been imported.
    """
    LibraryFinder("torchax", sys.modules[__name__], __version__).install()


def default_env() -> Environment:
    """The environment of the process; a context manager and decorator."""
    return default_environment


def enable_globally() -> Environment:
    """Do nothing: the device exists as soon as torch is imported."""
    return default_environment


def disable_globally() -> None:
    """Do nothing: tensors of other devices are never changed."""


def disable_temporarily() -> Any:
    """A context manager without effect."""
    return nullcontext()


def enable_accuracy_mode() -> None:
    """Compute float32 matrix products in full precision: `torch.set_float32_matmul_precision("highest")`."""
    torch.set_float32_matmul_precision("highest")


def enable_performance_mode() -> None:
    """Compute float32 matrix products as fast as possible: `torch.set_float32_matmul_precision("medium")`."""
    torch.set_float32_matmul_precision("medium")


def to_xla(tree: Any) -> Any:
    """Move the tensors of a tree to device "jax"."""
    return default_environment.to_xla(tree)


def extract_jax(
    module: nn.Module, env: Any = None, *, dedup_parameters: bool = True
) -> tuple[dict[str, jax.Array], Callable[..., Any]]:
    """Convert a module to `(state, function)`, where `function(state, args, kwargs=None, rng=None)` is pure.

    The state has parameters and buffers by name; tied tensors occur once, or without `dedup_parameters` by each name.
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
