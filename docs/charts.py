"""Charts of the benchmark tables.

The site draws the ratios of a table below it, as an inline SVG. `python docs/charts.py` draws the chart of README,
docs/images/steps.svg, from the table of first steps.
"""

from __future__ import annotations

import html
import math
import re
from pathlib import Path

# By marker of the table: the columns that name a row, the column of ratios, and what the ratio compares.
CHARTS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "eager": (("op",), "tenax / jax.jit", "time relative to a jitted JAX call"),
    "models": (("model", "program"), "ratio", "time relative to JAX by hand"),
    "distributed": (("layout", "devices"), "ratio", "time relative to JAX by hand"),
    "distributed ranks": (("program", "contender"), "times JAX by hand", "time relative to JAX by hand"),
    "lazy": (("model",), "lazy / jit", "time relative to tenax.jit"),
}
ROW, CHARACTER, LONGEST = 22, 7, 300  # pixels: the height of a row, the width of a character and of the longest bar

PAGE = Path(__file__).parent / "benchmarks.md"
STEPS = 1, 10, 100, 1000
MODELS = "ResNet-18", "GPT, 4 layers", "LSTM", "MLP"
# Legible on a white ground and on a dark one, as is the colour of the text.
COLOURS = {
    "tenax.jit": "#d9480f",
    "tenax, eager": "#f08c00",
    "JAX by hand": "#1971c2",
    "CPU torch": "#868e96",
    "tenax, torch.compile": "#ae3ec9",
}
INK, FAINT = "#6e7781", "#8b949e55"
WIDTH, PANEL, HEIGHT, LEFT, TOP = 640, 240, 150, 48, 104  # pixels: of the picture, and of the panels in it


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
    return [
        (", ".join(row[i] for i in names), float(row[at])) for row in rows if len(row) > at and row[at] not in ("", "-")
    ]


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


def first_steps(markdown: str) -> dict[str, dict[str, dict[int, float]]]:
    """Seconds until a training loop has taken so many steps, by model, mode and number of steps."""
    (table,) = re.findall(r"<!-- first steps -->\n(.*?)<!-- /first steps -->", markdown, re.DOTALL)
    found: dict[str, dict[str, dict[int, float]]] = {model: {} for model in MODELS}
    for steps in STEPS:
        for row, seconds in read("first steps", table, ("model", "mode"), f"to step {steps:,}, s"):
            model, mode = row.rsplit(", ", 1)
            if model in found:
                line = f"tenax, {mode}" if mode in ("eager", "torch.compile") else mode
                found[model].setdefault(line, {})[steps] = seconds
    return found


def steps_svg(markdown: str) -> str:
    """The table of first steps as an SVG: a panel for each model, both axes logarithmic, a line for each mode."""
    models = first_steps(markdown)
    seconds = [s for modes in models.values() for mode in COLOURS for s in modes.get(mode, {}).values()]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    title = "Seconds until so many training steps are done (lower is better)"
    parts = [f'<text x="0" y="17" font-weight="bold">{title}</text>']
    for i, (mode, colour) in enumerate(COLOURS.items()):
        x, y = i % 3 * 160, 42 + i // 3 * 22
        parts.append(f'<line x1="{x}" y1="{y - 5}" x2="{x + 22}" y2="{y - 5}" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{x + 29}" y="{y}">{mode}</text>')
    for i, (model, modes) in enumerate(models.items()):
        x0, y0 = LEFT + i % 2 * (PANEL + 2 * LEFT - 10), TOP + i // 2 * (HEIGHT + 66)
        parts.append(f'<text x="{x0}" y="{y0 - 10}" font-weight="bold">{model}</text>')

        def place(steps: int, value: float, x0: int = x0, y0: int = y0) -> str:
            x = x0 + PANEL * math.log10(steps) / math.log10(STEPS[-1])
            return f"{x:.1f},{y0 + HEIGHT * (high - math.log10(value)) / (high - low):.1f}"

        for power in range(low, high + 1):
            (x, y), (end, _) = (place(steps, 10**power).split(",") for steps in (1, STEPS[-1]))
            parts.append(f'<line x1="{x}" y1="{y}" x2="{end}" y2="{y}" stroke="{FAINT}"/>')
            parts.append(f'<text x="{x0 - 8}" y="{float(y) + 5:.1f}" text-anchor="end">{10**power:g}</text>')
        for steps in STEPS:
            x = place(steps, 1).split(",")[0]
            parts.append(f'<text x="{x}" y="{y0 + HEIGHT + 20}" text-anchor="middle">{steps:,}</text>')
        for mode in reversed([mode for mode in COLOURS if mode in modes]):
            colour, points = COLOURS[mode], [place(*point) for point in modes[mode].items()]
            parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
            for point in points:
                x, y = point.split(",")
                parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>')
    height = TOP + 2 * HEIGHT + 66 + 30
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
    style = f'font-family="system-ui, sans-serif" font-size="17" fill="{INK}">'
    return "\n".join([head + style, *parts, "</svg>", ""])


if __name__ == "__main__":
    (PAGE.parent / "images" / "steps.svg").write_text(steps_svg(PAGE.read_text()))
