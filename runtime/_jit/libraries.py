"""Tells the program's own code, whose state must be followed completely, from that of libraries.

State that a library keeps in its classes seldom changes, and guarding it would take longer than running a small model.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from typing import Any

# Libraries whose objects hold no state of a program.
_STATELESS = {"torch", "jax", "jaxlib", "numpy", "tenax", "torchgen", "sympy", "functools", *sys.stdlib_module_names}
_STATELESS -= {"__main__"}
# Standard library modules (names without a leading underscore) that run programs or handle their output.
_MACHINERY = {"builtins", "functools", "importlib", "io", "logging", "thread", "types", "warnings"}
_SITE_PACKAGES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})


def module_of(cls: type) -> str:
    """The name of the module of a class."""
    name: Any = cls.__module__
    return name if isinstance(name, str) else "builtins"  # Cython classes have a descriptor there


def may_hold_state(module: str | None) -> bool:
    """Whether objects of a module's classes may hold state of a program; true for most libraries."""
    name = module or ""
    return name.partition(".")[0] not in _STATELESS or name.startswith("tenax.integrations.")  # trainers


def may_hold_state_in_objects(module: str | None) -> bool:
    """The same, also for the standard library, and for parts of torch whose objects hold parameters."""
    package = (module or "").partition(".")[0]
    in_python = package in sys.stdlib_module_names and package.lstrip("_") not in _MACHINERY
    return may_hold_state(module) or in_python or (module or "").startswith("torch.distributions")


def is_own(module: str | None) -> bool:
    """Whether a module belongs to the program rather than to an installed library."""
    return may_hold_state(module) and not _is_installed((module or "").partition(".")[0])


@functools.lru_cache(maxsize=1 << 10)
def _is_installed(package: str) -> bool:
    spec = getattr(sys.modules.get(package), "__spec__", None)
    locations = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(location.startswith(_SITE_PACKAGES) for location in locations)
