"""Create models directly in shards by one program, for those that torch cannot initialise from the "meta" device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import torch
from jax.sharding import Mesh
from torch import nn

from .._torch import NAME
from ..functional.pure import run_pure
from ..storage import random
from ..trace.data_swaps import swap
from ..trace.transfer import from_jax
from .checks import named_sharding
from .current import chosen_mesh
from .rules import Rules, spec_of


def initialize(build: Callable[[], nn.Module], rules: Rules, mesh: Mesh | None = None) -> nn.Module:
    """Build a module whose tensors are created in the shards that the rules specify, so that no device holds the whole.

    The constructor runs twice: on the device "meta", and as one program on the mesh, with the random numbers that an
    eager construction on device "jax" would draw.

    Args:
        build: creates the module on torch's default device.
        rules: see `tenax.shard`.
        mesh: a mesh of JAX; by default that of `tenax.mesh` or `jax.set_mesh`.

    Raises:
        TraceError: the constructor reads the value of a tensor.
        ValueError: as in `tenax.shard`.
    """
    mesh = chosen_mesh(mesh, "tenax.sharding.initialize")
    with torch.device("meta"):
        module = build()
    tensors = named_tensors(module)
    shardings = [
        named_sharding(name, tensor.shape, spec_of(rules, name, tensor, owner, mesh), mesh)
        for name, tensor, owner in tensors
    ]
    seed, offset = end = random.state()

    def position() -> tuple[int, int]:
        draws = random.drawing.stream.draws
        return random.state() if draws is None else (seed, offset + draws)

    def draw(generator: torch.Generator | None) -> Any:
        if generator is not None:
            return random.draw_key(generator)
        random.advance()
        return random.key_at(*position())

    def make() -> list[torch.Tensor]:
        nonlocal end
        with torch.device(NAME):
            made = [tensor.detach() for _, tensor, _ in named_tensors(build())]
        end = position()
        return made

    arrays = jax.jit(lambda: run_pure(make, (), {}, draw), out_shardings=shardings)()
    random.restore(end)
    for (_, tensor, _), array in zip(tensors, arrays, strict=True):
        give_values(tensor, from_jax(array))
    return module


def give_values(tensor: torch.Tensor, made: torch.Tensor) -> None:
    """Replace a tensor on the "meta" device by another, in the same Python object, so that tied tensors stay tied."""
    swap(tensor, made.requires_grad_(tensor.requires_grad))


def named_tensors(module: nn.Module) -> list[tuple[str, torch.Tensor, nn.Module]]:
    """The parameters and buffers of a module, each once, with its name and the module that owns it."""
    found: dict[int, tuple[str, torch.Tensor, nn.Module]] = {}
    for prefix, owner in module.named_modules():
        for own, tensor in (*owner._parameters.items(), *owner._buffers.items()):
            if tensor is not None:
                found.setdefault(id(tensor), (f"{prefix}.{own}" if prefix else own, tensor, owner))
    return [*found.values()]
