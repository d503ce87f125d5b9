"""Registration of the kernels with torch's dispatcher, in two steps.

At import only the few ops through which a first tensor can come to be; the rest, with JAX and the generated table, when
that happens. `import torch` with tenax installed thus costs milliseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from ..errors import no_lowering

_KEY = "PrivateUse1"
_libraries: list[Any] = []
_overloads: dict[str, Any] = {}
_lock = threading.RLock()
_complete = False

# Keys of the layouts. Those without kernels have a fallback too: its error says what to do.
_LAYOUT_KEYS = ("SparsePrivateUse1", "SparseCsrPrivateUse1", "QuantizedPrivateUse1", "NestedTensorPrivateUse1")

# A first tensor comes from one of these; what is composite in C++ (full, arange, .to) goes through them too.
_FIRST = ("empty.memory_format", "empty_strided")


def _library(namespace: str, kind: str = "IMPL") -> Any:
    library = torch.library.Library(namespace, kind)
    _libraries.append(library)
    return library


def register_first() -> None:
    """Register what makes the first tensor."""
    library = _library("aten")
    for name in _FIRST:
        library.impl(name, _first(name), _KEY)
    _library("_").fallback(_fallback, _KEY)
    for key in _LAYOUT_KEYS:
        _library("_").fallback(_layout_fallback, key)
    _library("_").fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")


def _first(name: str) -> Callable[..., Any]:
    kernel: Callable[..., Any] | None = None

    def first(*args: Any, **kwargs: Any) -> Any:
        nonlocal kernel
        if kernel is None:
            register_all()
            from ..device.memory import KERNELS

            kernel = KERNELS[name]
        return kernel(*args, **kwargs)

    return first


def _later(name: str) -> Callable[..., Any]:
    """The kernel of an operator of a library, which may be imported after this, or never."""

    def later(*args: Any, **kwargs: Any) -> Any:
        return kernel_of(name)(*args, **kwargs)

    return later


def _fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Every op without a kernel comes here."""
    name = op.name()
    if not _complete:
        register_all()
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, _KEY):
            return op(*args, **kwargs)
    from tenax.generated.table import UNSUPPORTED

    short = name.removeprefix("aten::")
    if short in UNSUPPORTED:
        raise NotImplementedError(f"{short}: not supported on device 'jax': {UNSUPPORTED[short]}")
    raise no_lowering(name)


def _layout_fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Every op without a kernel of a layout other than strided comes here."""
    if not _complete:
        register_all()
        return op(*args, **kwargs)
    from ..sparse.layouts import unsupported

    raise unsupported(op, args, kwargs)


def register_all() -> None:
    """Register every lowering of the generated table and the memory ops."""
    global _complete
    with _lock:
        if _complete:
            return
        from tenax.generated.table import ROWS

        from ..device import moves
        from ..device.memory import KERNELS
        from ..interop import mixing, operand
        from ..sparse import layouts as sparse
        from . import autocast, call, flex, settings  # noqa: F401 (configures JAX's dtypes)
        from .whole import Whole

        library = _library("aten")
        for name, kernel in KERNELS.items():
            if name not in _FIRST:
                library.impl(name, kernel, _KEY)
        held = set(torch._C._dispatch_get_all_op_names())  # by this release of torch: the table serves several
        for name, row in ROWS.items():
            if "::" in name:
                _library(name.partition("::")[0]).impl(name.partition("::")[2], _later(name), _KEY)
                continue
            if name in KERNELS or f"aten::{name}" not in held:
                continue
            library.impl(name, kernel_of(name), _KEY)
            if row.grad and row.form == "functional":
                library.impl(name, Whole(overload(name, row)), f"Autograd{_KEY}")
        for key in ("Conjugate", "Negative"):
            # The schema of _copy_from has no alias mark: torch's fallback would write into a throw-away copy.
            library.impl("_copy_from", torch.library.fallthrough_kernel, key)
        moves.install(library)
        sparse.install(library)
        autocast.install(library)
        operand.install()
        mixing.install()
        flex.install()
        call.install(_library)
        _complete = True


@cache
def kernel_of(name: str) -> Callable[..., Any]:
    """What is registered for a row of the table."""
    from .specialize import specialize

    return specialize(overload(name))


def overload(name: str, row: Any = None) -> Any:
    """The `Overload` of a row of the table, made once.

    Raises:
        KeyError: there is no such row.
    """
    found = _overloads.get(name)
    if found is None:
        from .overload import Overload

        if row is None:
            from tenax.generated.table import ROWS

            row = ROWS[name]
        found = _overloads[name] = Overload(name, row)
    return found
