"""`tenax.explain(tenax.lazy)`: reports the programs that a thread has run in lazy mode, and why they ran."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from .mode import own_tape
from .programs import Runs, TapeProgram


@dataclass(frozen=True, slots=True)
class GraphReport:
    """Statistics of one program of lazy mode."""

    operations: int
    inputs: int
    outputs: int
    donated: int
    compile_seconds: float
    runs: int
    run_seconds: float
    causes: tuple[tuple[str, int], ...]
    changes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.operations} operations, {self.inputs} inputs, {self.donated} of them donated, {self.outputs} "
            f"results; compiled in {self.compile_seconds:.3f} s, run {self.runs} times in {self.run_seconds:.3f} s"
        ]
        lines += [f"    {count} times for{cause}" for cause, count in self.causes]
        if self.changes:
            lines += ["    differs from the program before it:", *(f"      {line}" for line in self.changes)]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class LazyExplanation:
    """The result of `tenax.explain(tenax.lazy)`; `str` gives a readable report."""

    graphs: tuple[GraphReport, ...]
    changing: tuple[str, ...] = ()  # the places after which operations run eagerly, because sizes change each time

    def __str__(self) -> str:
        runs = sum(graph.runs for graph in self.graphs)
        lines = [f"lazy mode: {len(self.graphs)} programs, run {runs} times"]
        lines += [f"  eager until the next step, because sizes change each time: after{p}" for p in self.changing]
        return "\n".join([*lines, *(f"  program {i}: {graph}" for i, graph in enumerate(self.graphs, 1))])


_SHOWN = 40  # the maximum number of diff lines


def explain_lazy() -> LazyExplanation:
    """Report the programs that this thread has run in lazy mode, in the order of their first runs."""
    tape = own_tape()

    def report(program: TapeProgram, runs: Runs) -> GraphReport:
        _, wanted, donated, _ = program.key
        changes = [*islice(program.changes(), _SHOWN + 1)]
        if len(changes) > _SHOWN:
            changes[_SHOWN:] = ["..."]
        return GraphReport(
            program.ops,
            program.inputs,
            len(wanted),
            len(donated),
            program.seconds,
            runs.count,
            runs.seconds,
            tuple(runs.causes.most_common()),
            tuple(changes),
        )

    return LazyExplanation(tuple(report(*item) for item in tape.history.programs.items()), tape.places.changing)
