"""The inputs of a step: the constants of its jaxpr, as operands of its programs.

During the run each input was a distinct array. The jaxpr holds these arrays as constants, which are recognised by
identity. The operands of a program are, in this order: the numbers and the keys, each as one array; the uploads; the
cotangents and the residuals, in a backward program; the arrays of cells. A number is passed as the two words of its
float64 and the word of its float32, because TPUs emulate float64.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from itertools import islice
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import Jaxpr

from .._jax import apply_jaxpr
from ..errors import TraceError
from ..storage.placement import put, sharding_of_array
from .traced_step import TracedStep

_SMALL = 64  # the most elements of a constant that is compared by value


class InputSource(NamedTuple):
    """An input of the run, by its number among the inputs of its kind."""

    kind: str  # number, key, upload, cotangent or cell
    number: int


class Inputs:
    """The inputs of a step; for each constant of its jaxpr, either its source or its constant is not None."""

    def __init__(self, step: TracedStep, cells: Sequence[jax.Array], index: int) -> None:
        """`cells` are the placeholder arrays of the cells that the step reads; `index` is that of the device."""
        inputs, backward = step.inputs, step.backward
        sources: dict[int, InputSource] = {}
        cotangents = backward.cotangents if backward else ()
        for kind, arrays in {**inputs.placeholders, "cotangent": cotangents, "cell": cells}.items():
            sources.update({id(a): InputSource(kind, i) for i, a in enumerate(arrays)})
        self.shardings = [(sharding_of_array(array), array.ndim) for array in cells]
        self.variables: Sequence[Any] = step.jaxpr.jaxpr.constvars
        self.sources = [sources.get(id(c)) for c in step.jaxpr.consts]
        self.constants = [c if s is None else None for c, s in zip(step.jaxpr.consts, self.sources, strict=True)]
        if any(isinstance(c, jax.core.Tracer) for c in self.constants):
            raise TraceError(
                "a compiled function uses a value that an earlier trace computed and that something has kept, such as "
                "a function with a cache: the value is gone. Keep tensors in variables that the function reaches"
            )
        self.script, self.rng, self.uploads, self.index = inputs.script, inputs.rng, inputs.uploads, index
        self.numbered, self.keyed = len(inputs.placeholders["number"]), len(inputs.placeholders["key"])
        self.takes_host = bool(self.script.entries or self.rng or self.uploads)
        self.host_count = bool(self.numbered) + bool(self.keyed) + len(self.uploads)  # operands from the host
        self._last: tuple[bytes, jax.Array] | None = None  # the last call's numbers, and the array that holds them

    def from_host(self, arguments: Sequence[Any]) -> list[jax.Array]:
        """Run the host script of one call; return the operands that come from the host: the numbers, uint32[n, 3]; the
        keys, uint32[n, 2]; the uploads."""
        operands: list[jax.Array] = []
        numbers = self.script.play(arguments)
        if self.numbered:
            values = np.asarray(numbers, np.float64)
            last, words = self._last, values.tobytes()  # a local name, because other threads may call meanwhile
            if last is None or last[0] != words:  # they seldom change between calls
                with np.errstate(over="ignore"):
                    single = values.astype(np.float32)
                both = [values.view(np.uint32).reshape(-1, 2), single.view(np.uint32).reshape(-1, 1)]
                last = self._last = words, put(np.concatenate(both, 1), self.index)
            operands.append(last[1])
        if self.rng:
            operands.append(put(self.rng.keys(), self.index))
        return operands + [upload.array(arguments) for upload in self.uploads]

    def cotangents(self) -> set[int]:
        """The indices of the constants that are cotangents."""
        return {i for i, s in enumerate(self.sources) if s and s.kind == "cotangent"}

    def cells_among(self, variables: Container[Any]) -> list[int]:
        """The numbers of the cells whose jaxpr variables are in `variables`."""
        pairs = zip(self.sources, self.variables, strict=True)
        return sorted({s.number for s, v in pairs if s and s.kind == "cell" and v in variables})

    def same_as(self, other: Inputs) -> bool:
        """Whether two steps have the same operands in the same order, and equal constants."""
        return (
            self.sources == other.sources
            and len(self.shardings) == len(other.shardings)
            and all(map(_same_place, self.shardings, other.shardings))
            # Count even those that the jaxpr does not use, because they are rows of the operands.
            and (self.numbered, self.keyed, self.host_count) == (other.numbered, other.keyed, other.host_count)
            and all(map(_equal, self.constants, other.constants))
        )

    def function(
        self, jaxpr: Jaxpr, cells: Sequence[int], cotangents: int = 0, residuals: int = 0
    ) -> Callable[..., list[jax.Array]]:
        """A part of the jaxpr as a function of operands.

        Args:
            jaxpr: the part; its arguments are residuals.
            cells: the numbers of the cells whose arrays are operands.
            cotangents: the number of cotangents among the operands.
            residuals: the number of residuals among the operands.
        """
        sources, constants, numbered, keyed = self.sources, self.constants, self.numbered, self.keyed
        uploads = len(self.uploads)
        places = zip(sources, self.variables, strict=True)
        single = {s.number for s, v in places if s and s.kind == "number" and v.aval.dtype == np.float32}

        def program(*operands: jax.Array) -> list[jax.Array]:
            rest = iter(operands)
            values: dict[InputSource, Any] = {}

            def bind(kind: str, numbers: Sequence[int], arrays: Any) -> None:
                values.update({InputSource(kind, i): a for i, a in zip(numbers, arrays, strict=True)})

            if numbered:
                with jax.enable_x64(True):
                    for i, words in enumerate(next(rest)):
                        part, dtype = (words[2], np.float32) if i in single else (words[:2], np.float64)
                        bind("number", [i], [jax.lax.bitcast_convert_type(part, dtype)])
            if keyed:
                keys = next(rest)
                bind("key", range(len(keys)), keys)
            bind("upload", range(uploads), islice(rest, uploads))
            bind("cotangent", range(cotangents), islice(rest, cotangents))
            saved = list(islice(rest, residuals))
            bind("cell", cells, rest)
            return apply_jaxpr(
                jaxpr, [c if s is None else values.get(s) for s, c in zip(sources, constants, strict=True)], saved
            )

        program.__name__ = jaxpr.debug_info.func_name
        return program


def _equal(a: Any, b: Any) -> bool:
    if a is b or np.size(a) > _SMALL:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    return (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes())  # 0.0 is not -0.0


def _same_place(a: tuple[Any, int], b: tuple[Any, int]) -> bool:
    """Whether two (sharding, ndim) pairs are equivalent: XLA reports `P("data")` for a user's `P("data", None)`."""
    if a[0] is None or b[0] is None or a[1] != b[1]:
        return a == b
    return bool(a[0].is_equivalent_to(b[0], a[1]))
