"""The signature, dispatcher and kernel of each row of the generated table, each created once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
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
    if signature.row.prepare:
        signature.prepare = _imported_when_called(lambda: _preparation(signature))
    if signature.row.results:
        signature.correct = _imported_when_called(lambda: _correction(signature))
    signature.rewrite_expanded = _rewrite_expanded
    return signature


def _imported_when_called(find: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """A function whose module is imported when it is first called, because few programs need it."""
    found = cache(find)
    return lambda *args, **kwargs: found()(*args, **kwargs)


def _preparation(signature: Signature) -> Any:
    from . import prepare

    return getattr(prepare, signature.row.prepare[0])(signature, *signature.row.prepare[1:])


def guarded(signature: Signature, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, called after the check that the spec names, if it names one."""
    if not signature.row.guard:
        return kernel
    from .guards import with_guard

    return with_guard(signature, kernel)


def _correction(signature: Signature) -> Any:
    from . import result_layouts

    if signature.row.results in result_layouts.OF_OUT and not signature.outs:
        return lambda _, outputs: outputs
    return getattr(result_layouts, signature.row.results)


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
