"""Fused optimizer kernels in a traced run: torch's accept only constant numbers, the lowerings accept arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import torch

from tenax.kernels import optim

from .. import patches
from ..storage.tensors import wrap
from ..trace.core import SYMBOLIC_TYPES
from ..trace.transfer import read
from .wrappers import local_part

_KERNELS = [name for name, f in vars(optim).items() if name.endswith("_") and callable(f) and hasattr(torch, name)]


@contextlib.contextmanager
def fused_steps_take_inputs() -> Iterator[None]:
    """Make torch's fused kernels accept numbers whose values are unknown while tracing."""
    with contextlib.ExitStack() as undo:
        for name in _KERNELS:
            undo.enter_context(patches.temporarily(f"torch.{name}", _taking_inputs(name)))
        yield


def _taking_inputs(name: str) -> Callable[..., None]:
    plain, lowering = getattr(torch, name), getattr(optim, name)

    def step(*lists: Any, **options: Any) -> None:
        if not any(type(x) in SYMBOLIC_TYPES for x in options.values()):
            plain(*lists, **options)
            return
        lists = tuple([local_part(t, like) for t, like in zip(x, lists[0], strict=False)] for x in lists)  # some are []
        arrays = [[read(t) for t in tensors] for tensors in lists]
        with jax.enable_x64(True):
            news = lowering(*arrays, **{key: _operand(x) for key, x in options.items()})
        for tensors, before, after in zip(lists, arrays, news, strict=False):  # the step counts come last
            for tensor, old, new in zip(tensors, before, after, strict=True):
                if new is not old:
                    tensor.copy_(wrap(new, tensor.device.index or 0))

    return step


def _operand(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return read(value)
    return value.node.array if type(value) in SYMBOLIC_TYPES else value
