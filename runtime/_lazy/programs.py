"""Programs: what a tape becomes, compiled once for all tapes that are equal."""

from __future__ import annotations

import difflib
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._jax import put_on_first_device
from ..dispatch.aot_call import AotCall
from ..storage.avals import Aval
from ..storage.placement import no_jax_trace, put
from ..xla.one_run import options_for_one_run
from ..xla.options import has_one_tier
from .recorded import RecordedOp

Key = tuple[tuple[Any, ...], tuple[int, ...], tuple[int, ...]]  # entries of the tape, slots of results, donated inputs

_HELD = 256  # programs; the one that was used least recently goes first
_programs: OrderedDict[Key, TapeProgram] = OrderedDict()
_variants: set[Key] = set()
listeners: list[Callable[[TapeProgram, float, bool], None]] = []  # called after a run: with its seconds without
# compiling, and whether the program was compiled for it


class TapeProgram:
    """A compiled tape."""

    def __init__(self, key: Key, before: TapeProgram | None, begins: bool = False) -> None:
        """`before` is the program that ran last, with which `changes` compares this one. One that `begins` a loop is
        compiled quickly, and anew if it runs again: the steps after it find state that it has made."""
        self.key = key
        self._before = None if before is None else before.key
        donated = [i + 1 for i in key[2]]
        # float16, of whose small numbers `reduce_precision` makes zeros, is rounded within operations as well.
        halves = any(a.dtype == np.float16 for e in key[0] if e.__class__ is RecordedOp for a in e.avals)
        first = options_for_one_run() if begins and not has_one_tier() else None
        options = {"xla_allow_excess_precision": False} if halves else None
        self._call = AotCall(self._replay, donated, options, first)
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
        arrays = [self._uploaded(words), *inputs]
        if self._call.call is not None:
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
        """The program as text and module, not compiled."""
        return self._call.jitted.lower(self._uploaded(words), *inputs)

    def _uploaded(self, words: list[int]) -> jax.Array:
        if self._words is None or self._words[0] != words:
            self._words = words, _uploaded(np.array(words or [0], np.uint32))
        return self._words[1]

    @cached_property
    def names(self) -> Counter[str]:
        """How often it computes each operator."""
        return Counter(e.name for e in self.key[0] if e.__class__ is RecordedOp)

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


def _uploaded(array: np.ndarray) -> jax.Array:
    """A host array that nothing else writes, on JAX's default device."""
    default = jax.config.jax_default_device  # type: ignore[attr-defined]
    plain = default is None and jax.sharding.get_abstract_mesh().empty and no_jax_trace()
    return put_on_first_device(array) if plain else put(array, None)


class Runs:
    """The runs of a program by one thread."""

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0  # without compiling; a device may go on computing after them
        self.causes: Counter[str] = Counter()


class History:
    """What the tape of a thread has run, of the programs that were new to it last."""

    def __init__(self) -> None:
        self.last: TapeProgram | None = None
        self.programs: OrderedDict[TapeProgram, Runs] = OrderedDict()
        self.runs = 0  # of all programs
        self.begun = False  # whether one of them has ended a step that overwrote something

    def is_last(self, key: Key) -> bool:
        """Whether a key is that of the program that ran last.

        A comparison finds the same objects in the same places, and is cheaper than a hash.
        """
        return self.last is not None and self.last.key == key

    def note(self, program: TapeProgram, cause: str, seconds: float, compiled: bool) -> None:
        """Count a run, for which the program may have been compiled."""
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


def is_variant(key: Key, history: History) -> bool:
    """Whether a key comes up for the first time that is like one of a program up to the results that are wanted."""
    if (
        history.is_last(key)
        or key in _programs
        or key in _variants
        or not any(key[0] == known[0] for known in _programs)
    ):
        return False
    if len(_variants) >= _HELD:
        _variants.clear()
    _variants.add(key)
    return True


def program_of(key: Key, history: History, steps: bool) -> TapeProgram:
    """The program of a tape, made when the tape is new. With `steps` it ends a step that overwrites something: the
    first of a thread is the first step of a loop, and makes the state of its optimizer."""
    begins, history.begun = steps and not history.begun, steps or history.begun
    if history.last is not None and history.is_last(key):
        return history.last
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = TapeProgram(key, history.last, begins)
        if len(_programs) > _HELD:
            _programs.popitem(last=False)
    else:
        _programs.move_to_end(key)
    return program
