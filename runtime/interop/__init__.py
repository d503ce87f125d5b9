"""`tenax.interop`: torch functions and modules as pure JAX functions, and JAX functions and modules in torch.

`t2j` and `j2t` convert in the two directions. `functional` is for JAX programs; `call_jax`, `from_flax`, `from_nnx` and
`from_equinox` are for torch programs; `checkpoint` is for both. `docs/interop.md` states the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls import call_jax as call_jax
    from .convert import j2t as j2t
    from .convert import t2j as t2j
    from .functional_module import functional as functional
    from .modules import from_equinox as from_equinox
    from .modules import from_flax as from_flax
    from .modules import from_nnx as from_nnx
    from .remat import checkpoint as checkpoint

_LAZY = {
    "call_jax": "calls",
    "checkpoint": "remat",
    "from_equinox": "modules",
    "from_flax": "modules",
    "from_nnx": "modules",
    "functional": "functional_module",
    "j2t": "convert",
    "t2j": "convert",
}

__all__ = ["call_jax", "checkpoint", "from_equinox", "from_flax", "from_nnx", "functional", "j2t", "t2j"]


def __getattr__(name: str) -> Any:
    import importlib

    from ..aten.registration import register_all

    if name not in _LAZY:
        raise AttributeError(f"module 'tenax.interop' has no attribute {name!r}")
    register_all()
    value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value
