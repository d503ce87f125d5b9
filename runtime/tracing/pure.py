"""A torch program as a pure function of JAX arrays, for every transformation of JAX."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..device import random
from ..device.convert import from_jax, to_jax
from ..errors import TraceError
from .answers import answered
from .apart import Detaching, Pure
from .custom import intercepted
from .trace import at_line, current, tracing
from .trees import known

Draw = Callable[[torch.Generator | None], Any]


def run(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], draw: Draw) -> Any:
    """What a torch function gives for trees of JAX arrays, as a tree of JAX arrays.

    The arrays, NumPy's too, become tensors of the device, also where they are tracers; a result that is a tensor
    becomes its array.
    `draw` gives the key data of each random operation.

    Raises:
        TraceError: the function writes a tensor from outside, or needs the value of one that JAX traces.
        NotImplementedError: an array has symbolic dimensions, as under `jax.export`.
    """
    trace, state = Pure(draw), random.state()
    try:
        with tracing(trace), intercepted(), answered(), _uncompiled(), torch.enable_grad():
            args, kwargs = from_jax(jax.tree.map(_array, (args, kwargs)))
            with Detaching() as mode:
                results = function(*args, **kwargs)
            mode.verify(results)
            return to_jax(known(results))
    finally:
        trace.lose()
        random.restore(state)


def _uncompiled() -> Any:
    """Functions of `torch.compile` run as they are written: Dynamo cannot begin under a torch function mode."""
    loaded = "torch._dynamo" in sys.modules
    return torch.compiler.set_stance("force_eager") if loaded else contextlib.nullcontext()


def _array(leaf: Any) -> Any:
    if isinstance(leaf, jax.core.Tracer) and not all(isinstance(n, int) for n in leaf.shape):
        raise NotImplementedError(
            f"an argument of shape {leaf.shape}, which has symbolic dimensions: tensors have sizes; expected a program "
            "of torch.export with dynamic_shapes, and tenax.export.to_exported"
        )
    return jnp.asarray(leaf, leaf.dtype) if isinstance(leaf, np.ndarray) else leaf


def no_draw(generator: torch.Generator | None) -> Any:
    """For a function without a source of randomness.

    Raises:
        TraceError: always.
    """
    raise TraceError(
        f"a random operation in a pure function without a key{at_line()}: pass one (rng=jax.random.key(0)), or switch "
        "to eval mode. A number drawn while JAX traces would be the same in every call"
    )


def draws(key: jax.Array) -> Draw:
    """The random operations of one run draw from a JAX key, each from a number of its own folded in."""
    start = random.state()

    def draw(generator: torch.Generator | None) -> jax.Array:
        # Counted by the device's stream: what is computed again (torch.utils.checkpoint) sets it back.
        seed, offset = random.advance()
        if seed != start[0] or offset <= start[1]:
            raise TraceError(
                f"torch.manual_seed in a pure function{at_line()}: its random operations draw from the key"
            )
        mine = jax.random.fold_in(key, offset - start[1])
        data = jax.random.key_data(mine)
        return data if data.shape == (2,) else jax.random.bits(mine, (2,), jnp.uint32)  # lowerings use threefry

    return draw


def inherited() -> jax.Array | None:
    """A key for a run within the current one, drawn from its source; None where it has none."""
    trace = current()
    if trace is None or trace.draw is no_draw:
        return None
    return jax.random.wrap_key_data(trace.draw(None))
