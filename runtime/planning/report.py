"""Plans as text, rich tables and HTML."""

from __future__ import annotations

import html
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .result import Exchange, PlanNumbers

_SHOWN = 12  # lines of collectives in a table; an HTML page shows all
_COLOURS = ("#4878a8", "#7aa6c2", "#c9d7e3", "#d9a25f", "#b8b8b8")
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } th, td { padding: .2em .8em; text-align: right }
th { border-bottom: 1px solid #999; font-weight: 600 } td:first-child, th:first-child, td.text { text-align: left }
.bar { display: flex; height: 1.4em; background: #f2f2f2; width: 100% } .bar span { display: block }
.over { color: #b00020; font-weight: 600 } code { font-size: .9em }
"""


class StepPlan(PlanNumbers):
    """The resources of a training step on a mesh: the result of `tenax.distributed.plan`, which prints as a table."""

    def __str__(self) -> str:
        return as_text(self)

    def __rich__(self) -> Any:
        return as_tables(self)

    def _repr_html_(self) -> str:
        return as_html([self])

    def save(self, path: str | Path) -> None:
        """Write the plan as an HTML page."""
        Path(path).write_text(as_page([self]))


def title(plan: PlanNumbers) -> str:
    """A description of the mesh and of the source of the numbers."""
    mesh = ", ".join(f"{axis}={size}" for axis, size in plan.mesh.items())
    source = f"; {plan.layers[2]} layers, linearly from {plan.layers[0]} and {plan.layers[1]}" if plan.layers else ""
    return f"{plan.devices} devices ({mesh}){f' of {plan.target}' * bool(plan.target)}{source}"


def rows_of_memory(plan: PlanNumbers) -> list[tuple[str, str]]:
    """Kinds of memory and their sizes on each device."""
    rows = [(name, size(value)) for name, value in plan.memory._asdict().items()]
    total = size(plan.memory.total)
    if plan.chip is not None:
        total += f" of {size(plan.chip.memory)}" + ("" if plan.fits else ": does not fit")
    return [*rows, ("total", total)]


def rows_of_times(plan: PlanNumbers) -> list[tuple[str, str]]:
    """The amount of work, and its time on the chip."""
    wire = sum(e.wire_bytes for e in plan.exchanges)
    amounts = f"{plan.flops:.3g} operations in all", size(plan.bytes_accessed), size(wire)
    if plan.times is None:
        return [*zip(("compute", "memory", "network"), amounts, strict=True)]
    rows = [(n, f"{a}, {1e3 * t:.1f} ms") for (n, t), a in zip(plan.times._asdict().items(), amounts, strict=True)]
    bound, longest = max(plan.times._asdict().items(), key=lambda item: item[1])
    return [*rows, ("a step, at least", f"{1e3 * longest:.1f} ms, bound by {bound}")]


def rows_of_exchanges(exchanges: Sequence[Exchange]) -> list[tuple[str, ...]]:
    """Collectives, largest first."""
    return [(e.kind, f"{e.times:.0f}", size(e.bytes), e.scope, e.line) for e in exchanges]


def as_text(plan: PlanNumbers) -> str:
    """The plan as plain text."""
    lines = [title(plan)]
    lines += [f"  {name}: {value}" for name, value in (*rows_of_memory(plan), *rows_of_times(plan))]
    for kind, count, amount, scope, line in rows_of_exchanges(plan.exchanges):
        lines.append(f"  {count} of {kind}, {amount}{f' in {scope}' * bool(scope)}{f', {line}' * bool(line)}")
    return "\n".join(lines)


def as_tables(plan: PlanNumbers) -> Any:
    """The plan as rich tables."""
    table, group = importlib.import_module("rich.table"), importlib.import_module("rich.console")
    amounts = table.Table("on each device", title(plan), title=None)
    for name, value in (*rows_of_memory(plan), *rows_of_times(plan)):
        amounts.add_row(name, value)
    collectives = table.Table("collective", "times", "bytes", "module", "line")
    rows = rows_of_exchanges(plan.exchanges)
    for kind, count, amount, scope, line in rows[:_SHOWN]:
        collectives.add_row(kind, count, amount, scope, _short(line))
    if len(rows) > _SHOWN:
        collectives.add_row(f"{len(rows) - _SHOWN} more", "", "", "", "")
    return group.Group(amounts, collectives)


def as_html(plans: Sequence[PlanNumbers]) -> str:
    """Plans as an HTML fragment: a bar of the memory, then the tables."""
    return "\n".join(map(_fragment, plans))


def as_page(plans: Sequence[PlanNumbers]) -> str:
    """Plans as a complete HTML page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Plan</title>'
        f"<style>{_STYLE}</style></head><body>\n{as_html(plans)}\n</body></html>\n"
    )


def _fragment(plan: PlanNumbers) -> str:
    room = max(plan.memory.total, plan.chip.memory if plan.chip else 0, 1)
    parts = zip(plan.memory._asdict().items(), _COLOURS, strict=True)
    bar = "".join(
        f'<span style="width:{100 * value / room:.2f}%;background:{colour}" title="{name}: {size(value)}"></span>'
        for (name, value), colour in parts
    )
    chip = f" on {html.escape(plan.chip.name)}" if plan.chip else ""
    amounts = "".join(_row(row) for row in (*rows_of_memory(plan), *rows_of_times(plan)))
    exchanges = "".join(_row(row, 3) for row in rows_of_exchanges(plan.exchanges))
    over = "" if plan.fits in (None, True) else '<p class="over">The step does not fit into the memory of a device.</p>'
    head = "".join(f"<th>{name}</th>" for name in ("collective", "times", "bytes", "module", "line"))
    return (
        f'<h2>{html.escape(title(plan))}{chip}</h2><div class="bar">{bar}</div>{over}'
        f"<table><tr><th>on each device</th><th></th></tr>{amounts}</table>"
        f"<table><tr>{head}</tr>{exchanges}</table>"
    )


def _row(cells: Sequence[str], texts: int = 9) -> str:
    """A row of a table; cells from index `texts` on are left-aligned."""
    written = (f"<td{' class=text' * (i >= texts)}>{html.escape(cell)}</td>" for i, cell in enumerate(cells))
    return f"<tr>{''.join(written)}</tr>"


def size(count: float) -> str:
    """A number of bytes in decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"


def _short(line: str) -> str:
    path, _, number = line.rpartition(":")
    return f"{Path(path).name}:{number}" if path else line
