"""The signature, dispatcher and kernel of each row of the generated table, each created once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

from tenax.generated.table import ROWS

from ..dispatch.dispatcher import Dispatcher
from ..dispatch.fast_path import specialize
from ..dispatch.signature import Signature

# Overloads whose results the lowering describes, because torch's Meta kernel must not be called.
_WITHOUT_META = {
    "_thnn_fused_lstm_cell",  # it asks absent biases for their device
    "baddbmm.dtype",  # the decomposition of torch 2.13 passes one argument in place of another
    "convolution_backward_overrideable",  # it only raises: backends override it
    "convolution_overrideable",
    "linear_backward",  # torch computes it for nested tensors and on Apple GPUs only
    "matmul_backward",
}


@cache
def signature_of(name: str) -> Signature:
    """The signature of a row of the table.

    Raises:
        KeyError: there is no such row.
    """
    row = ROWS[name]
    signature, writes = Signature(name, row), row.form != "functional"
    if row.prepare and (writes or not row.prepare[0].endswith("_out")):
        signature.prepare = when_called(lambda: function(row.prepare[0])(signature, *row.prepare[1:]))
    if row.results and (writes or not row.results.endswith("_out")):
        signature.correct = imported(row.results)
    if name in _WITHOUT_META:
        signature.has_meta = False
    signature.cpu_may_abort = "batch_norm" in name
    signature.rewrite_expanded = _rewrite_expanded
    return signature


def function(path: str) -> Any:
    """The function of this package that a spec names: `module.function`."""
    module, _, name = path.partition(".")
    return getattr(import_module(f"{__package__}.{module}"), name)


def when_called(find: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """The function that `find` returns, found by the first call: few programs need the module that it is in."""
    found = cache(find)
    return lambda *args, **kwargs: found()(*args, **kwargs)


def imported(path: str) -> Callable[..., Any]:
    """`function(path)`, whose module is imported by the first call."""
    return when_called(partial(function, path))


_rewrite_expanded = imported("expanded.rewritten")


def guarded(signature: Signature, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, called after the check by a function that the spec names, if it names one."""
    if not signature.row.guard:
        return kernel
    check = signature.row.guard[0]
    return when_called(lambda: function("argument_checks.checked")(signature, function(check), kernel))


@cache
def dispatcher_of(name: str) -> Dispatcher:
    """The dispatcher of a row of the table.

    Raises:
        KeyError: there is no such row.
    """
    return Dispatcher(signature_of(name))


@cache
def kernel_of(name: str) -> Callable[..., Any]:
    """The kernel that is registered with torch for a row of the table."""
    dispatcher = dispatcher_of(name)
    return guarded(dispatcher.signature, specialize(dispatcher))
