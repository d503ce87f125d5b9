"""Collectives of process groups in traces: the ranks of a group are an axis, which the compiled program runs over.

A trace does not know its mesh: the axis exists for the equations of the collective alone. When the trace is compiled,
the axes that it names say which processes run the program.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from .._jax import named_axes

AXIS = "ranks of group "
_compilers: list[Callable[..., Any]] = []  # of the package of process groups


def set_compiler(axes_among: Callable[..., Any], compiler: Callable[..., Any]) -> None:
    """Say what finds such axes in a program, and what compiles it."""
    _compilers[:] = axes_among, compiler


def axis_name(group: str) -> str:
    """The axis of the ranks of a group."""
    return AXIS + group


def over_ranks(axis: str, size: int) -> AbstractContextManager[Any]:
    """A context in which collectives over the axis may be traced."""
    return named_axes([(axis, size)])


def compiler_of(jaxpr: Any) -> Callable[..., Any] | None:
    """What compiles a program, if it has collectives of process groups."""
    return _compilers[1] if _compilers and _compilers[0](jaxpr) else None
