"""The first calls of a large program: they run a sequence of small programs, while a thread compiles the whole one.

A training step of a deep model compiles in seconds as a whole. Its layers are equal, so that the sequence consists of
few different programs, which compile in a fraction of the time (`xla/outlined`). It runs more slowly, and needs more
memory, because it donates nothing.

How many calls run the sequence depends only on the program: about as many as take as long as the compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax

from ..storage.memory_errors import as_torch_error
from ..xla.ahead import background
from ..xla.options import Options, has_one_tier, has_quick_tier
from ..xla.outlined import costs
from ..xla.outlined.sequence import Sequenced
from ..xla.program import is_plain_call
from ..xla.waiting import announced

_WORTHWHILE = 1.0  # seconds of compilation below which a program is compiled as a whole immediately
_GAIN = 0.75  # largest part of the whole program's compilation time that the sequence may take
_MOST_CALLS = 16
_MOST_DONATED = 1 << 30  # bytes of donated arrays, of which the sequence keeps a copy


class OutlinedStart:
    """Runs the first calls of a program, and compiles the whole program after the first of them."""

    def __init__(
        self,
        sequence: Sequenced,
        name: str,
        options: Options | None,
        begin: Callable[[], Callable[[], jax.stages.Compiled]],
    ) -> None:
        """Prepare the calls; see `of`."""
        self._sequence, self._name, self._options, self._begin = sequence, name, options, begin
        self._left = min(_MOST_CALLS, round(sequence.whole_seconds() / sequence.run_seconds()))
        self._whole: Callable[[], jax.stages.Compiled] | None = None
        self._has_run = False

    @classmethod
    def of(
        cls,
        traced: jax.stages.Traced,
        arrays: Sequence[jax.Array],
        donated: Sequence[int],
        name: str,
        options: Options | None,
        begin: Callable[[], Callable[[], jax.stages.Compiled]],
    ) -> OutlinedStart | None:
        """The start of a program; None if the whole program should be compiled immediately.

        Args:
            traced: the program.
            arrays: those of the first call.
            donated: the positions of donated arrays.
            name: its name in messages.
            options: those of XLA for all programs of compiled functions.
            begin: lowers the whole program; returns a function that compiles it.
        """
        if not has_quick_tier() or has_one_tier() or not is_plain_call(arrays):
            return None
        if sum(arrays[i].nbytes for i in donated) > _MOST_DONATED:
            return None
        if costs.whole(costs.operations(traced.jaxpr.jaxpr)) < _WORTHWHILE:
            return None
        sequence = Sequenced(traced.jaxpr)
        whole = sequence.whole_seconds()
        if sequence.takes_keys() or sequence.apart_seconds() > _GAIN * whole or sequence.run_seconds() > whole:
            return None
        return cls(sequence, name, options, begin)

    def is_over(self) -> bool:
        """Whether the next call runs the whole program."""
        return not self._left

    def __call__(self, arrays: Sequence[jax.Array]) -> list[jax.Array]:
        """The results of the program."""
        if not self._has_run:
            self._sequence.begin(self._name, self._options)
        elif self._whole is None:  # a program that is called only once is never compiled as a whole
            self._whole = background(self._begin())
        try:
            results = self._sequence(arrays)
        except jax.errors.JaxRuntimeError as error:
            raise as_torch_error(error)  # noqa: B904 (it states its cause)
        self._has_run = True
        self._left -= 1
        return results

    def whole(self) -> jax.stages.Compiled:
        """The whole program, compiled."""
        with announced(self._name):
            return (self._whole or self._begin())()
