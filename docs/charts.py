"""Bar charts of the benchmark tables: the site draws the ratios of a table below it, as an inline SVG."""

from __future__ import annotations

import html
import re

# By marker of the table: the columns that name a row, the column of ratios, and what the ratio compares.
CHARTS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "eager": (("op",), "tenax / jax.jit", "time relative to a jitted JAX call"),
    "models": (("model", "program"), "ratio", "time relative to JAX by hand"),
    "distributed": (("layout", "devices"), "ratio", "time relative to JAX by hand"),
    "distributed ranks": (("program", "contender"), "times JAX by hand", "time relative to JAX by hand"),
    "lazy": (("model",), "lazy / jit", "time relative to tenax.jit"),
}
ROW, CHARACTER, LONGEST = 22, 7, 300  # pixels: the height of a row, the width of a character and of the longest bar


def with_charts(markdown: str) -> str:
    """The page with a chart below each table of `CHARTS`.

    Raises:
        ValueError: a table lacks one of the columns.
    """
    for name, (labels, column, title) in CHARTS.items():
        pattern = re.compile(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", re.DOTALL)
        if found := pattern.search(markdown):
            bars = read(name, found[1], labels, column)
            if bars:
                markdown = markdown[: found.end()] + "\n\n" + svg(title, bars) + "\n" + markdown[found.end() :]
    return markdown


def read(name: str, text: str, labels: tuple[str, ...], column: str) -> list[tuple[str, float]]:
    """The bars of a table: label and ratio of each row that has one."""
    lines = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if "|" in line]
    if not lines:
        return []
    head, rows = lines[0], lines[2:]
    if missing := {*labels, column} - {*head}:
        raise ValueError(f"{name}: no column {', '.join(sorted(missing))}; expected some of {', '.join(head)}")
    at, names = head.index(column), [head.index(label) for label in labels]
    return [(", ".join(row[i] for i in names), float(row[at])) for row in rows if len(row) > at and row[at]]


def svg(title: str, bars: list[tuple[str, float]]) -> str:
    """Horizontal bars, with a line at 1."""
    label = CHARACTER * max(len(text) for text, _ in bars) + 8
    scale = LONGEST / max(1.0, *(value for _, value in bars))
    height, width = ROW * (len(bars) + 1) + 8, label + LONGEST + 50
    parts = [
        f'<figure class="bars" markdown="0"><svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{html.escape(title)}" font-size="12" style="max-width: 100%; height: auto; fill: currentColor">',
        f'<text x="{label}" y="14" font-weight="bold">{html.escape(title)}</text>',
    ]
    for i, (text, value) in enumerate(bars, 1):
        y = ROW * i + 4
        colour = "#2b8a3e" if value <= 1 else "#d9480f"
        parts.append(f'<text x="{label - 8}" y="{y + 12}" text-anchor="end">{html.escape(text)}</text>')
        parts.append(f'<rect x="{label}" y="{y}" width="{value * scale:.1f}" height="15" fill="{colour}"/>')
        parts.append(f'<text x="{label + value * scale + 5:.1f}" y="{y + 12}">{value:g}</text>')
    one = f"{label + scale:.1f}"
    line = f'<line x1="{one}" y1="{ROW}" x2="{one}" y2="{height}" stroke="currentColor"/>'
    return "".join([*parts, line, "</svg></figure>"])
