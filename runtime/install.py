"""The composition root: assembles the layers and connects the parts that are loaded on first use.

`import tenax` calls `install`, which registers the device with torch without importing JAX. Once any library imports
JAX, JAX's functions accept device tensors and torch's functions accept JAX arrays. The first device tensor registers
every operator (`aten.registration`); the first sparse operation registers the sparse layouts.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from typing import Any

from . import patches
from ._torch import frames, meta_kernels, tensors
from .aten import registration
from .device import (
    accelerator,
    after_import,
    allocator,
    backend,
    fork,
    generator,
    module_moves,
    process_groups,
    serialization,
    signals,
    storage_methods,
    tensor,
)
from .releases import check_release
from .trace import autograd_engine

_installed = False

# Third-party modules that choose a device by a fixed list, and the module in tenax.integrations that adds this device.
_LIBRARIES = {
    "accelerate": "hugging_face",
    "transformers.training_args": "hugging_face",
    "lightning.fabric.connector": "lightning",
    "lightning.pytorch.trainer.connectors.accelerator_connector": "lightning",
    "lightning_fabric.connector": "lightning",
    "pytorch_lightning.trainer.connectors.accelerator_connector": "lightning",
    "safetensors.torch": "safetensors",
}
_DELEGATED = (  # functions of modules that torch imports lazily, and the modules with tenax's replacements
    (*tensors.JAGGED_ATTENTION, "tenax.sparse.jagged"),
    (*tensors.RING_ATTENTION, "tenax.distributed.ring_attention"),
    (*frames.INDUCTOR, "tenax.compile.default_backend"),
)


def install() -> None:
    """Make "jax" a torch device. Idempotent."""
    global _installed
    if _installed:
        return
    check_release("jax")
    _installed = True
    backend.install()
    registration.register_first()
    storages = allocator, storage_methods, tensor, serialization
    for part in (autograd_engine, module_moves, *storages, generator, fork, accelerator, process_groups, signals):
        part.install()
    after_import.after_import("jax", _install_jax_protocols)
    after_import.after_import(frames.TRACE_RULES, frames.skip_frames)
    after_import.after_import(frames.OPTIMIZERS, frames.keep_traced_counters)
    after_import.after_import("torch.nn.attention.flex_attention", _install_flex_attention)
    for module, names, own in _DELEGATED:
        after_import.after_import(module, functools.partial(patches.delegate, module, names, own))
    for module, integration in _LIBRARIES.items():
        after_import.after_import(module, functools.partial(_integrate, integration, module))
    registration.on_first_use(_install_jax_protocols)
    registration.on_first_use(_install_optimizer_steps)
    registration.on_first_use(meta_kernels.call_without_dynamo)
    registration.on_missing_kernel(_register_sparse)
    if os.environ.get("TENAX_LAZY") == "1":
        registration.on_first_use(lambda: importlib.import_module("tenax._lazy.mode").record_everywhere())


@functools.cache
def _install_jax_protocols() -> None:
    from .device import array_protocol, jax_operand

    jax_operand.install()
    array_protocol.install()


def _install_optimizer_steps() -> None:
    for name in ("adam", "sgd"):
        patches.wrap(f"torch.optim.{name}._multi_tensor_{name}", _in_one_program)


def _in_one_program(plain: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(plain)
    def step(*lists: Any, **options: Any) -> None:
        momentum = options.get("momentum")
        if type(momentum) in (int, float) and not momentum:  # already one operator; in a trace it may be a symbol
            return plain(*lists, **options)
        steps = importlib.import_module("tenax.aten.optimizer_steps")
        return getattr(steps, plain.__name__)(plain, *lists, **options)

    return frames.trace_wrapped(step)


def _install_flex_attention() -> None:
    importlib.import_module("tenax.aten.flex_attention").install()


def _integrate(name: str, module: str) -> None:
    importlib.import_module(f"tenax.integrations.{name}").install(module)


def _register_sparse() -> None:
    importlib.import_module("tenax.sparse.layouts").install(registration.library("aten"))
