"""Summary: the totals of a run as a Markdown table, kept between two markers of README.md."""

from __future__ import annotations

from .entries import SUITES
from .results import Results, Row

BEGIN = "<!-- coverage: written by `tenax coverage summary --write` -->"
END = "<!-- /coverage -->"
TITLES = {
    "op_db": "operators (`op_db`)",
    "python_ref_db": "Python references (`python_ref_db`)",
    "foreach_db": "foreach operators",
    "module_db": "modules (`module_db`)",
    "optim_db": "optimizers (`optim_db`)",
}


def markdown(results: Results) -> str:
    """One row for each database, and a line that says what was run where."""
    about = results.about
    lines = [
        "| torch's test database | entries | every check, primary dtype¹ | every check, every dtype | checks passed² |",
        "|---|---:|---:|---:|---:|",
    ]
    for suite in SUITES:
        rows = list(results.suite(suite).values())
        if rows:
            full, everywhere = sum(r.passes() for r in rows), sum(r.passes_everywhere() for r in rows)
            passed, asked = tally(rows)
            lines.append(
                f"| {TITLES[suite]} | {len(rows)} | {full} ({percent(full, len(rows))}) "
                f"| {everywhere} ({percent(everywhere, len(rows))}) | {passed} of {asked} ({percent(passed, asked)}) |"
            )
    lines += [
        "",
        f"torch {about.get('torch')}, jax {about.get('jax')}, {about.get('platform')}, {about.get('date')}. "
        "¹ float32 where the entry has it. ² Over all dtypes; a check that torch itself does not support or skips on "
        "CPU and CUDA, or that CPU torch fails, is not asked. Random results are compared by structure, "
        "reproducibility and order statistics.",
    ]
    return "\n".join(lines)


def tally(rows: list[Row]) -> tuple[int, int]:
    """Checks passed, and checks that passed, failed, crashed or hung."""
    letters = [o.letter for row in rows for o in row.outcomes.values()]
    passed = letters.count("p")
    return passed, passed + sum(letters.count(letter) for letter in "fct")


def percent(part: int, whole: int) -> str:
    """Rounded down: 100 % means all."""
    return f"{100 * part // whole} %" if whole else "none"


def replace_marked(text: str, table: str) -> str:
    """The text with what stands between the markers replaced; without markers it is an error that shows them."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"README: no place for the coverage table; expected the lines\n{BEGIN}\n{END}")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}"
