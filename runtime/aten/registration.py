"""Registration of the kernels with torch's dispatcher, in three steps.

At import, only the few operators that can create a first tensor are registered. The first tensor imports JAX and
registers every row of the generated table, and the fallbacks, each of which takes torch milliseconds. When an operator
or a layout has no kernel, the parts that register more of them are loaded.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import torch

from .._torch import NAME

_KEY = "PrivateUse1"
_libraries: list[Any] = []
_shared: dict[str, Any] = {}  # libraries, by namespace
# Python kernels by operator and dispatch key, with whether they get the key set; overrides (overrides.py) replace them.
kernels: dict[tuple[str, str], tuple[Callable[..., Any], bool]] = {}
_lock = threading.RLock()
_thread = threading.local()  # `calls_again` while it calls an operator again
_complete = False
_first_use: list[Callable[[], None]] = []
_missing_kernel: list[Callable[[], None]] = []

_QUANTIZED = (torch.quint8, torch.qint8, torch.qint32, torch.quint4x2, torch.quint2x4)

# The first tensor is created by one of these, which take a device and have no composite kernel, or by a window's, whose
# composite kernel is wrong. C++ composites (full, arange, .to) call them too.
_FIRST = {
    _KEY: "empty.memory_format empty_strided kaiser_window kaiser_window.periodic kaiser_window.beta tril_indices "
    "triu_indices from_file _efficientzerotensor _empty_affine_quantized _empty_per_channel_affine_quantized "
    "_make_dep_token _cudnn_init_dropout_state",
    "SparsePrivateUse1": "empty.memory_format _sparse_coo_tensor_with_dims _sparse_coo_tensor_with_dims_and_tensors",
    "SparseCsrPrivateUse1": "empty.memory_format",
    "QuantizedPrivateUse1": "empty.memory_format empty_quantized _empty_affine_quantized "
    "_empty_per_channel_affine_quantized",
    "NestedTensorPrivateUse1": "_to_copy",
}


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
    """Register the operators that create the first tensor."""
    aten = library("aten")
    for key, names in _FIRST.items():
        for name in names.split():
            aten.impl(name, partial(_first, key, name), key)


def _first(key: str, name: str, *args: Any, **kwargs: Any) -> Any:
    packet, _, overload = name.partition(".")
    op = getattr(getattr(torch.ops.aten, packet), overload or "default")
    if _complete:
        return _fallback(key, op, *args, **kwargs)
    register_all()
    return op(*args, **kwargs)


def _parts_when_called(name: str) -> Callable[..., Any]:
    return lambda *args: import_module("tenax.dispatch.formula_composite").decomposition(name)(*args)


def _composite(name: str) -> Callable[..., Any]:
    """The kernel above autograd of a composite that stays whole."""
    from ..dispatch.opaque_composite import OpaqueComposite
    from .registry import guarded, signature_of

    of_wrappers: Any = None
    if name == "scaled_dot_product_attention":
        from .flash_attention import of_wrappers
    return guarded(signature_of(name), OpaqueComposite(signature_of(name), of_wrappers))


def _fallback(key: str, op: Any, *args: Any, **kwargs: Any) -> Any:
    """Handle a call of an operator without a kernel: register everything, and call it again."""
    if not getattr(_thread, "calls_again", False):
        _register_more()
        _thread.calls_again = True
        try:
            return op(*args, **kwargs)
        finally:
            _thread.calls_again = False
    if key != _KEY:
        raise _unsupported_layout(op, args, kwargs)
    from ..errors import no_lowering

    raise _unsupported(op.name().removeprefix("aten::")) or no_lowering(op.name())


def _unsupported(name: str) -> NotImplementedError | None:
    """The error for an operator that the specs exclude, with their reason."""
    from tenax.generated.table import UNSUPPORTED

    reason = UNSUPPORTED.get(name)
    return NotImplementedError(f"{name}: not supported on device {NAME!r}: {reason}") if reason else None


def _raises(name: str) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        error = _unsupported(name)
        assert error is not None
        raise error

    return kernel


def _register_more() -> None:
    with _lock:
        register_all()
        pending = _missing_kernel[:]
        _missing_kernel.clear()
        with _replacing_first():
            for register in pending:
                register()


@contextmanager
def _replacing_first() -> Iterator[None]:
    """A context in which the kernels of `register_first` are replaced, of which torch warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"[\s\S]*Overriding a previously registered kernel")
        yield


def _unsupported_layout(op: Any, args: Any, kwargs: Any) -> NotImplementedError:
    """The error for an operator without a kernel for a layout."""
    from .._torch.pytree import tree_leaves

    name = op.name().removeprefix("aten::")
    tensors = [leaf for leaf in tree_leaves([args, kwargs]) if isinstance(leaf, torch.Tensor)]
    if kwargs.get("dtype") in _QUANTIZED or any(t.is_quantized for t in tensors):
        return NotImplementedError(f"{name}: quantized tensors are not supported; use fake_quantize_*")
    layout = next((t.layout for t in tensors if t.layout is not torch.strided), kwargs.get("layout"))
    if layout in (None, torch.strided):
        reason = f"strided nested tensors are not supported on device {NAME!r}; use layout=torch.jagged"
    else:
        reason = f"not supported for layout {layout} on device {NAME!r}; convert with .to_dense()"
    return NotImplementedError(f"{name}: {reason}")


def register_all() -> None:
    """Register every lowering of the generated table and the operators that manage memory."""
    global _complete
    with _lock:
        if _complete:
            return
        import numpy

        drawn = numpy.random.get_state()  # importing JAX draws from it, possibly after the program has set its seeds
        from tenax.generated.table import ROWS, UNSUPPORTED

        from .._torch.dispatcher import has_kernel_on, operator_names
        from ..dispatch import formula_composite, process_settings
        from ..trace import data_swaps
        from . import autocast
        from .kernels import KERNELS
        from .registry import kernel_of, when_called

        numpy.random.set_state(drawn)
        process_settings.configure()
        for key in _FIRST:  # those of other layouts have a fallback too, whose error says what to do
            library("_").fallback(partial(_fallback, key), key)
        library("_").fallback(torch.library.fallthrough_kernel, f"Autocast{_KEY}")
        aten = library("aten")
        known = set(operator_names())  # in this torch release: the table covers several
        with _replacing_first():
            for name, row in ROWS.items():
                if "::" in name:
                    _register(name, when_called(partial(kernel_of, name)))  # of another library, which may be missing
                elif name not in KERNELS and f"aten::{name}" in known:
                    _register(f"aten::{name}", kernel_of(name))
                    if row.grad == "vjp" and row.form == "functional":
                        _register(f"aten::{name}", when_called(partial(_composite, name)), f"Autograd{_KEY}")
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
        with _replacing_first():  # last, because other threads then no longer wait for this one
            for name, kernel in KERNELS.items():
                aten.impl(name, kernel, _KEY)
        _complete = True
