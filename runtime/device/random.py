"""The random state of the device: a seed and the count of draws, from which every op's JAX key is derived.

As torch's Philox generator on CUDA, so that a state is small, host-side and free to copy. Keys are threefry.
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


drawing = _Drawing()  # `draw` is what a trace of this thread puts in the place of `drawn`


class DeviceGenerator(torch.Generator):
    """What `torch.Generator(device="jax")` gives: a CPU generator, of whose stream the device's keys are drawn."""

    def __new__(cls, device: Any = "jax") -> DeviceGenerator:
        """A generator for `device`, which must exist."""
        from .backend import device_index

        generator = super().__new__(cls)
        generator._index = device_index(torch.device(device))  # type: ignore[attr-defined]
        return generator

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device of the numbers."""
        return torch.device("jax", self._index)  # type: ignore[attr-defined]


class _GeneratorMeta(type(torch.Generator)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, DeviceGenerator.__base__)  # type: ignore[arg-type]


def install() -> None:
    """Give `torch.Generator` the device. The type is made in C++ and cannot be changed: a subclass takes its name."""
    plain = torch.Generator

    class Generator(plain, metaclass=_GeneratorMeta):  # type: ignore[misc, valid-type]
        __doc__ = plain.__doc__

        def __new__(cls, device: Any = "cpu") -> torch.Generator:  # type: ignore[misc]
            ours = torch.device(device).type == "jax"
            return DeviceGenerator(device) if ours else plain(device)

    Generator.__module__ = plain.__module__
    torch.Generator = Generator  # type: ignore[misc]


def manual_seed(seed: int) -> None:
    """Start the device's stream anew from `seed`, any 64-bit int."""
    _State.seed = int(seed) & ((1 << 64) - 1)
    _State.offset = 0


def seed() -> int:
    """Seed from the operating system; returns the seed."""
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
    """Set what `get_rng_state` returned.

    Raises:
        RuntimeError: it is not a CPU uint8 tensor of 16 bytes.
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
    """Count one draw; seed and offset after it."""
    _State.offset += 1
    return _State.seed, _State.offset


def next_key(generator: torch.Generator | None = None) -> Any:
    """Raw key data, uint32[2], for one random op: from the device's stream, or drawn from a CPU generator.

    Within a trace it is the trace's to say: a number drawn there would be the same at every run of the program.
    """
    return drawn(generator) if drawing.draw is None else drawing.draw(generator)


def drawn(generator: torch.Generator | None = None) -> np.ndarray:
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
