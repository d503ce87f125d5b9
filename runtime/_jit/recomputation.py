"""`torch.utils.checkpoint` in a compiled backward pass: keeps what is recomputed apart from the forward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch.utils import checkpoint

from .. import patches
from ..trace.core import current_trace
from ..trace.tracing import Recomputation

_GENERATOR = "_checkpoint_without_reentrant_generator"


@contextmanager
def recomputing() -> Iterator[None]:
    """Separate what is recomputed from the forward pass, while a function is traced."""
    generator, backward = getattr(checkpoint, _GENERATOR), checkpoint.CheckpointFunction.backward

    def without_reentry(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return generator(_apart(function), *args, **kwargs)  # it calls the function in the backward pass only

    def with_reentry(ctx: Any, *gradients: Any) -> Any:
        ctx.run_function = _apart(ctx.run_function)
        return backward(ctx, *gradients)

    with ExitStack() as undo:
        undo.enter_context(patches.temporarily(f"torch.utils.checkpoint.{_GENERATOR}", without_reentry))
        path = "torch.utils.checkpoint.CheckpointFunction.backward"
        undo.enter_context(patches.temporarily(path, staticmethod(with_reentry)))
        yield


def _apart(function: Callable[..., Any]) -> Callable[..., Any]:
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        if trace is None:
            return function(*args, **kwargs)
        before, trace.recomputation = trace.recomputation, Recomputation(trace.latest)
        try:
            return function(*args, **kwargs)
        finally:
            trace.recomputation = before

    return recomputed
