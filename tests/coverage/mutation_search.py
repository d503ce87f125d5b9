"""The search for programs of the other modules (`mutation_modes.MODES`) that differ from CPU torch."""

from __future__ import annotations

import itertools
import random
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import apart, chains, mutation, mutation_modes, stateful
from .mutation_modes import EAGER, MODES, Outcome, said

ENDED = "the process ended"


def search(
    seed: int, modes: Sequence[str] = MODES, seconds: float = float("inf"), *, isolated: bool = False
) -> Iterator[Outcome]:
    """Run programs in each mode in turn for a time, and give what each shows, as few lines as show it.

    With `isolated` they run in another process, and one that ends it is a difference.
    """
    end = time.monotonic() + seconds
    for number in itertools.count():
        for mode in modes:
            if time.monotonic() > end:
                return
            yield (run_isolated if isolated else run_random)(mode, f"{seed} {number}")


def random_program(mode: str, seed: str) -> Any:
    """The program of a seed."""
    rng = random.Random(seed)
    if mode in EAGER:
        lines, leaves, shapes = mutation.program(rng)
        return mutation.Difference(tuple(lines), leaves, shapes, "")
    made: dict[str, Callable[[random.Random], Any]] = {"stateful": stateful.program, "chain": chains.random_chain}
    return made.get(mode, mutation_modes.program)(rng)


def run_random(mode: str, seed: str) -> Outcome:
    """Run the program of a seed in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = random_program(mode, seed)
    if mode in EAGER:
        known = mode == "known"
        found = mutation.run(program.lines, program.leaves, program.shapes, "jax", known=known)
        if found is None:
            return Outcome(mode)
        return Outcome(mode, found.message, program=mutation.shrink(found, "jax", known=known))
    runs: dict[str, Callable[[Any], Outcome]] = {"stateful": stateful.run, "chain": chains.run}
    run = runs.get(mode, lambda shorter: mutation_modes.run(shorter, mode))
    return shrink(run(program), run)


def run_isolated(mode: str, seed: str) -> Outcome:
    """Run the program of a seed in another process, which it may end."""
    try:
        return apart.call(run_random, mode, seed)
    except apart.ProcessEndedError:
        program = random_program(mode, seed)
        if mode == "compile" and mutation_modes.capture_differs(program):
            return Outcome(mode, refused="torch's own capture differs from eager mode, or ends the process")
        return Outcome(mode, ENDED, program=program)
    except Exception as error:
        return Outcome(mode, f"comparing raised {said(error)}", program=random_program(mode, seed))


def shrink(found: Outcome, again: Callable[[Any], Outcome]) -> Outcome:
    """The difference with as few lines as show one of its kind; `again` runs a program."""
    if not found.difference:
        return found
    for shorter in found.program.shorter():
        outcome = again(shorter)
        if outcome.difference and _kind(outcome.difference) == _kind(found.difference):
            return shrink(outcome, again)
    return found


def _kind(difference: str) -> str:
    return " ".join(word for word in difference.split() if word.isalpha())[:40]
