"""tenax: JAX as a PyTorch device, and PyTorch as JAX functions.

`import tenax` registers the device "jax" with torch; the first tensor imports JAX and registers the operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if __name__ != "tenax":
    raise ImportError(f"this package is imported as tenax, not as {__name__}; expected: import tenax")

from .install import install as _install

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
    from . import compat as compat
    from . import data as data
    from . import debug as debug
    from . import distributed as distributed
    from . import export as export
    from . import interop as interop
    from . import profiler as profiler
    from . import sharding as sharding
    from ._jit.buckets import bucket as bucket
    from ._jit.buckets import pad as pad
    from ._jit.explain import explain as explain
    from ._jit.jitted import jit as jit
    from ._lazy.mode import lazy as lazy
    from ._lazy.mode import sync as sync
    from .aten.custom_ops import register_lowering as register_lowering
    from .device.tensor import Tensor as Tensor
    from .device.torch_jax import synchronize as synchronize
    from .dispatch.process_settings import compilation_cache as compilation_cache
    from .dispatch.process_settings import precision as precision
    from .distributed.launch import launch as launch
    from .errors import CheckError as CheckError
    from .interop import j2t as j2t
    from .interop import t2j as t2j
    from .interop.calls import call_jax as call_jax
    from .interop.scan import ScannedModule as ScannedModule
    from .planning.programs import compile_for as compile_for
    from .planning.targets import target as target
    from .sharding.current import mesh as mesh
    from .sharding.placing import shard as shard
    from .sharding.placing import sharding_of as sharding_of
    from .sharding.visualize import visualize_sharding as visualize_sharding
    from .trace.transfer import from_jax as from_jax
    from .trace.transfer import to_jax as to_jax

__version__ = "0.1.0"

# Names that are imported on first access, by their modules; those of `device` do not need JAX.
_NAMES = {
    "_jit.buckets": "bucket pad",
    "_jit.explain": "explain",
    "_jit.jitted": "jit",
    "_lazy.mode": "lazy sync",
    "aten.custom_ops": "register_lowering",
    "device.tensor": "Tensor",
    "device.torch_jax": "synchronize",
    "dispatch.process_settings": "compilation_cache precision",
    "distributed.launch": "launch",
    "errors": "CheckError",
    "interop": "j2t t2j",
    "interop.calls": "call_jax",
    "interop.scan": "ScannedModule",
    "planning.programs": "compile_for",
    "planning.targets": "target",
    "sharding.current": "mesh",
    "sharding.placing": "shard sharding_of",
    "sharding.visualize": "visualize_sharding",
    "trace.transfer": "from_jax to_jax",
}
_LAZY = {name: module for module, names in _NAMES.items() for name in names.split()}

_MODULES = ("checkpoint", "compat", "data", "debug", "distributed", "export", "interop", "profiler", "sharding")

if not TYPE_CHECKING:  # for a type checker, which knows the names from above, every misspelt name would exist
    __all__ = sorted([*_LAZY, *_MODULES])

    def __getattr__(name: str) -> Any:
        import importlib

        if name in _LAZY:
            if not _LAZY[name].startswith("device."):
                from .aten.registration import register_all

                register_all()
            value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
            globals()[name] = value
            return value
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module 'tenax' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*__all__, "__version__"]


_install()
