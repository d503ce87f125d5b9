"""Turns the outputs of a compiled step's program into the results of a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import jax

from .output_builder import OutputBuilder
from .outputs import AliasOfInput, FoundObject
from .sources import Fetch
from .traced_step import TracedOutputs, output_count


class Outputs:
    """What the calls of a compiled step return."""

    __slots__ = ("aliases", "assertions", "count", "device_index", "found", "in_order", "result", "storages")

    def __init__(
        self,
        traced: TracedOutputs,
        aliases: list[tuple[AliasOfInput, Fetch]],
        found: list[tuple[FoundObject, Fetch]],
        device_index: int,
    ) -> None:
        """`aliases` are those whose storage differs between calls, each with a function that fetches a tensor on it;
        `found` are the objects that each call looks up again."""
        self.result, self.storages, self.assertions = traced.result, traced.storages, traced.assertions
        self.aliases, self.found, self.device_index = aliases, found, device_index
        self.count = output_count(traced.storages)
        # Whether the arrays of the storages are the first outputs of the program, in the same order.
        self.in_order = [s.source.output for s in traced.storages] == list(range(self.count))

    def builder(self, results: Iterator[jax.Array], arguments: Sequence[Any]) -> OutputBuilder:
        """The builder of the tensors of a call; consumes the first of the program's results."""
        arrays = [*islice(results, self.count)]
        contents = arrays if self.in_order else [s.source.content(arrays, ()) for s in self.storages]
        builder = OutputBuilder(self.storages, contents, arguments, self.device_index)
        for alias, fetch in self.aliases:
            builder.alias(alias, fetch(arguments))
        for described, fetch in self.found:
            builder.objects[described] = fetch(arguments)
        return builder
