"""The random state of the device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...storage import random


def set_rng_state(seed: int, device: Any = None) -> None:
    """Seed the device's random number generator, or restore a state of `get_rng_state`."""
    offset, seed = divmod(int(seed), 1 << 64) if seed >= 1 << 64 else (0, int(seed))
    random.manual_seed(seed)
    if offset:
        random.restore((seed, offset))


def get_rng_state(device: Any = None) -> int:
    """The state of the device's random number generator: its seed, plus `n << 64` after `n` random operations."""
    seed = random.initial_seed()  # raises within a compiled function, which does not know its state
    return random.state()[1] << 64 | seed


@contextmanager
def fork_rng(device: Any = None, enabled: bool = True) -> Iterator[None]:
    """Restore the device's random state at the end of a block."""
    state = random.get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            random.set_rng_state(state)
