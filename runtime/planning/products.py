"""The number of operations of the matrix products and convolutions in a program."""

from __future__ import annotations

from jax.extend.core import Jaxpr

from ..xla.equation_costs import iterations, multiplications, nested_jaxprs


def flops_of_products(jaxpr: Jaxpr) -> int:
    """Count two operations per multiply-add, including loops; a `while` loop of unknown length counts once.

    XLA's own count includes the body of every loop only once.
    """
    total = 0
    for equation in jaxpr.eqns:
        count = multiplications(equation)
        if count is None:
            total += iterations(equation) * sum(map(flops_of_products, nested_jaxprs(equation)))
        else:
            total += 2 * count
    return total
