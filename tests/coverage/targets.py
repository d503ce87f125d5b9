"""Targets: whether programs compile for a device that need not exist. Nothing is run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from unittest import mock

import torch
from torch.utils import _pytree as pytree

from .outcome import UnsuitableError, blame
from .samples import Sample


def is_target(device: str) -> bool:
    """Whether a device is one of those that `tenax.target` knows."""
    from tenax.planning.chips import CHIPS

    return device.partition(":")[0] in CHIPS


def compile_sample(target: str, program: Callable[[Sample], Any], sample: Sample) -> None:
    """Compile the program of a sample; raises like `compile_step`."""
    moved = sample.on("jax")
    given = list({id(t): t for t in moved.tensors() if t.device.type == "jax"}.values())

    def step(*arguments: torch.Tensor) -> list[torch.Tensor]:
        places = {id(t): argument for t, argument in zip(given, arguments, strict=True)}
        leaves = pytree.tree_leaves(program(moved.map(lambda t: places.get(id(t), t))))
        return [leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor)]

    compile_step(target, step, *given)


def compile_step(target: str, step: Callable[..., Any], *arguments: torch.Tensor) -> None:
    """Compile a step.

    Raises:
        UnsuitableError: the program depends on values, or is refused because the platform lacks something.
        Exception: what the target's compiler raises.
    """
    import tenax
    from tenax.errors import TraceError

    # torch's databases wrap random operators so that each call sets a seed, which is no part of a program.
    seeds = mock.patch.object(torch, "manual_seed")
    states = mock.patch("torch.testing._utils.freeze_rng_state", nullcontext)
    try:
        with seeds, states:
            tenax.compile_for(step, *arguments, target=target)
    except (NotImplementedError, TraceError) as error:
        raise UnsuitableError(blame(error)) from error
