"""The signature, dispatcher and kernel of each row of the generated table, each created once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from tenax.generated.table import ROWS

from ..dispatch.dispatcher import Dispatcher
from ..dispatch.fast_path import specialize
from ..dispatch.signature import Signature


@cache
def signature_of(name: str) -> Signature:
    """The signature of a row of the table.

    Raises:
        KeyError: there is no such row.
    """
    signature = Signature(name, ROWS[name])
    row = signature.row
    if row.prepare:
        signature.prepare = _imported_when_called(lambda: function(row.prepare[0])(signature, *row.prepare[1:]))
    if row.results:
        signature.correct = _imported_when_called(lambda: function(row.results))
    signature.rewrite_expanded = _rewrite_expanded
    return signature


def _imported_when_called(find: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """A function whose module is imported when it is first called, because few programs need it."""
    found = cache(find)
    return lambda *args, **kwargs: found()(*args, **kwargs)


def function(path: str) -> Any:
    """The function of this package that a spec names: `module.function`."""
    module, _, name = path.partition(".")
    return getattr(import_module(f"{__package__}.{module}"), name)


def guarded(signature: Signature, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, called after the check by a function that the spec names, if it names one."""
    if not signature.row.guard:
        return kernel
    from .argument_checks import checked

    return checked(signature, function(signature.row.guard[0]), kernel)


def _rewrite_expanded(signature: Signature, values: Any) -> Callable[..., Any]:
    from .expanded import rewritten

    return rewritten(signature, values)


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
    kernel = specialize(dispatcher)
    if not dispatcher.signature.row.guard:
        return kernel
    return _imported_when_called(lambda: guarded(dispatcher.signature, kernel))
