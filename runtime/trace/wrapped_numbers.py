"""Symbolic numbers that torch wraps in tensors.

In `x * n`, torch passes C++ a 0-d tensor of the CPU for the number `n`. A kernel in Python receives the number itself,
but C++ that computes with that tensor computes with a value that torch made up. It does so where `x` is a tensor of the
CPU, and where a batching rule of `torch.func.vmap` converts the tensor to another dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from .._torch import NAME
from .._torch.modes import TorchDispatchMode
from .._torch.operators import TO_COPY
from .core import SYMBOLIC_TYPES, current_trace


class WrappedNumbers(TorchDispatchMode):
    """Gives operations the values of symbolic numbers: on the device as tensors, and on the CPU as Python numbers."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call an operator.

        Raises:
            TraceError: it is an operation on the CPU, and the value of a number is unknown.
        """
        kwargs = kwargs or {}
        if func is TO_COPY and type(args[0]) in SYMBOLIC_TYPES:
            number: Any = args[0]
            return torch.full((), number, dtype=kwargs.get("dtype"), device=NAME)
        if computes_on_host(args, kwargs, only=True):
            args, kwargs = [_known(x) for x in args], {k: _known(x) for k, x in kwargs.items()}
        return func(*args, **kwargs)


def computes_on_host(args: Sequence[Any], kwargs: Mapping[str, Any], only: bool = False) -> bool:
    """Whether arguments include a symbolic number and a tensor of the CPU; with `only`, no other tensor."""
    values = [*args, *kwargs.values()] if kwargs else args
    if not any(type(x) in SYMBOLIC_TYPES for x in values):
        return False
    on_host = [x.device.type == "cpu" for x in values if isinstance(x, torch.Tensor)]
    return bool(on_host) and (all if only else any)(on_host)


def _known(value: Any) -> Any:
    """The value of a symbolic number; other arguments as they are."""
    kind = SYMBOLIC_TYPES.get(type(value))
    return value if kind is None else kind(value)


def batching_numbers(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The beginning of a level of `torch.func.vmap`, which in a trace keeps the values of numbers."""

    @contextmanager
    def nesting(*args: Any, **kwargs: Any) -> Iterator[int]:
        with plain(*args, **kwargs) as level:
            if current_trace() is None:
                yield level
            else:
                with WrappedNumbers():
                    yield level

    return nesting
