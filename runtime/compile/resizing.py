"""Interpolation stays one node of a graph, forward and backward, if its sizes are known.

While torch traces a graph, Python functions take the place of these operators above autograd, and compute them by
indexing. Their gradients are then scatters, which XLA's CPU backend computes element by element; the lowerings use
slices and matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from tenax.generated.table import ROWS

from .._torch import pytree
from .._torch.dispatcher import AUTOGRAD, COMPOSITE_IMPLICIT, kernel_on, key_of_name

_OPERATORS = [name for name in ROWS if "upsample" in name and "backward" not in name and "." not in name]


@cache
def keep_whole() -> None:
    """Let graphs of tensors of the device call the operators themselves."""
    for operator in (getattr(torch.ops.aten, name, None) for name in _OPERATORS):
        if operator is None:  # this release of torch does not have it
            continue
        for overload, key in ((operator.vec, COMPOSITE_IMPLICIT), (operator.default, AUTOGRAD)):
            overload.py_impl(key_of_name("AutogradPrivateUse1"))(_whole_if_known(overload, key))


def _whole_if_known(overload: Any, key: Any) -> Callable[..., Any]:
    kernel = kernel_on(overload, key)
    decomposed = overload.py_kernels.get(AUTOGRAD, kernel)

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = pytree.tree_leaves((args, kwargs))
        sizes = [n for x in leaves for n in (x.size() if isinstance(x, torch.Tensor) else (x,))]
        unknown = any(isinstance(n, (torch.SymInt, torch.SymFloat)) for n in sizes)
        return (decomposed if unknown else kernel)(*args, **kwargs)  # torch's C++ kernels want numbers

    return call
