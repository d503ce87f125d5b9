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


def compiles(target: str, program: Callable[[Sample], Any], sample: Sample) -> str | None:
    """The error of the target's compiler for the program of a sample, or None; raises like `compiled`."""
    moved = sample.on("jax")
    given = list({id(t): t for t in moved.tensors()}.values())

    def step(*arguments: torch.Tensor) -> list[torch.Tensor]:
        places = {id(t): argument for t, argument in zip(given, arguments, strict=True)}
        leaves = pytree.tree_leaves(program(moved.map(lambda t: places[id(t)])))
        return [leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor)]

    return compiled(target, step, *given)


def compiled(target: str, step: Callable[..., Any], *arguments: torch.Tensor) -> str | None:
    """The error of a target's compiler for a step, or None.

    Raises:
        UnsuitableError: the program depends on values, or is refused because the platform lacks something.
    """
    import tenax
    from tenax.errors import TraceError

    # torch's databases wrap random operators so that each call sets a seed, which is no part of a program.
    seeds = mock.patch.object(torch, "manual_seed")
    states = mock.patch("torch.testing._utils.freeze_rng_state", nullcontext)
    try:
        with seeds, states:
            tenax.compile_for(step, *arguments, target=target)
    except UnsuitableError:
        raise
    except (NotImplementedError, TraceError) as error:
        raise UnsuitableError(blame(error)) from error
    except Exception as error:
        return blame(error)
    return None
