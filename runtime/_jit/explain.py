"""`tenax.explain`: reports why a compiled function was traced, and statistics of its programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, overload

from .._lazy.explain import LazyExplanation, explain_lazy
from .._lazy.mode import lazy
from ..xla.totals import Totals, totals
from .collectives import Collective, collectives
from .jitted import Compilation, compiled_of


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """Statistics of one program, as XLA reports them; a count that it does not report is None. Programs are numbered
    in the order in which they were made; those that were dropped are not listed."""

    number: int
    inputs: int
    outputs: int
    donated: int
    equations: int
    hlo_lines: int
    flops: float | None
    bytes_accessed: float | None
    argument_bytes: int
    output_bytes: int
    aliased_bytes: int
    temporary_bytes: int
    code_bytes: int
    collectives: tuple[Collective, ...]

    @property
    def peak_bytes(self) -> int:
        """The peak memory of a call: arguments, results that do not alias them, and temporaries."""
        return self.argument_bytes + self.output_bytes - self.aliased_bytes + self.temporary_bytes


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result of `tenax.explain`; `str` gives a readable report."""

    name: str
    traces: tuple[Compilation, ...]
    programs: tuple[ProgramReport, ...]

    def __str__(self) -> str:
        traces, programs = len(self.traces), len(self.programs)
        times = "once" if traces == 1 else f"{traces} times"
        lines = [f"{self.name}: traced {times}, {programs} program{'s' * (programs != 1)}"]
        for i, trace in enumerate(self.traces, 1):
            lines.append(f"  trace {i}: {trace.reason} ({trace.seconds:.3f} s; program {trace.program})")
        for p in self.programs:
            lines.append(
                f"  program {p.number}: {p.equations} equations, {p.hlo_lines} lines of HLO; {p.inputs} inputs, "
                f"{p.donated} of them donated, {p.outputs} outputs; peak {p.peak_bytes / 2**20:.1f} MiB (arguments "
                f"{p.argument_bytes / 2**20:.1f}, temporaries {p.temporary_bytes / 2**20:.1f}), "
                f"{_count(p.flops)} flops, {_count(p.bytes_accessed)} bytes accessed"
            )
            lines += map(_line, p.collectives)
        return "\n".join(lines)


def _line(c: Collective) -> str:
    amount = f"{c.kind} of {c.bytes:,} bytes" + f" in {c.scope}" * bool(c.scope)
    return "    " + ", ".join(filter(None, (amount, f"{c.times} times" * (c.times > 1), c.line)))


def _count(number: float | None) -> str:
    return "?" if number is None else f"{number:.3g}"


@overload
def explain() -> Totals: ...


@overload
def explain(function: type[lazy]) -> LazyExplanation: ...


@overload
def explain(function: Callable[..., Any]) -> Explanation: ...


def explain(function: Any = None) -> Explanation | LazyExplanation | Totals:
    """Explain why a compiled function was traced each time, and measure its programs: `print(tenax.explain(step))`.

    Args:
        function: a result of `tenax.jit` that was called at least once, or `tenax.lazy` to explain this thread's lazy
            mode. If omitted, the result is the total cost of compilation in this process so far, eager operations
            included.

    Raises:
        TypeError: the function is neither.
    """
    if function is None:
        return replace(totals)
    if function is lazy:
        return explain_lazy()
    compiled = compiled_of(function)
    steps = {step.number: step for steps in compiled.programs.values() for step in steps}
    reports = []
    for number, step in sorted(steps.items()):
        program = step.forward
        executable: Any = program.compiled
        cost = executable.cost_analysis() or {}
        memory, text = executable.memory_analysis(), executable.as_text()
        reports.append(
            ProgramReport(
                number=number,
                inputs=len(program.arguments),
                outputs=len(executable.out_info),
                donated=len(program.donated),
                equations=len(step.jaxpr.eqns),
                hlo_lines=text.count("\n"),
                flops=cost.get("flops"),
                bytes_accessed=cost.get("bytes accessed"),
                argument_bytes=memory.argument_size_in_bytes,
                output_bytes=memory.output_size_in_bytes,
                aliased_bytes=memory.alias_size_in_bytes,
                temporary_bytes=memory.temp_size_in_bytes,
                code_bytes=memory.generated_code_size_in_bytes,
                collectives=collectives(text),
            )
        )
    return Explanation(compiled.name, tuple(compiled.history), tuple(reports))
