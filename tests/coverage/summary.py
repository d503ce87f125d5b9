"""Summary: the totals of a run as a Markdown table, kept between two markers of docs/coverage.md."""

from __future__ import annotations

from collections.abc import Sequence

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


def markdown(results: Results, *others: Results) -> str:
    """One row per database, and a line that describes the run; if there are several runs, one row per run."""
    about = results.about
    suites = {suite: list(results.suite(suite).values()) for suite in SUITES}
    # A run of primary dtypes only has no results for the others.
    wide = any(len({dtype for dtype, _ in row.outcomes}) > 1 for rows in suites.values() for row in rows)
    titles = ["torch's test database", "entries", "not applicable", "every check, primary dtype¹", "checks passed²"]
    if wide:
        titles.insert(4, "every check, every dtype")
    lines = [_line(titles), _line(["---", *["---:"] * (len(titles) - 1)])]
    for suite, rows in suites.items():
        if rows:
            full, everywhere = sum(r.passes() for r in rows), sum(r.passes_everywhere() for r in rows)
            passed, expected = tally(rows)
            applicable = sum(r.is_applicable() for r in rows)
            cells = [TITLES[suite], str(len(rows)), str(len(rows) - applicable), _share(full, applicable)]
            cells += [_share(everywhere, applicable)] if wide else []
            lines.append(_line([*cells, f"{passed} of {expected} ({percent(passed, expected)})"]))
    where = f"torch {about.get('torch')}, jax {about.get('jax')}, {about.get('platform')}, {about.get('date')}."
    lines += [
        "",
        f"{where} ¹ float32 where the entry has it. ² {'Over all dtypes' if wide else 'Of the primary dtype'}; checks "
        "that torch does not support, skips on CPU and CUDA, or fails on the CPU do not count. Random results are "
        "compared by structure, reproducibility and order statistics. Entries that are *not applicable* belong to "
        "other backends (jiterator, CUDA's attention kernels) or need complex32, which JAX lacks; each "
        "raises a clear error.",
    ]
    return "\n".join([*lines, *_by_release([results, *others] if others else [])])


def _by_release(found: Sequence[Results]) -> list[str]:
    """One row per run: the entries that pass every check of their primary dtype, and the checks passed."""
    if not found:
        return []
    suites = [suite for suite in SUITES if any(one.suite(suite) for one in found)]
    titles = ["torch", "jax", "run", *(TITLES[suite] for suite in suites), "checks passed"]
    lines = ["", _line(titles), _line([*["---"] * 3, *["---:"] * (len(titles) - 3)])]
    for one in found:
        rows = [list(one.suite(suite).values()) for suite in suites]
        parts = [f"{sum(r.passes() for r in suite)} of {sum(r.is_applicable() for r in suite)}" for suite in rows]
        passed, expected = tally([row for suite in rows for row in suite])
        run = f"{one.about.get('mode', 'eager')}, {one.about.get('scope') or 'every check'}"
        lines.append(
            _line([one.about.get("torch", ""), one.about.get("jax", ""), run, *parts, f"{passed} of {expected}"])
        )
    return lines


def full(results: Results, suite: str) -> str:
    """The number of entries of a database that pass every check of their primary dtype: `692 of 696 (99.4%)`."""
    rows = [row for row in results.suite(suite).values() if row.is_applicable()]
    passed = sum(r.passes() for r in rows)
    return f"{passed} of {len(rows)} ({percent(passed, len(rows))})"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _share(part: int, of: int) -> str:
    return f"{part} ({percent(part, of)})"


def tally(rows: list[Row]) -> tuple[int, int]:
    """The number of checks that passed, and of those that passed, failed, crashed or timed out."""
    letters = [o.letter for row in rows for o in row.outcomes.values()]
    passed = letters.count("p")
    return passed, passed + sum(letters.count(letter) for letter in "fct")


def percent(part: int, whole: int) -> str:
    """The percentage with at most one decimal, rounded down so that 100% means all."""
    return f"{1000 * part // whole / 10:g}%" if whole else "none"


def replace_marked(text: str, table: str, begin: str = BEGIN, end: str = END) -> str:
    """Replace the text between the markers; without markers, raise an error that shows them."""
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"page: no place for the table; expected the lines\n{begin}\n{end}")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
