"""The programs of a case: written by hand, and in PyTorch under a compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import torch

import tenax

from .by_hand.training import train_step as train_step_by_hand
from .cases import Case, array, weights
from .decode import decode
from .training import finished, train_step

COMPILERS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "tenax": lambda f: tenax.jit(f),
    "compile": partial(torch.compile, backend="tenax"),
    "eager": lambda f: f,
}
TOKENS = 32


class Program(NamedTuple):
    """`call` runs it once, and waits for the result; `function` is what it calls, with `arguments`."""

    call: Callable[[], Any]
    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]


def by_hand(case: Case, name: str) -> Program:
    """The program `name` of a case, jitted; training and decoding donate what they replace."""
    torch.manual_seed(0)
    params, state = case.by_hand.from_torch(weights(case.module()))
    x, target = (array(t) for t in case.batch())
    if name == "forward":
        function = jax.jit(lambda params, state, x: case.by_hand.apply(params, state, x)[0])
        return Program(lambda: jax.block_until_ready(function(params, state, x)), function, lambda: (params, state, x))
    if name == "training step":
        optimizer = case.optax()
        function = train_step_by_hand(case.by_hand.apply, optimizer)
        held = (params, state, optimizer.init(params))

        def step() -> jax.Array:
            nonlocal held
            held, loss = function(held, x, target)
            return jax.block_until_ready(loss)

        return Program(step, function, lambda: (held, x, target))
    function = jax.jit(case.by_hand.step, donate_argnums=1)
    position = jnp.int32(0)

    def next_token(token: jax.Array, position: jax.Array) -> tuple[jax.Array, jax.Array]:
        nonlocal state
        result, state = function(params, state, token, position)
        return result

    return Program(
        lambda: jax.block_until_ready(decode(next_token, x, position, TOKENS)[-1]),
        function,
        lambda: (params, state, x, position),
    )


def in_torch(case: Case, name: str, compiler: str) -> Program:
    """The same of the PyTorch model on device jax, under one of `COMPILERS`.

    What does not train is called in the caller's grad mode.
    """
    torch.manual_seed(0)
    module = case.module().to("jax")
    x, target = (t.to("jax") for t in case.batch())
    if name == "training step":
        optimizer = case.optimizer(module.parameters())
        for group in optimizer.param_groups if compiler == "compile" else ():
            if "capturable" in group:  # its step counters on the device, as docs/compile.md asks
                group["capturable"] = True
        step = COMPILERS[compiler](train_step(module, optimizer))
        run: Callable[[], Any] = lambda: jax.block_until_ready(step(x, target).jax())  # noqa: E731
        return Program(run if compiler == "tenax" else finished(run, "jax"), step, lambda: (x, target))
    module.eval()
    function = COMPILERS[compiler](module)
    arguments = (x,) if name == "forward" else (x, target)

    def call() -> jax.Array:
        found = function(x) if name == "forward" else decode(function, x, target, TOKENS)[-1]
        return jax.block_until_ready(found.jax())

    return Program(call, function, lambda: arguments)
