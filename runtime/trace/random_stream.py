"""The random stream of a trace: it tells a program that seeds from one that continues the stream of its caller."""

from __future__ import annotations

import itertools

import torch

from ..storage.random import RELATIVE, RandomStream

_numbers = itertools.count()


class TracedStream(RandomStream):
    """The stream of a trace. Until the program seeds: the trace's number, and 2**63 plus the number of draws."""

    def __init__(self) -> None:
        self.number = self.seed = next(_numbers)
        self.offset = RELATIVE
        self.generators: dict[int, torch.Generator] = {}  # that the trace created, by the address of their C++ object

    @property
    def draws(self) -> int | None:
        """The number of draws since the trace began; None if the program has seeded."""
        return self.offset - RELATIVE if self.offset >= RELATIVE else None
