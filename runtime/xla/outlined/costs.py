"""Estimates of what equations cost, which decide whether and how long a program runs outlined.

They depend on nothing but the program, so that it is the same call in every run of a user's program that is the first
to run the whole one.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

from jax.extend.core import Jaxpr, JaxprEqn

from ..equation_costs import iterations, multiplications, nested_jaxprs, shape_of

# Measured on two cores of a server, for training steps of language and vision models.
_COMPILED_WHOLE = 0.9e-3  # seconds to compile an operation of a large program
_COMPILED_APART = 0.6e-3  # the same with the options of first code
_PROGRAM = 15e-3  # seconds to trace, lower and compile a program without operations
_CALL = 30e-6  # seconds of a call
_ELEMENT = 1.5e-9  # seconds to compute an element
_PRODUCT = 5e-11  # seconds of a multiplication and addition in a product of matrices or a convolution


class Cost(NamedTuple):
    """What equations cost."""

    operations: int
    seconds: float  # of a run


def whole(operations: int) -> float:
    """The seconds to compile a large program."""
    return operations * _COMPILED_WHOLE


def apart(operations: int) -> float:
    """The seconds to compile a small program."""
    return _PROGRAM + operations * _COMPILED_APART


def call(seconds: float) -> float:
    """The seconds of a call of a program whose operations take some seconds."""
    return _CALL + seconds


def operations(jaxpr: Jaxpr) -> int:
    """The number of operations of a program."""
    return _total(jaxpr).operations


_totals: WeakKeyDictionary[Jaxpr, Cost] = WeakKeyDictionary()  # equations of equal layers call the same jaxpr


def _total(jaxpr: Jaxpr) -> Cost:
    total = _totals.get(jaxpr)
    if total is None:
        each = [cost(e) for e in jaxpr.eqns]
        total = _totals[jaxpr] = Cost(sum(c.operations for c in each), sum(c.seconds for c in each))
    return total


def cost(equation: JaxprEqn) -> Cost:
    """Estimate the cost of an equation; a loop is assumed to run as often as it says, and once if it does not say."""
    products = multiplications(equation)
    if products is not None:
        return Cost(1, products * _PRODUCT)
    nested = [_total(jaxpr) for jaxpr in nested_jaxprs(equation)]
    if any(c.operations for c in nested):
        return Cost(sum(c.operations for c in nested), iterations(equation) * sum(c.seconds for c in nested))
    return Cost(1, sum(math.prod(shape_of(v)) for v in equation.outvars) * _ELEMENT)
