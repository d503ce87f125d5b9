"""Collectives of process groups in traces: the ranks of a group are a named axis that the compiled program runs over.

A trace does not know its mesh; the axis exists only while the equations of the collective are traced. When the program
is compiled, the axes that it names determine which processes run it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

AXIS = "ranks of group "
_compilers: list[Callable[..., Any]] = []  # set by the package of process groups


def set_compiler(axes_among: Callable[..., Any], compiler: Callable[..., Any]) -> None:
    """Register the function that finds rank axes in a program, and the one that compiles the program."""
    _compilers[:] = axes_among, compiler


def axis_name(group: str) -> str:
    """The name of the axis of a group's ranks."""
    return AXIS + group


def compiler_of(jaxpr: Any) -> Callable[..., Any] | None:
    """The compiler for a program with collectives of process groups; None for other programs."""
    return _compilers[1] if _compilers and _compilers[0](jaxpr) else None
