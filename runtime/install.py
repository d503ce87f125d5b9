"""The composition root: assembles the layers and connects the parts that are loaded on first use.

`import tenax`, which a bare `import torch` may run, calls `install`. Without importing JAX, it registers the device
with torch and replaces what a program may call before its first device tensor. Once any library imports JAX, JAX's
functions accept device tensors and torch's functions accept JAX arrays. The first device tensor registers every
operator (`aten.registration`) and replaces the rest; the first sparse operation registers the sparse layouts.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from typing import Any

from . import patches
from ._torch import NAME, late_modules
from ._torch.device import PRIVATE_USE_1, pin_in_host_memory, use_meta_allocator
from .aten import registration
from .device import backend, entry
from .device.after_import import after_import
from .releases import check_release

_installed = False

# Third-party modules that choose a device by a fixed list, and the module in tenax.integrations that adds this device.
_LIBRARIES = {
    "accelerate": "hugging_face",
    "transformers.training_args": "hugging_face",
    "lightning.fabric.connector": "lightning",
    "lightning.pytorch.trainer.connectors.accelerator_connector": "lightning",
    "lightning_fabric.connector": "lightning",
    "pytorch_lightning.trainer.connectors.accelerator_connector": "lightning",
}
# What follows the import of modules that torch may import lazily: a function is called, or a module replaces functions.
_CALLED = {
    late_modules.TRACE_RULES: ("_torch.frames", "skip_frames"),
    late_modules.OPTIMIZERS: ("_torch.frames", "keep_traced_counters"),
    "torch.distributed.distributed_c10d": ("device.process_groups", "register"),
    "torch.nn.attention.flex_attention": ("aten.flex_attention", "install"),
}
_DELEGATED = {
    late_modules.JAGGED_ATTENTION: "sparse.jagged",
    late_modules.RING_ATTENTION: "distributed.ring_attention",
    late_modules.INDUCTOR: "compile.delegates",
    late_modules.CAPTURE: "compile.delegates",
    ("safetensors.torch", "load_file"): "integrations.hugging_face",
}


def install() -> None:
    """Make JAX a torch device. Idempotent."""
    global _installed
    if _installed:
        return
    check_release("jax")
    if NAME != "jax":
        _call("device.naming", "check")
    _installed = True
    backend.install()
    pin_in_host_memory()
    if NAME == "tpu":
        _call("compat.torch_tpu", "install")
    registration.register_first()
    entry.install()
    patches.check_from_here()
    after_import("jax", _install_jax_protocols)
    for module, (part, name) in _CALLED.items():
        after_import(module, functools.partial(_call, part, name))
    for (module, names), part in _DELEGATED.items():
        after_import(module, functools.partial(patches.delegate, module, names, f"{__package__}.{part}"))
    for module, integration in _LIBRARIES.items():
        after_import(module, functools.partial(_call, f"integrations.{integration}", "install", module))
    registration.on_first_use(_install_rest)
    registration.on_missing_kernel(lambda: _call("sparse.layouts", "install", registration.library("aten")))


def _call(part: str, name: str, *arguments: Any) -> Any:
    return getattr(importlib.import_module(f"{__package__}.{part}"), name)(*arguments)


def _install_rest() -> None:
    """Replace what only tensors of the device need."""
    from ._torch import meta_kernels
    from .device import signals, storage_methods, tensor
    from .trace import autograd_engine, device_guard

    backend.set_guard_method(device_guard.method(PRIVATE_USE_1))
    use_meta_allocator()
    for part in (autograd_engine, storage_methods, tensor, signals):
        part.install()
    for cls in ("ScriptModule", "RecursiveScriptModule"):
        patches.delegate(f"torch.jit.{cls}", "save save_to_buffer", f"{__package__}.device.module_moves")
    _install_jax_protocols()
    for name in ("adam", "sgd"):
        patches.wrap(f"torch.optim.{name}._multi_tensor_{name}", _in_one_program)
    meta_kernels.call_without_dynamo()
    if os.environ.get("TENAX_LAZY") == "1":
        _call("_lazy.mode", "record_everywhere")


@functools.cache
def _install_jax_protocols() -> None:
    from .device import fork, jax_protocols

    jax_protocols.install()
    fork.install()


def _in_one_program(plain: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(plain)
    def step(*lists: Any, **options: Any) -> None:
        momentum = options.get("momentum")
        if type(momentum) in (int, float) and not momentum:  # already one operator; in a trace it may be a symbol
            return plain(*lists, **options)
        steps = importlib.import_module("tenax.aten.optimizer_steps")
        return getattr(steps, plain.__name__)(plain, *lists, **options)

    from ._torch.frames import trace_wrapped

    return trace_wrapped(step)
