"""Collectives of process groups in traces: the ranks of a group are an axis, which the compiled program runs over.

A trace does not know its mesh: the axis exists for the equations of the collective alone. When the trace is compiled,
the axes that it names say which processes run the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from .._jax import NamedAxisEffect, named_axes

_AXIS = "ranks of group "
_compilers: list[Callable[..., Any]] = []  # of the package of process groups


def set_compiler(compiler: Callable[..., Any]) -> None:
    """Say what compiles programs with such axes."""
    _compilers[:] = [compiler]


def axis_name(group: str) -> str:
    """The axis of the ranks of a group."""
    return _AXIS + group


def over_ranks(axis: str, size: int) -> AbstractContextManager[Any]:
    """A context in which collectives over the axis may be traced."""
    return named_axes([(axis, size)])


def axes_among(effects: Iterable[Any]) -> list[str]:
    """The axes of groups that a program names by its effects."""
    return sorted(n for e in effects if isinstance(e, NamedAxisEffect) and (n := str(e.name)).startswith(_AXIS))


def compiler_of(effects: Iterable[Any]) -> Callable[..., Any] | None:
    """What compiles a program with such effects, if it has collectives of process groups."""
    return _compilers[0] if _compilers and axes_among(effects) else None
