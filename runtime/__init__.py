"""tenax: JAX as a PyTorch device, and PyTorch as JAX functions.

`import tenax` registers the device "jax" with torch and little more: JAX is imported with the first tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if __name__ != "tenax":
    raise ImportError(f"this package is imported as tenax, not as {__name__}; expected: import tenax")

from .device.backend import register as _register
from .device.backend import synchronize as synchronize
from .device.tensor import Tensor as Tensor

if TYPE_CHECKING:
    from . import debug as debug
    from . import interop as interop
    from . import profiler as profiler
    from .device.convert import from_jax as from_jax
    from .device.convert import to_jax as to_jax
    from .dispatch.lowering import register_lowering as register_lowering
    from .dispatch.settings import compilation_cache as compilation_cache
    from .interop.calls import call_jax as call_jax
    from .interop.scan import ScannedModule as ScannedModule
    from .lift.buckets import bucket as bucket
    from .lift.buckets import pad as pad
    from .lift.explanation import explain as explain
    from .lift.jitted import jit as jit

__version__ = "0.1.0"

# What needs JAX is imported when first asked for.
_LAZY = {
    "ScannedModule": "interop.scan",
    "bucket": "lift.buckets",
    "call_jax": "interop.calls",
    "compilation_cache": "dispatch.settings",
    "from_jax": "device.convert",
    "explain": "lift.explanation",
    "jit": "lift.jitted",
    "pad": "lift.buckets",
    "register_lowering": "dispatch.lowering",
    "to_jax": "device.convert",
}

_MODULES = ("debug", "interop", "profiler")

__all__ = [
    "ScannedModule",
    "Tensor",
    "bucket",
    "call_jax",
    "compilation_cache",
    "debug",
    "explain",
    "from_jax",
    "interop",
    "jit",
    "pad",
    "profiler",
    "register_lowering",
    "synchronize",
    "to_jax",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        from .dispatch.register import register_all

        register_all()
        value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'tenax' has no attribute {name!r}")


_register()
