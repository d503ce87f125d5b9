"""Which code is the program's own: only there does a function's state have to be followed into every corner.

What a library keeps in its classes seldom changes, and to guard it would take longer than a small model.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from typing import Any

# Libraries whose objects hold no state of a program.
_STATELESS = {"torch", "jax", "jaxlib", "numpy", "tenax", "torchgen", "sympy", "functools", *sys.stdlib_module_names}
_STATELESS -= {"__main__"}
# Modules of Python's library (or what these are without an underscore) that run a program and take what it writes.
_MACHINERY = {"builtins", "functools", "importlib", "io", "logging", "thread", "types", "warnings"}
_SITE_PACKAGES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})


def module_of(cls: type) -> str:
    """The name of the module of a class."""
    name: Any = cls.__module__
    return name if isinstance(name, str) else "builtins"  # a class of Cython's has a descriptor there


def may_hold_state(module: str | None) -> bool:
    """Whether objects of classes of a module may hold state of a program: also those of most libraries."""
    name = module or ""
    return name.partition(".")[0] not in _STATELESS or name.startswith("tenax.integrations.")  # trainers


def may_hold_state_in_python(module: str | None) -> bool:
    """Whether objects of a module of Python's library may hold state of a program."""
    package = (module or "").partition(".")[0]
    return package in sys.stdlib_module_names and package.lstrip("_") not in _MACHINERY


def has_state_of_programs(module: str | None) -> bool:
    """Whether objects of a part of torch are a program's own parameters, as those of distributions are."""
    return (module or "").startswith("torch.distributions")


def is_own(module: str | None) -> bool:
    """Whether a module is of the program, and not of a library that is installed."""
    return may_hold_state(module) and not _is_installed((module or "").partition(".")[0])


@functools.lru_cache(maxsize=1 << 10)
def _is_installed(package: str) -> bool:
    spec = getattr(sys.modules.get(package), "__spec__", None)
    locations = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(location.startswith(_SITE_PACKAGES) for location in locations)
