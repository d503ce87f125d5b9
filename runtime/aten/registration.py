"""Registration of the kernels with torch's dispatcher, in three steps.

At import, only the few operators that can create a first tensor are registered. The first tensor imports JAX and
registers every row of the generated table. When an operator or a layout has no kernel, the parts that register more of
them are loaded. `import torch` with tenax installed thus costs milliseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy
import torch

from .._torch.dispatcher import has_kernel_on, operator_names
from .._torch.pytree import tree_leaves
from ..errors import no_lowering

_KEY = "PrivateUse1"
_libraries: list[Any] = []
_shared: dict[str, Any] = {}  # libraries, by namespace
# Python kernels by operator and dispatch key, with whether they get the key set; overrides (overrides.py) replace them.
kernels: dict[tuple[str, str], tuple[Callable[..., Any], bool]] = {}
_lock = threading.RLock()
_complete = False
_first_use: list[Callable[[], None]] = []
_missing_kernel: list[Callable[[], None]] = []

# Dispatch keys of the other layouts. Those without kernels have a fallback too, whose error says what to do.
_LAYOUT_KEYS = ("SparsePrivateUse1", "SparseCsrPrivateUse1", "QuantizedPrivateUse1", "NestedTensorPrivateUse1")
_QUANTIZED = (torch.quint8, torch.qint8, torch.qint32, torch.quint4x2, torch.quint2x4)

# The first tensor is created by one of these; C++ composites (full, arange, .to) call them too, except a window's.
_FIRST = ("empty.memory_format", "empty_strided", "kaiser_window", "kaiser_window.periodic", "kaiser_window.beta")


def library(namespace: str, kind: str = "IMPL") -> Any:
    """A `torch.library.Library` that lives as long as the process."""
    made = torch.library.Library(namespace, kind)
    _libraries.append(made)
    return made


def _register(operator: str, kernel: Callable[..., Any], key: str = _KEY) -> None:
    """Register a kernel that an override may temporarily replace."""
    namespace, _, name = operator.partition("::")
    if namespace not in _shared:
        _shared[namespace] = library(namespace)
    _shared[namespace].impl(name, kernel, key)
    kernels[operator, key] = kernel, False


def on_first_use(install: Callable[[], None]) -> None:
    """Register a function to be called when the first tensor of the device is created."""
    _first_use.append(install)


def on_missing_kernel(register: Callable[[], None]) -> None:
    """Register a function to be called once, when an operator without a kernel is called: it may register one."""
    _missing_kernel.append(register)


def register_first() -> None:
    """Register the operators that create the first tensor, and the fallbacks."""
    aten = library("aten")
    for name in _FIRST:
        aten.impl(name, _first(name), _KEY)
    library("_").fallback(_fallback, _KEY)
    for key in _LAYOUT_KEYS:
        library("_").fallback(_layout_fallback, key)
    library("_").fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")


def _first(name: str) -> Callable[..., Any]:
    kernel: Callable[..., Any] | None = None

    def first(*args: Any, **kwargs: Any) -> Any:
        nonlocal kernel
        if kernel is None:
            register_all()
            from .kernels import KERNELS

            kernel = KERNELS.get(name) or _resolved_when_called(name)
        return kernel(*args, **kwargs)

    return first


def _resolved_when_called(name: str) -> Callable[..., Any]:
    """The kernel of an operator of another library, which may be imported later or never."""

    def call(*args: Any, **kwargs: Any) -> Any:
        from .registry import kernel_of

        return kernel_of(name)(*args, **kwargs)

    return call


def _parts_when_called(name: str) -> Callable[..., Any]:
    return lambda *args: getattr(import_module("tenax.dispatch.gradients_in_parts"), name)(*args)


def _composite_when_called(name: str) -> Callable[..., Any]:
    """The kernel above autograd of a composite that stays whole; created when it is first called."""
    kernel: Callable[..., Any] | None = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal kernel
        if kernel is None:
            from ..dispatch.opaque_composite import OpaqueComposite
            from .registry import guarded, signature_of

            of_wrappers = None
            if name == "scaled_dot_product_attention":
                from . import flash_attention

                of_wrappers = flash_attention.of_wrappers
            kernel = guarded(signature_of(name), OpaqueComposite(signature_of(name), of_wrappers))
        return kernel(*args, **kwargs)

    return call


def _fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Handle calls of operators without a kernel."""
    name = op.name()
    if _loads_more() and has_kernel_on(name, _KEY):
        return op(*args, **kwargs)
    raise _unsupported(name.removeprefix("aten::")) or no_lowering(name)


def _unsupported(name: str) -> NotImplementedError | None:
    """The error for an operator that the specs exclude, with their reason."""
    from tenax.generated.table import UNSUPPORTED

    reason = UNSUPPORTED.get(name)
    return NotImplementedError(f"{name}: not supported on device 'jax': {reason}") if reason else None


def _raises(name: str) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        error = _unsupported(name)
        assert error is not None
        raise error

    return kernel


def _layout_fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Handle calls of operators without a kernel for a layout other than strided."""
    if _loads_more():
        return op(*args, **kwargs)
    raise _unsupported_layout(op, args, kwargs)


def _loads_more() -> bool:
    """Register everything that is not registered yet; return whether there was anything."""
    with _lock:
        before = _complete
        register_all()
        pending = _missing_kernel[:]
        _missing_kernel.clear()
        for register in pending:
            register()
        return bool(pending) or not before


def _unsupported_layout(op: Any, args: Any, kwargs: Any) -> NotImplementedError:
    """The error for an operator without a kernel for a layout."""
    name = op.name().removeprefix("aten::")
    tensors = [leaf for leaf in tree_leaves([args, kwargs]) if isinstance(leaf, torch.Tensor)]
    if kwargs.get("dtype") in _QUANTIZED or any(t.is_quantized for t in tensors):
        return NotImplementedError(f"{name}: quantized tensors are not supported on device 'jax'; use fake_quantize_*")
    layout = next((t.layout for t in tensors if t.layout is not torch.strided), kwargs.get("layout"))
    if layout in (None, torch.strided):
        reason = "strided nested tensors are not supported on device 'jax'; use layout=torch.jagged"
    else:
        reason = f"not supported for layout {layout} on device 'jax'; convert with .to_dense()"
    return NotImplementedError(f"{name}: {reason}")


def register_all() -> None:
    """Register every lowering of the generated table and the operators that manage memory."""
    global _complete
    with _lock:
        if _complete:
            return
        drawn = numpy.random.get_state()  # importing JAX draws from it, possibly after the program has set its seeds
        from tenax.generated.table import ROWS, UNSUPPORTED

        from ..dispatch import formula_composite, jax_config
        from ..trace import data_swaps
        from . import autocast
        from .kernels import KERNELS
        from .registry import kernel_of

        numpy.random.set_state(drawn)
        jax_config.configure()
        aten = library("aten")
        for name, kernel in KERNELS.items():
            if name not in _FIRST:
                aten.impl(name, kernel, _KEY)
        known = set(operator_names())  # in this torch release: the table covers several
        for name, row in ROWS.items():
            if "::" in name:
                _register(name, _resolved_when_called(name))
                continue
            if name in KERNELS or name in _FIRST or f"aten::{name}" not in known:
                continue
            _register(f"aten::{name}", kernel_of(name))
            if row.grad == "vjp" and row.form == "functional":
                _register(f"aten::{name}", _composite_when_called(name), f"Autograd{_KEY}")
        for name, kernel in formula_composite.KERNELS.items():
            _register(f"aten::{name}", kernel, f"Autograd{_KEY}")
        for name in ("linear_backward", "matmul_backward", "_fused_rms_norm_backward"):  # torch.vmap has no rules
            _register(f"aten::{name}", _parts_when_called(name), "FuncTorchBatched")
        for name in UNSUPPORTED:  # torch may have a generic kernel, which would take precedence over the fallback
            if f"aten::{name}" in known and has_kernel_on(f"aten::{name}", "CompositeExplicitAutograd"):
                _register(f"aten::{name}", _raises(name))
        for key in ("Conjugate", "Negative"):
            # The schema of _copy_from has no alias annotation: torch's fallback would write into a temporary copy.
            aten.impl("_copy_from", torch.library.fallthrough_kernel, key)
        data_swaps.install(aten)
        autocast.install(aten)
        for install in _first_use:
            install()
        _complete = True
