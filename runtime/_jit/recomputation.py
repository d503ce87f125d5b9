"""`torch.utils.checkpoint` in a compiled backward pass: keeps what is recomputed apart from the forward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch.utils import checkpoint

from .. import patches
from ..trace.core import current_trace
from ..trace.tracing import Recomputation

_RUN = "_run_fn_with_dynamo_disabled"  # which recomputes, without reentry


@contextmanager
def recomputing() -> Iterator[None]:
    """Separate what is recomputed from the forward pass, while a function is traced."""
    run, backward = getattr(checkpoint, _RUN), checkpoint.CheckpointFunction.backward

    def without_reentry(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return run(_apart(function), *args, **kwargs)

    def with_reentry(ctx: Any, *gradients: Any) -> Any:
        ctx.run_function = _apart(ctx.run_function)
        return backward(ctx, *gradients)

    with ExitStack() as undo:
        undo.enter_context(patches.temporarily(f"torch.utils.checkpoint.{_RUN}", without_reentry))
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
