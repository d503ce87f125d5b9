"""Programs: what a tape becomes, compiled once for all tapes that are equal."""

from __future__ import annotations

import difflib
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dispatch.aot_call import AotCall
from ..storage.avals import Aval
from ..storage.placement import no_jax_trace, put
from .recorded import RecordedOp

Key = tuple[tuple[Any, ...], tuple[int, ...], tuple[int, ...]]  # entries of the tape, slots of results, donated inputs

_HELD = 256  # programs; the one that was used least recently goes first
_programs: OrderedDict[Key, TapeProgram] = OrderedDict()
_variants: set[Key] = set()


class TapeProgram:
    """A compiled tape."""

    def __init__(self, key: Key, before: TapeProgram | None) -> None:
        """`before` is the program that ran last, with which `changes` compares this one."""
        self.key = key
        self._before = None if before is None else before.key
        donated = [i + 1 for i in key[2]]
        # Values that eager mode rounds to half precision between operations are rounded here too.
        self._call = AotCall(self._replay, donated, {"xla_allow_excess_precision": False})
        self.seconds = 0.0  # of tracing and compiling
        self._words: tuple[list[int], jax.Array] | None = None

    @property
    def ops(self) -> int:
        """How many operations it computes."""
        return sum(e.__class__ is RecordedOp for e in self.key[0])

    @property
    def inputs(self) -> int:
        """How many arrays it is passed, apart from its numbers."""
        return sum(e.__class__ is Aval for e in self.key[0])

    def _replay(self, words: jax.Array, *inputs: jax.Array) -> list[jax.Array]:
        entries, wanted, _ = self.key
        values: list[Any] = []
        flags: list[jax.Array] = []
        passed, taken, at = iter(inputs), 0, 0
        with jax.enable_x64(True):
            while at < len(entries):
                entry = entries[at]
                at += 1
                if entry.__class__ is Aval:
                    values.append(next(passed))
                    continue
                arrays = [values[slot] for slot in entries[at : at + entry.inputs]]
                results, checked = entry.apply(arrays, words[taken : taken + entry.taken])
                values += results
                flags += checked
                at += entry.inputs
                taken += entry.taken
            results = [values[slot] for slot in wanted]
            if flags:
                results.append(jnp.stack([flag.reshape(()) for flag in flags]))
        return results

    def run(self, words: list[int], inputs: Sequence[jax.Array], results: list[Any]) -> None:
        """Compute, and append the list of results to a list: the wanted slots, then the outcome of the checks.

        It is in the list as soon as it is there, even if a signal handler raises.
        """
        if self._words is None or self._words[0] != words:
            self._words = words, put(np.array(words or [0], np.uint32), None)
        arrays = [self._words[1], *inputs]
        if self._call.call is not None:
            self._call.into(results, arrays)
            return
        begun = time.perf_counter()
        if no_jax_trace():
            self._call.into(results, arrays)
        else:
            with jax.ensure_compile_time_eval():
                self._call.into(results, arrays)
        self.seconds = time.perf_counter() - begun

    @staticmethod
    def lines(key: Key) -> list[str]:
        """The operations, one a line, with the avals of their operands."""
        entries, wanted, donated = key
        ops = [str(e) for e in entries if e.__class__ is RecordedOp]
        inputs = Counter(f"input {e.dtype.name}[{','.join(map(str, e.shape))}]" for e in entries if e.__class__ is Aval)
        return [
            *(f"{n} x {line}" for line, n in inputs.items()),
            *ops,
            f"{len(wanted)} results, {len(donated)} donated",
        ]

    def changes(self) -> Iterator[str]:
        """The lines in which it differs from the program that ran before it."""
        if self._before is not None:
            for line in difflib.unified_diff(self.lines(self._before), self.lines(self.key), lineterm="", n=1):
                if not line.startswith(("---", "+++")):
                    yield line


class History:
    """What the tape of a thread has run."""

    def __init__(self) -> None:
        self.last: TapeProgram | None = None
        self.runs: Counter[TapeProgram] = Counter()
        self.seconds: dict[TapeProgram, float] = {}  # without compiling; a device may go on computing after them
        self.causes: dict[TapeProgram, Counter[str]] = {}

    def note(self, program: TapeProgram, cause: str, seconds: float) -> None:
        """Count a run."""
        self.last = program
        self.runs[program] += 1
        self.seconds[program] = self.seconds.get(program, 0.0) + seconds
        self.causes.setdefault(program, Counter())[cause] += 1


def is_variant(key: Key) -> bool:
    """Whether a key comes up for the first time that is like one of a program up to the results that are wanted."""
    if key in _programs or key in _variants or not any(key[0] == known[0] for known in _programs):
        return False
    if len(_variants) >= _HELD:
        _variants.clear()
    _variants.add(key)
    return True


def program_of(key: Key, history: History) -> TapeProgram:
    """The program of a tape, made when the tape is new."""
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = TapeProgram(key, history.last)
        if len(_programs) > _HELD:
            _programs.popitem(last=False)
    else:
        _programs.move_to_end(key)
    return program
