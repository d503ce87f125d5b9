"""The random state of the device: a seed and a count of draws, from which the JAX key of every operation is derived.

Like torch's Philox generator on CUDA, the state is small, lives on the host, and is free to copy. Keys are threefry.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

_MASK = (1 << 32) - 1
_GOLDEN = 0x9E3779B97F4A7C15


class _State:
    seed = 0
    offset = 0


class _Drawing(threading.local):
    draw: Callable[[torch.Generator | None], Any] | None = None


drawing = _Drawing()  # while this thread traces, `draw` replaces `draw_key`


def manual_seed(seed: int) -> None:
    """Restart the device's stream from `seed`, any 64-bit int."""
    _State.seed = int(seed) & ((1 << 64) - 1)
    _State.offset = 0


def seed() -> int:
    """Seed the device's stream from the operating system, and return the seed."""
    value = secrets.randbits(63)
    manual_seed(value)
    return value


def initial_seed() -> int:
    """The seed in use."""
    return _State.seed


def get_rng_state(device: Any = "jax") -> torch.Tensor:
    """A CPU uint8 tensor of 16 bytes: seed and offset."""
    state = np.array([_State.seed, _State.offset], np.uint64)
    return torch.frombuffer(bytearray(state.tobytes()), dtype=torch.uint8)


def set_rng_state(state: torch.Tensor, device: Any = "jax") -> None:
    """Restore a state that `get_rng_state` returned.

    Raises:
        RuntimeError: the state is not a CPU uint8 tensor of 16 bytes.
    """
    if state.dtype != torch.uint8 or state.numel() != 16 or state.device.type != "cpu":
        raise RuntimeError(f"RNG state must be a CPU uint8 tensor of 16 bytes, got {state.dtype}{list(state.shape)}")
    _State.seed, _State.offset = (int(v) for v in np.frombuffer(bytes(state.tolist()), np.uint64))


def state() -> tuple[int, int]:
    """Seed and offset of the device's stream."""
    return _State.seed, _State.offset


def restore(state: tuple[int, int]) -> None:
    """Set seed and offset."""
    _State.seed, _State.offset = state


def advance() -> tuple[int, int]:
    """Count one draw, and return seed and offset after it."""
    _State.offset += 1
    return _State.seed, _State.offset


def next_key(generator: torch.Generator | None = None) -> Any:
    """Raw key data, uint32[2], for one random op: from the device's stream, or drawn from a CPU generator.

    A trace draws its own keys: a key drawn here would be a constant of the program.
    """
    return draw_key(generator) if drawing.draw is None else drawing.draw(generator)


def draw_key(generator: torch.Generator | None = None) -> np.ndarray:
    """As `next_key`, outside a trace."""
    if generator is not None:
        bits = torch.empty((), dtype=torch.int64, device="cpu").random_(generator=generator).item()
        return np.array([int(bits) >> 32 & _MASK, int(bits) & _MASK], np.uint32)
    _State.offset += 1
    return key_at(_State.seed, _State.offset)


def key_at(seed: int, offset: int) -> np.ndarray:
    """The key data of draw number `offset` of the device's stream."""
    # SplitMix64 (Steele, Lea & Flood 2014) spreads (seed, offset) over the key space.
    z = (seed + offset * _GOLDEN) & ((1 << 64) - 1)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ((1 << 64) - 1)
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ((1 << 64) - 1)
    z ^= z >> 31
    return np.array([z >> 32, z & _MASK], np.uint32)
