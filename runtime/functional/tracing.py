"""One run of a torch function on tensors that wrap JAX tracers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .._torch.frames import is_dynamo_loaded
from ..trace.axes import between_explicit_axes
from ..trace.data_checks import patched_data_checks
from ..trace.tracing import tracing
from ..trace.transfer import from_jax, to_jax
from ..trace.wrapped_numbers import batched_numbers
from .detach import DetachMode, PureTrace
from .keys import DrawKey
from .pytrees import register_nodes


def trace_pure(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], draw: DrawKey) -> Any:
    """Run a function once; see `pure.run_pure`, which also handles `autograd.Function`."""
    trace = PureTrace(draw)
    try:
        with tracing(trace), patched_data_checks(), batched_numbers(), _without_dynamo(), torch.enable_grad():

            def run(given: Any) -> Any:
                args, kwargs = from_jax(given)
                with DetachMode() as mode:
                    results = function(*args, **kwargs)
                mode.verify(results)
                return to_jax(register_nodes(results))

            return between_explicit_axes(run, jax.tree.map(_as_array, (args, kwargs)))
    finally:
        trace.lose()


def _without_dynamo() -> Any:
    """A context that runs `torch.compile` functions uncompiled, because Dynamo cannot start under a function mode."""
    return torch.compiler.set_stance("force_eager") if is_dynamo_loaded() else contextlib.nullcontext()


def _as_array(leaf: Any) -> Any:
    if isinstance(leaf, jax.core.Tracer) and not all(isinstance(n, int) for n in leaf.shape):
        raise NotImplementedError(
            f"an argument of shape {leaf.shape}, which has symbolic dimensions: tensors have sizes; expected a program "
            "of torch.export with dynamic_shapes, and tenax.export.to_exported"
        )
    return jnp.asarray(leaf, leaf.dtype) if isinstance(leaf, np.ndarray) else leaf
