"""Programs: compiled tapes, each shared by all equal tapes."""

from __future__ import annotations

import difflib
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dispatch.aot_call import AotCall
from ..storage.avals import Aval
from ..storage.placement import no_jax_trace, put
from .recorded import RecordedOp, replayed

# The entries of the tape, the slots of results, donated inputs, and the precision of products.
Key = tuple[tuple[Any, ...], tuple[int, ...], tuple[int, ...], str]

_HELD = 256  # the maximum number of programs; the least recently used is dropped
_programs: OrderedDict[Key, TapeProgram] = OrderedDict()
_variants: set[Key] = set()
_lock = threading.RLock()  # of both: the tapes of all threads look programs up
listeners: list[Callable[[TapeProgram, float, bool], None]] = []  # called after each run with the program, its seconds
# without compilation, and whether it was compiled for this run


class TapeProgram:
    """A compiled tape."""

    def __init__(self, key: Key, before: TapeProgram | None) -> None:
        """`before` is the program that ran last, for `changes` to compare with."""
        self.key = key
        self._before = None if before is None else before.key
        donated = [i + 1 for i in key[2]]
        # float16 is rounded within operations as well: `reduce_precision` would flush its small numbers to zero.
        halves = any(a.dtype == np.float16 for e in key[0] if e.__class__ is RecordedOp for a in e.avals)
        options = {"xla_allow_excess_precision": False} if halves else None
        self._call = AotCall(self._replay, donated, options)
        self.seconds = 0.0  # spent on tracing and compiling
        self._words: tuple[list[int], jax.Array] | None = None

    @property
    def ops(self) -> int:
        """The number of operations."""
        return sum(e.__class__ is RecordedOp for e in self.key[0])

    @property
    def inputs(self) -> int:
        """The number of input arrays, not counting the one with the numbers."""
        return sum(e.__class__ is Aval for e in self.key[0])

    def _replay(self, words: jax.Array, *inputs: jax.Array) -> list[jax.Array]:
        entries, wanted, *_ = self.key
        values, flags = replayed(entries, words, inputs, RecordedOp.apply)
        results = [values[slot] for slot in wanted]
        if flags:
            results.append(jnp.stack([flag.reshape(()) for flag in flags]))
        return results

    def run(self, words: list[int], inputs: Sequence[jax.Array], results: list[Any]) -> None:
        """Run the program, and append the list of its results to `results`: the wanted slots, then the checks.

        The list is appended as soon as it exists, even if a signal handler raises.
        """
        arrays = [self._uploaded(words), *inputs]
        if self._call.is_compiled:
            self._call.into(results, arrays)
            return
        begun = time.perf_counter()
        if no_jax_trace():
            self._call.into(results, arrays)
        else:
            with jax.ensure_compile_time_eval():
                self._call.into(results, arrays)
        self.seconds += time.perf_counter() - begun

    def lower(self, words: list[int], inputs: Sequence[jax.Array]) -> jax.stages.Lowered:
        """The lowered program, not compiled."""
        return self._call.jitted.lower(self._uploaded(words), *inputs)

    def _uploaded(self, words: list[int]) -> jax.Array:
        held = self._words
        if held is None or held[0] != words:  # a local name, because another thread may run the program meanwhile
            held = self._words = words, put(np.array(words or [0], np.uint32), None)
        return held[1]

    @cached_property
    def names(self) -> Counter[str]:
        """The number of operations by operator name."""
        return Counter(e.name for e in self.key[0] if e.__class__ is RecordedOp)

    @staticmethod
    def lines(key: Key) -> list[str]:
        """A key as text: its inputs, its operations with the avals of their operands, and the number of results."""
        entries, wanted, donated, _ = key
        ops = [str(e) for e in entries if e.__class__ is RecordedOp]
        inputs = Counter(f"input {e.dtype.name}[{','.join(map(str, e.shape))}]" for e in entries if e.__class__ is Aval)
        return [
            *(f"{n} x {line}" for line, n in inputs.items()),
            *ops,
            f"{len(wanted)} results, {len(donated)} donated",
        ]

    def changes(self) -> Iterator[str]:
        """The diff lines between the program that ran before it and this one."""
        if self._before is not None:
            for line in difflib.unified_diff(self.lines(self._before), self.lines(self.key), lineterm="", n=1):
                if not line.startswith(("---", "+++")):
                    yield line


class Runs:
    """The runs of a program by one thread."""

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0  # without compilation; a device may continue to compute afterwards
        self.causes: Counter[str] = Counter()


class History:
    """What the tape of a thread has run; keeps the programs that it first ran most recently."""

    def __init__(self) -> None:
        self.last: TapeProgram | None = None
        self.programs: OrderedDict[TapeProgram, Runs] = OrderedDict()
        self.runs = 0  # runs of all programs

    def is_last(self, key: Key) -> bool:
        """Whether a key is that of the program that ran last.

        Comparing is cheaper than hashing, because the entries are the same objects.
        """
        return self.last is not None and self.last.key == key

    def note(self, program: TapeProgram, cause: str, seconds: float, compiled: bool) -> None:
        """Record a run; `compiled` tells whether the program was compiled for it."""
        self.last = program
        self.runs += 1
        runs = self.programs.setdefault(program, Runs())
        runs.count += 1
        runs.seconds += seconds
        runs.causes[cause] += 1
        if len(self.programs) > _HELD:
            self.programs.popitem(last=False)
        for listener in listeners:
            listener(program, seconds, compiled)


def count() -> int:
    """The number of programs that are kept."""
    return len(_programs)


def is_variant(key: Key, history: History) -> bool:
    """Whether a key is new and differs from that of a known program only in its results or donated inputs."""
    if history.is_last(key):
        return False
    with _lock:
        if key in _programs or key in _variants or not any(key[0] == known[0] for known in _programs):
            return False
        if len(_variants) >= _HELD:
            _variants.clear()
        _variants.add(key)
    return True


def program_of(key: Key, history: History) -> TapeProgram:
    """Look up or make the program of a tape."""
    if history.last is not None and history.is_last(key):
        return history.last
    with _lock:
        program = _programs.get(key)
        if program is None:
            program = _programs[key] = TapeProgram(key, history.last)
            if len(_programs) > _HELD:
                _programs.popitem(last=False)
        else:
            _programs.move_to_end(key)
    return program
