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

from .._torch import NAME
from ..errors import TraceError

_MASK = (1 << 32) - 1
_GOLDEN = 0x9E3779B97F4A7C15
RELATIVE = 1 << 63  # from here on, the offset of a trace's stream counts from the position of its caller


class RandomStream:
    """A seed, and the number of draws since it was set."""

    seed = 0
    offset = 0


class _Drawing(threading.local):
    draw: Callable[[torch.Generator | None], Any] | None = None
    stream: Any = None  # a TracedStream


drawing = _Drawing()  # while this thread traces, `draw` replaces `draw_key`, and `stream` that of the process
_process = RandomStream()


def _stream() -> RandomStream:
    return _process if drawing.stream is None else drawing.stream


def manual_seed(seed: int) -> None:
    """Restart the device's stream from `seed`, any 64-bit int."""
    stream = _stream()
    stream.seed = int(seed) & ((1 << 64) - 1)
    stream.offset = 0


def seed() -> int:
    """Seed the device's stream from the operating system, and return the seed."""
    value = secrets.randbits(63)
    manual_seed(value)
    return value


def initial_seed() -> int:
    """The seed in use; TraceError in a trace, which does not know it."""
    if drawing.stream is not None and drawing.stream.draws is not None:
        raise TraceError(f"torch.{NAME}.initial_seed() in a traced function: expected it to be read outside")
    return _stream().seed


def get_rng_state(device: Any = NAME) -> torch.Tensor:
    """A CPU uint8 tensor of 16 bytes: seed and offset."""
    return torch.frombuffer(bytearray(np.array(state(), np.uint64).tobytes()), dtype=torch.uint8)


def set_rng_state(state: torch.Tensor, device: Any = NAME) -> None:
    """Restore a state that `get_rng_state` returned.

    Raises:
        RuntimeError: the state is not a CPU uint8 tensor of 16 bytes, or was read in another trace.
    """
    if state.dtype != torch.uint8 or state.numel() != 16 or state.device.type != "cpu":
        raise RuntimeError(f"RNG state must be a CPU uint8 tensor of 16 bytes, got {state.dtype}{list(state.shape)}")
    seed, offset = (int(v) for v in np.frombuffer(bytes(state.tolist()), np.uint64))
    if offset >= RELATIVE and (drawing.stream is None or seed != drawing.stream.number):
        raise RuntimeError("set_rng_state: got a state that was read while another function was traced")
    restore((seed, offset))


def state() -> tuple[int, int]:
    """Seed and offset of the device's stream."""
    stream = _stream()
    return stream.seed, stream.offset


def restore(state: tuple[int, int]) -> None:
    """Set seed and offset."""
    stream = _stream()
    stream.seed, stream.offset = state


def advance(draws: int = 1) -> tuple[int, int]:
    """Count some draws, and return seed and offset after them. No other thread draws in between."""
    stream = _stream()
    stream.offset += draws
    return stream.seed, stream.offset


def next_key(generator: torch.Generator | None = None) -> Any:
    """Raw key data, uint32[2], for one random op: from the device's stream, or drawn from a CPU generator.

    A trace draws its own keys: a key drawn here would be a constant of the program. That is right for a generator that
    the trace created, because every call of the program creates it.
    """
    return draw_key(generator) if drawing.draw is None or is_of_trace(generator) else drawing.draw(generator)


def is_of_trace(generator: Any) -> bool:
    """Whether this thread traces a program that has created the generator."""
    stream = drawing.stream
    return stream is not None and generator is not None and generator._cdata in stream.generators


def draw_key(generator: torch.Generator | None = None) -> np.ndarray:
    """As `next_key`, outside a trace."""
    if generator is not None:
        bits = torch.empty((), dtype=torch.int64, device="cpu").random_(generator=generator).item()
        return np.array([int(bits) >> 32 & _MASK, int(bits) & _MASK], np.uint32)
    return key_at(*advance())


def key_at(seed: int, offset: int) -> np.ndarray:
    """The key data of draw number `offset` of the device's stream."""
    # SplitMix64 (Steele, Lea & Flood 2014) spreads (seed, offset) over the key space.
    z = (seed + offset * _GOLDEN) & ((1 << 64) - 1)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ((1 << 64) - 1)
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ((1 << 64) - 1)
    z ^= z >> 31
    return np.array([z >> 32, z & _MASK], np.uint32)
